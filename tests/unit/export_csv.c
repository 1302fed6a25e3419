// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "formats/export/lines/csv_internal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "tests/unit/test.h"

/* RFC 4180, section 2: fields with commas, quotes and line breaks stand in quotes, and a quote in them is doubled. */
TEST(csv_text_quotes_what_it_must_and_replaces_what_is_no_utf8)
{
	static const struct {
		const char *text, *field;
	} known[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "a b", "a b" },
		{ " a", "\" a\"" },
		{ "a ", "\"a \"" },
		{ "a,b", "\"a,b\"" },
		{ "\"", "\"\"\"\"" },
		{ "say \"no\"", "\"say \"\"no\"\"\"" },
		{ "two\nlines\r", "\"two\nlines\r\"" },
		{ "\x01;'", "\x01;'" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe2\x82\xac,\xff", "\"\xe2\x82\xac,\xef\xbf\xbd\"" },
		{ "\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd" },
	};
	struct out out;

	if (!CHECK(out_init(&out, 16)))
		return;
	for (size_t i = 0; i < array_size(known); i++) {
		out_clear(&out);
		csv_text(&out, known[i].text, strlen(known[i].text));
		out_char(&out, '\0');
		CHECK_STR(out.start, known[i].field);
	}
	out_release(&out);
}
