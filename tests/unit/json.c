// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/json.h"

#include <string.h>

#include "lib/ground/base/out.h"
#include "tests/unit/test.h"

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
/* CHECK_STR() evaluates its text twice. */
#define CHECK_QUOTED(got, want)         \
	do {                            \
		const char *is = (got); \
		CHECK_STR(is, want);    \
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
	/* A lone byte; a lone continuation byte; a character that text, the end, or another character cuts short. */
	CHECK_QUOTED(QUOTED("a\xff"), "\"a\\ufffd\"");
	CHECK_QUOTED(QUOTED("\x80"
			    "b"),
		     "\"\\ufffdb\"");
	CHECK_QUOTED(QUOTED("\xe2\x82"
			    "c"),
		     "\"\\ufffd\\ufffdc\"");
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

/* The text written so far. */
static const char *written(struct out *out)
{
	size_t size = out_len(out) < sizeof(text) ? out_len(out) : sizeof(text) - 1;

	memcpy(text, out->start, size);
	text[size] = 0;
	return text;
}

TEST(json_writer_puts_the_commas)
{
	struct json json;
	struct out out;

	REQUIRE(out_init(&out, 0));
	json_init(&json, &out);
	CHECK(!json_done(&json));
	json_object(&json);
	json_key(&json, "event");
	json_put_text(&json, "sched\"switch");
	json_key(&json, "n");
	json_put_u64(&json, UINT64_MAX);
	json_key(&json, "list");
	json_array(&json);
	json_put_s64(&json, INT64_MIN);
	json_put_bool(&json, true);
	json_put_null(&json);
	json_array(&json);
	json_end(&json);
	json_object(&json);
	json_end(&json);
	json_break(&json);
	json_put_bytes(&json, "\0\377", 2);
	json_end(&json);
	json_key_bytes(&json, "k\n", 2);
	json_put_decimal(&json, -1234567, 3);
	CHECK(!json_done(&json));
	json_end(&json);
	CHECK(json_done(&json));
	CHECK_QUOTED(written(&out),
		     "{\"event\":\"sched\\\"switch\",\"n\":18446744073709551615,"
		     "\"list\":[-9223372036854775808,true,null,[],{},\n\"\\u0000\\ufffd\"],\"k\\n\":-1234.567}");
	out_release(&out);
}

TEST(json_writer_streams_lines_into_an_out_that_is_emptied)
{
	struct json json;
	struct out out;

	REQUIRE(out_init(&out, 0));
	json_init(&json, &out);
	json_array(&json);
	json_put_u64(&json, 1);
	out_clear(&out);
	json_put_u64(&json, 2);
	json_end(&json);
	json_line(&json);
	json_put_text(&json, "");
	json_line(&json);
	CHECK_QUOTED(written(&out), ",2]\n\"\"\n");
	out_release(&out);
}

TEST(json_decimals_are_exact)
{
	struct json json;
	struct out out;

	REQUIRE(out_init(&out, 0));
	json_init(&json, &out);
	json_array(&json);
	json_put_decimal(&json, 0, 2);
	json_put_decimal(&json, -5, 3);
	json_put_decimal(&json, 12, 0);
	json_put_decimal(&json, 99, 2);
	json_put_decimal(&json, 100, 2);
	json_put_decimal(&json, INT64_MIN, 9);
	json_end(&json);
	CHECK(json_done(&json));
	CHECK_QUOTED(written(&out), "[0.00,-0.005,12,0.99,1.00,-9223372036.854775808]");
	out_release(&out);
}

TEST(json_writer_tells_what_its_caller_did_wrong)
{
	struct json json;
	struct out out;

	REQUIRE(out_init(&out, 0));
	json_init(&json, &out);
	json_end(&json);
	CHECK(json.failed);
	json_init(&json, &out);
	json_object(&json);
	json_put_u64(&json, 1); /* without a key */
	CHECK(json.failed);
	json_init(&json, &out);
	json_object(&json);
	json_key(&json, "a");
	json_key(&json, "b");
	CHECK(json.failed);
	json_init(&json, &out);
	json_object(&json);
	json_key(&json, "a");
	json_end(&json);
	CHECK(json.failed);
	json_init(&json, &out);
	json_array(&json);
	json_key(&json, "a");
	CHECK(json.failed);
	json_init(&json, &out);
	json_put_u64(&json, 1);
	json_put_u64(&json, 2);
	CHECK(json.failed && !json_done(&json));
	json_init(&json, &out);
	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		json_array(&json);
	CHECK(!json.failed);
	json_array(&json);
	CHECK(json.failed);
	out_release(&out);
}
