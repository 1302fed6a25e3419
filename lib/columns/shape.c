// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/columns/shape.h"

#include "lib/base/out.h"
#include "lib/base/utf8.h"

const char *column_utf8(const char *text, size_t *len, struct out *scratch)
{
	const char *end = text + *len, *at = text;

	while (at < end && (uint8_t)*at < 0x80)
		at++;
	if (at == end)
		return text;
	out_clear(scratch);
	for (at = text; at < end;) {
		size_t size = utf8_len(at, (size_t)(end - at));

		out_mem(scratch, size ? at : "\xef\xbf\xbd", size ? size : 3);
		at += size ? size : 1;
	}
	*len = out_len(scratch);
	return scratch->start;
}
