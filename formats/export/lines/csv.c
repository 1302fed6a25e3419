// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/lines/csv_internal.h"

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/out.h"
#include "lib/ground/base/utf8.h"

/* The classes of bytes; runs of ordinary bytes, which are most, are copied at once. */
enum { QUOTE = 1, QUOTED, WIDE };

static inline unsigned kind_of(uint8_t byte)
{
	if (byte >= 0x80)
		return WIDE;
	return byte == '"' ? QUOTE : byte == ',' || byte == '\n' || byte == '\r' ? QUOTED : 0;
}

static bool needs_quotes(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (kind_of((uint8_t)at[i]) - 1 < WIDE - 1)
			return true;
	return len && (*at == ' ' || at[len - 1] == ' ');
}

void csv_text(struct out *out, const void *text, size_t len)
{
	const char *at = text, *end = at + len, *plain = at;
	bool quotes = needs_quotes(at, len);

	if (quotes)
		out_char(out, '"');
	while (at < end) {
		unsigned kind = kind_of((uint8_t)*at);
		size_t size = kind == WIDE ? utf8_len(at, (size_t)(end - at)) : 1;

		if (size && kind != QUOTE) {
			at += size;
			continue;
		}
		out_mem(out, plain, (size_t)(at - plain));
		out_str(out, kind == QUOTE ? "\"\"" : "\xef\xbf\xbd");
		plain = ++at;
	}
	out_mem(out, plain, (size_t)(end - plain));
	if (quotes)
		out_char(out, '"');
}
