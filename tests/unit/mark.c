// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "tests/unit/test.h"

/* KIND TGID NAME TRACK NUMBER */
static const char *told(const char *text, char into[256])
{
	static const char *const kinds[] = {
		[MARK_NONE] = "none",         [MARK_BEGIN] = "begin",     [MARK_END] = "end",
		[MARK_ASYNC_BEGIN] = "async", [MARK_ASYNC_END] = "ended", [MARK_COUNTER] = "counter",
		[MARK_INSTANT] = "instant"
	};
	struct mark mark;

	if (!mark_parse(&mark, text, strlen(text)))
		return "none";
	snprintf(into, 256, "%s %" PRId32 " <%.*s> <%.*s> %" PRId64, kinds[mark.kind], mark.tgid, (int)mark.name_len,
		 mark.name, (int)mark.track_len, mark.track, mark.number);
	return into;
}

TEST(mark_parses_what_atrace_writes)
{
	char text[256];

	CHECK_STR(told("B|7360|draw\n", text), "begin 7360 <draw> <> 0");
	CHECK_STR(told("B|7360|a|b(c, d)", text), "begin 7360 <a|b(c, d)> <> 0");
	CHECK_STR(told("E|7360", text), "end 7360 <> <> 0");
	CHECK_STR(told("E|7360|draw", text), "end 7360 <> <> 0");
	CHECK_STR(told("E", text), "end 0 <> <> 0");
	CHECK_STR(told("E|", text), "end 0 <> <> 0");
	CHECK_STR(told("S|1|req|-4711", text), "async 1 <req> <> -4711");
	CHECK_STR(told("F|1|req|4711", text), "ended 1 <req> <> 4711");
	CHECK_STR(told("G|1|track|job|9", text), "async 1 <job> <track> 9");
	CHECK_STR(told("H|1|track|9", text), "ended 1 <9> <track> 9");
	CHECK_STR(told("H|1|track|job|9", text), "ended 1 <job> <track> 9");
	CHECK_STR(told("T|1|track|job|9", text), "async 1 <job> <track> 9");
	CHECK_STR(told("U|1|track|job|9", text), "ended 1 <job> <track> 9");
	CHECK_STR(told("C|1|queue|-5", text), "counter 1 <queue> <> -5");
	CHECK_STR(told("C|1|queue|5|Blob", text), "counter 1 <queue> <> 5");
	CHECK_STR(told("I|1|tick", text), "instant 1 <tick> <> 0");
	CHECK_STR(told("N|1|track|tick", text), "instant 1 <tick> <track> 0");
}

TEST(mark_parses_what_openharmony_writes)
{
	char text[256];

	CHECK_STR(told("B|1299|H:RSMain::DoComposition", text), "begin 1299 <H:RSMain::DoComposition> <> 0");
	CHECK_STR(told("S|1299|H:Waiting for acquire 317", text), "async 1299 <H:Waiting for acquire> <> 317");
	CHECK_STR(told("F|1299|H:Waiting for acquire 317", text), "ended 1299 <H:Waiting for acquire> <> 317");
	CHECK_STR(told("C|1299|H:buffers 3", text), "counter 1299 <H:buffers> <> 3");
}

TEST(mark_takes_no_other_text)
{
	static const char *const texts[] = { "",
					     "B",
					     "B|",
					     "B|x|draw",
					     "BB|1|x",
					     "hello",
					     "|1|x",
					     "S|1|req",
					     "S|1||4",
					     "S|1|req|4x",
					     "S|1|req|4|5",
					     "C|1|queue|",
					     "C|1|queue|x",
					     "G|1|track|9",
					     "N|1|only",
					     "N|1|track|tick|more",
					     "I|1|",
					     "Z|1|x",
					     "B|-1|x",
					     "B|1234567890|x",
					     "C|1|q|1234567890123456789",
					     "trace_event_clock_sync: parent_ts=995.500000" };
	char text[256];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CHECK_STR(told(texts[i], text), "none");
}

TEST(mark_puts_what_it_parses)
{
	static const char *const texts[][2] = { { "B|1|a|b", NULL },          { "E|1|x", "E|1" },
						{ "S|1|a|-4", NULL },         { "F|1|a 4", "F|1|a|4" },
						{ "T|1|t|a|4", "G|1|t|a|4" }, { "U|1|t|a|4", "H|1|t|4" },
						{ "C|1|q|7|cat", "C|1|q|7" }, { "I|1|x", NULL },
						{ "N|1|t|x", NULL } };
	struct mark mark;
	struct out out;

	REQUIRE(out_init(&out, 64));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		out_clear(&out);
		CHECK(mark_parse(&mark, texts[i][0], strlen(texts[i][0])));
		mark_put(&mark, &out);
		out_char(&out, '\0');
		CHECK_STR(out.start, texts[i][1] ? texts[i][1] : texts[i][0]);
	}
	out_release(&out);
}

/* A process is a number of at most nine digits, a cookie or a value one of eighteen. */
TEST(mark_has_numbers_that_fit)
{
	char text[256];

	CHECK_STR(told("B|999999999|x", text), "begin 999999999 <x> <> 0");
	CHECK_STR(told("B|1000000000|x", text), "none");
	CHECK_STR(told("B|-1|x", text), "none");
	CHECK_STR(told("C|1|x|999999999999999999", text), "counter 1 <x> <> 999999999999999999");
	CHECK_STR(told("C|1|x|-999999999999999999", text), "counter 1 <x> <> -999999999999999999");
	CHECK_STR(told("C|1|x|99999999999999999999", text), "none");
	CHECK_STR(told("C|1|x|-", text), "none");
	CHECK_STR(told("S|1|x |4", text), "async 1 <x > <> 4");
	CHECK_STR(told("S|1| 4", text), "none");
	CHECK_STR(told("S|1|x 4y", text), "none");
	CHECK_STR(told("G|1||job|9", text), "none");
	CHECK_STR(told("G|1|track||9", text), "none");
	CHECK_STR(told("G|1|track|job|9|", text), "none");
	CHECK_STR(told("H|1|track", text), "none");
	CHECK_STR(told("H|1|track|x", text), "none");
	CHECK_STR(told("H|1||9", text), "none");
	CHECK_STR(told("H|1|track|job|9|8", text), "none");
	CHECK_STR(told("N|1||tick", text), "none");
	CHECK_STR(told("N|1|track|", text), "none");
	CHECK_STR(told("B|1|", text), "begin 1 <> <> 0");
	CHECK_STR(told("B|1", text), "none");
	CHECK_STR(told("B|1|x\n\n", text), "begin 1 <x> <> 0");
	CHECK_STR(told("\n", text), "none");
}
