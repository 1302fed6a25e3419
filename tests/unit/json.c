// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/json.h"

#include "lib/base/out.h"
#include "tests/unit/test.h"

#include <string.h>

static char text[1024];

/* The JSON string of some bytes. */
static const char *quoted(const void *bytes, size_t len)
{
	struct out out;
	size_t size;

	text[0] = 0;
	if (!out_init(&out, 0))
		return text;
	json_string(&out, bytes, len);
	size = out_len(&out) < sizeof(text) ? out_len(&out) : sizeof(text) - 1;
	memcpy(text, out.start, size);
	text[size] = 0;
	out_release(&out);
	return text;
}

#define QUOTED(literal) quoted(literal, sizeof(literal) - 1)
/* CHECK_STR() looks at its text twice. */
#define CHECK_QUOTED(got, want)          \
	do {                              \
		const char *is = (got);   \
		CHECK_STR(is, want);      \
	} while (0)

TEST(json_leaves_plain_text_alone)
{
	CHECK_QUOTED(QUOTED(""), "\"\"");
	CHECK_QUOTED(QUOTED("prev_comm=sh ==> <idle>/0\x7f"), "\"prev_comm=sh ==> <idle>/0\x7f\"");
}

TEST(json_escapes_quotes_backslashes_and_control_characters)
{
	CHECK_QUOTED(QUOTED("a\"b\\c\nd\te\rf\bg\fh"), "\"a\\\"b\\\\c\\nd\\te\\rf\\bg\\fh\"");
	CHECK_QUOTED(QUOTED("\x00\x01\x1f"), "\"\\u0000\\u0001\\u001f\"");
}

TEST(json_keeps_utf8)
{
	CHECK_QUOTED(QUOTED("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf"),
		  "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf\"");
}

TEST(json_replaces_each_byte_that_is_not_utf8)
{
	/* A lone byte, a lone tail, one cut short by text, by the end, and by another. */
	CHECK_QUOTED(QUOTED("a\xff"), "\"a\\ufffd\"");
	CHECK_QUOTED(QUOTED("\x80" "b"), "\"\\ufffdb\"");
	CHECK_QUOTED(QUOTED("\xe2\x82" "c"), "\"\\ufffd\\ufffdc\"");
	CHECK_QUOTED(QUOTED("\xf0\x9f\x98"), "\"\\ufffd\\ufffd\\ufffd\"");
	CHECK_QUOTED(QUOTED("\xc3\xc3\xa9"), "\"\\ufffd\xc3\xa9\"");
}

TEST(json_replaces_overlong_forms_surrogates_and_what_is_beyond_unicode)
{
	CHECK_QUOTED(QUOTED("\xc0\xaf"), "\"\\ufffd\\ufffd\"");
	CHECK_QUOTED(QUOTED("\xe0\x80\xaf"), "\"\\ufffd\\ufffd\\ufffd\"");
	CHECK_QUOTED(QUOTED("\xf0\x80\x80\xaf"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	CHECK_QUOTED(QUOTED("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
	CHECK_QUOTED(QUOTED("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}
