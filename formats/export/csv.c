// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/csv.h"

#include "lib/base/out.h"
#include "lib/base/utf8.h"

#include <stdbool.h>

static bool needs_quotes(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (at[i] == ',' || at[i] == '"' || at[i] == '\n' || at[i] == '\r')
			return true;
	return len && (*at == ' ' || at[len - 1] == ' ');
}

void csv_text(struct out *out, const void *text, size_t len)
{
	const char *at = text, *end = at + len;
	bool quotes = needs_quotes(at, len);

	if (quotes)
		out_char(out, '"');
	while (at < end) {
		size_t size = utf8_len(at, (size_t)(end - at));

		if (*at == '"')
			out_char(out, '"');
		if (size)
			out_mem(out, at, size);
		else
			out_mem(out, "\xef\xbf\xbd", 3);
		at += size ? size : 1;
	}
	if (quotes)
		out_char(out, '"');
}
