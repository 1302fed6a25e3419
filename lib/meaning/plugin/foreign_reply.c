// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/plugin/foreign_internal.h"

const struct foreign_text *foreign_reply_next(struct bytes *reply)
{
	struct bytes rest = *reply;
	const uint8_t *start, *text;
	uint32_t len;

	start = rest.at;
	if (!bytes_u32(&rest, &len) || len > FOREIGN_AREA ||
	    !bytes_take(&rest, foreign_padded(sizeof(len) + len) - sizeof(len), &text))
		return NULL;
	*reply = rest;
	return (const struct foreign_text *)(const void *)start;
}
