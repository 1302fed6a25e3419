// SPDX-License-Identifier: GPL-2.0-only
#include "lib/files/import/document_internal.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

/*
 * A document that comes in pieces of so many bytes, two at least, which say how it is written; its lines are collected
 * with a '|' behind each.
 */
struct given {
	const uint8_t *at;
	size_t len, piece;
	struct buf lines;
	unsigned nr, stop; /* stop: the line that is refused; 0: none */
};

static int give(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	struct given *given = arg;
	size_t len = given->len < given->piece ? given->len : given->piece;

	(void)fail;
	len = len < size ? len : size;
	memcpy(to, given->at, len);
	given->at += len;
	given->len -= len;
	return (int)len;
}

static int keep(void *arg, char *line, size_t len, struct fail *fail)
{
	struct given *given = arg;

	if (++given->nr == given->stop)
		return fail_set(fail, -ECANCELED, "enough");
	return buf_add(&given->lines, line, len) && buf_add_str(&given->lines, "|") ? 0 : -ENOMEM;
}

static void check_lines(const void *text, size_t len, const char *want)
{
	static const size_t pieces[] = { 2, 3, 7, 64, 1 << 20 };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct given given = { .at = text, .len = len, .piece = pieces[i], .lines = BUF_INIT };
		const struct document_ends ends = { .read = give, .line = keep, .arg = &given };

		/* What is compressed is found in the first piece. */
		if (pieces[i] < 64 && memmem(text, len, "TRACE:", 6))
			continue;
		CHECK(!document_read(&ends, NULL));
		CHECK_STR(buf_str(&given.lines), want);
		buf_release(&given.lines);
	}
}

#define CHECK_LINES(text, want) check_lines(text, sizeof(text) - 1, want)

TEST(document_is_read_line_by_line)
{
	CHECK_LINES("", "");
	CHECK_LINES("one\ntwo\n", "one|two|");
	CHECK_LINES("one\n\ntwo", "one||two|");
}

/* RFC 2781: U+00E4, U+20AC and U+1F600 have two, three and four bytes in UTF-8. */
TEST(document_of_utf_16_is_that_of_utf_8)
{
	CHECK_LINES("\xff\xfe"
		    "a\0\n\0\xe4\0\xac\x20\x3d\xd8\x00\xde\x7f\0\x80\0\xff\x07\x00\x08\n\0",
		    "a|\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80|");
	CHECK_LINES("\xfe\xff"
		    "\0a\0\n\0\xe4\x20\xac\xd8\x3d\xde\x00\0\n",
		    "a|\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80|");
	/* Halves of characters: the second one alone, and the first one without it. */
	CHECK_LINES("\xff\xfe"
		    "\x00\xde"
		    "a\0\x3d\xd8"
		    "b\0\x00\xde"
		    "c\0\n\0",
		    "abc|");
	/* The first and the last character that have four bytes. */
	CHECK_LINES("\xff\xfe"
		    "\x00\xd8\x00\xdc\xff\xdb\xff\xdf\n\0",
		    "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf|");
}

TEST(document_of_json_has_its_lines_in_strings)
{
	CHECK_LINES("{\"systemTraceEvents\":\"one\\ntwo\\u0041\\u00e4\\u20ac\\t\\\"x\\\\\",\"other\":\"no\\nline\"}",
		    "{\"systemTraceEvents\":|one|twoA\xc3\xa4\xe2\x82\xac\t\"x\\|,\"other\":\"no\\nline\"}|");
	CHECK_LINES("<html>\nvar linuxPerfData = \"one\\n\\\ntwo\\n\";\n</html>",
		    "<html>|var linuxPerfData = |one|two||;|</html>|");
	/* Without a quote behind it, it is a word like others. */
	CHECK_LINES("{\"systemTraceEvents\":7,\"a\":\"b\\n\"}", "{\"systemTraceEvents\":7,\"a\":\"b\\n\"}|");
}

TEST(document_of_atrace_is_unpacked_behind_its_first_line)
{
	static const char text[] = "# tracer: nop\none\ntwo\n";
	uint8_t packed[256] = "TRACE:\n";
	uLongf len = sizeof(packed) - 7;

	REQUIRE(compress(packed + 7, &len, (const Bytef *)text, sizeof(text) - 1) == Z_OK);
	check_lines(packed, 7 + len, "TRACE:|# tracer: nop|one|two|");
}

TEST(document_ends_with_the_line_that_is_refused)
{
	struct given given = {
		.at = (const uint8_t *)"one\ntwo\nthree\n", .len = 14, .piece = 3, .lines = BUF_INIT, .stop = 2
	};
	const struct document_ends ends = { .read = give, .line = keep, .arg = &given };
	struct fail fail = FAIL_INIT;

	CHECK(document_read(&ends, &fail) == -ECANCELED);
	CHECK_STR(fail.text, "enough");
	CHECK_STR(buf_str(&given.lines), "one|");
	buf_release(&given.lines);
}

TEST(document_cuts_a_line_that_no_kernel_writes)
{
	enum { LEN = DOCUMENT_LINE_MAX + 9 };
	struct given given = { .len = LEN + 3, .piece = 1000, .lines = BUF_INIT };
	const struct document_ends ends = { .read = give, .line = keep, .arg = &given };
	static uint8_t text[LEN + 3];

	memset(text, 'x', LEN);
	memcpy(text + LEN, "\na\n", 3);
	given.at = text;
	CHECK(!document_read(&ends, NULL));
	CHECK(given.nr == 2 && given.lines.len == DOCUMENT_LINE_MAX + 3);
	CHECK_STR(buf_str(&given.lines) + DOCUMENT_LINE_MAX, "|a|");
	buf_release(&given.lines);
}
