// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/proto_internal.h"

#include "lib/ground/base/utf8.h"

void proto_string(struct out *out, uint32_t field, const void *text, size_t len)
{
	const char *at = text, *end = at + len;
	size_t broken = 0;

	for (const char *c = at; c < end;) {
		size_t size = (uint8_t)*c < 0x80 ? 1 : utf8_len(c, (size_t)(end - c));

		broken += !size;
		c += size ? size : 1;
	}
	if (!broken) {
		proto_bytes(out, field, text, len);
		return;
	}
	proto_varint(out, (uint64_t)field << 3 | 2);
	proto_varint(out, len + 2 * broken);
	while (at < end) {
		size_t size = utf8_len(at, (size_t)(end - at));

		if (size)
			out_mem(out, at, size);
		else
			out_mem(out, "\xef\xbf\xbd", 3);
		at += size ? size : 1;
	}
}
