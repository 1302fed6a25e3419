// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/stream/relay.h"

#include <errno.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"

void relay_put(struct out *out, enum relay_kind kind, size_t buffer, size_t cpu, const void *data, size_t len)
{
	const struct relay_head head = { (uint32_t)kind, (uint32_t)buffer, (uint32_t)cpu, (uint32_t)len };

	if (len > RELAY_FRAME_MAX) {
		out->failed = true;
		return;
	}
	out_mem(out, &head, sizeof(head));
	if (len)
		out_mem(out, data, len);
}

int relay_check(const struct relay_head *head, bool first, struct fail *fail)
{
	if (first && head->kind != RELAY_HELLO)
		return fail_set(fail, -EBADMSG, "these are no pages of weft stream --pages of this byte order");
	if (first && head->cpu != RELAY_VERSION)
		return fail_set(fail, -EBADMSG,
				"weft stream --pages is of another version of weft: it must be the same");
	if (head->len > RELAY_FRAME_MAX || (!first && head->kind > RELAY_END))
		return fail_set(fail, -EBADMSG, "what weft stream --pages writes is damaged");
	return 0;
}
