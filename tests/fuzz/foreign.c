// SPDX-License-Identifier: GPL-2.0-only
/* Input: what the process of the plugins of libtraceevent answers. Each text lies inside it, at a multiple of 8. */
#include "lib/meaning/plugin/foreign_internal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len + 1);
	struct bytes reply = bytes_of(copy, len, false);
	const struct foreign_text *text;
	size_t seen = 0;
	char *own;

	if (!copy)
		return 0;
	memcpy(copy, data, len);
	while ((text = foreign_reply_next(&reply))) {
		if ((const uint8_t *)text < copy || (uintptr_t)((const uint8_t *)text - copy) % FOREIGN_ALIGN)
			__builtin_trap();
		own = malloc(text->len + 1u);
		if (own)
			memcpy(own, text->text, text->len);
		free(own);
		seen += foreign_padded(sizeof(text->len) + text->len);
	}
	if (seen + reply.left != len)
		__builtin_trap();
	free(copy);
	return 0;
}
