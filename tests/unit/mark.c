// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
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

/* The marks of the events of a script, one in a line; "-" is an event whose text is none, "no" no source. */
static void check_sources(const char *script, const char *want)
{
	const struct events_options options = { .until = UINT64_MAX };
	struct context *context = NULL;
	struct events *events = NULL;
	struct out scratch, got;
	struct trace *trace;
	struct event event;
	struct loom loom;

	loom_init(&loom);
	loom_type(&loom, "ftrace", "print", "u64 ip; char buf[16]", "\"%s\", REC->buf");
	loom_type(&loom, "ftrace", "bputs", "u64 ip; u64 str", "\"%s\", REC->str");
	loom_type(&loom, "ftrace", "bprint", "u64 ip; u64 fmt; u32 buf", "\"%s\", REC->fmt");
	loom_type(&loom, "ftrace", "text_line", "__data_loc char[] text", "\"%s\", __get_str(text)");
	loom_type(&loom, "ftrace", "user_stack", "u32 tgid; char buf[16]", "\"B|1|x\"");
	loom_type(&loom, "gpu", "begins", "int tgid; char name[8]", "\"B|%d|%s\", REC->tgid, REC->name");
	loom_type(&loom, "gpu", "letter", "int tgid; char name[8]", "\"%s|%d|x\", REC->name, REC->tgid");
	loom_type(&loom, "gpu", "other", "int tgid; char name[8]", "\"%s %d|x\", REC->name, REC->tgid");
	loom_type(&loom, "gpu", "one", "int tgid; char name[8]", "\"B%d|%s\", REC->tgid, REC->name");
	loom_type(&loom, "text", "line", "int tgid; char name[8]", "\"%s\", REC->name");
	loom.printk = "0x1000 : \"B|7|puts\\n\"\n0x2000 : \"C|7|queue|%d\"\n";
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	REQUIRE(trace && out_init(&scratch, 64) && out_init(&got, 64));
	REQUIRE(!context_new(trace, 0, &context, NULL) && !events_open(context, &options, &events, NULL));
	while (events_next(events, &event, NULL) > 0) {
		struct mark_source source;
		struct mark mark;

		if (!mark_source_find(&source, event.type))
			out_str(&got, "no");
		else if (!mark_source_read(&source, &event, &scratch, &mark))
			out_str(&got, "-");
		else
			mark_put(&mark, &got);
		out_char(&got, '\n');
	}
	out_char(&got, '\0');
	CHECK_STR(got.start, want);
	events_free(events);
	context_free(context);
	trace_free(trace);
	out_release(&scratch);
	out_release(&got);
	loom_release(&loom);
}

TEST(mark_is_found_in_each_event_that_has_a_text)
{
	check_sources("0 100 7 print ip=1 buf=B|7|draw\n"
		      "0 110 7 print ip=1 buf=hello\n"
		      "0 120 7 print ip=1 buf=B|7|123456789012\n"
		      "0 200 7 bputs ip=1 str=0x1000\n"
		      "0 210 7 bputs ip=1 str=0x1001\n"
		      "0 300 7 bprint ip=1 fmt=0x2000 buf=25\n"
		      "0 310 7 bprint ip=1 fmt=0x2001 buf=25\n"
		      "0 400 7 user_stack tgid=7 buf=B|7|x\n",
		      "B|7|draw\n-\nB|7|12345678901\nB|7|puts\n-\nC|7|queue|25\n-\nno\n");
	check_sources("0 100 7 begins tgid=7 name=draw\n"
		      "0 200 7 letter tgid=7 name=E\n"
		      "0 210 7 letter tgid=7 name=x\n"
		      "0 300 7 other tgid=7 name=B|\n"
		      "0 400 7 one tgid=7 name=x\n"
		      "0 500 7 line tgid=7 name=B|7|x\n"
		      "0 600 7 sched_waking comm=B|7|x pid=7\n",
		      "B|7|draw\nE|7\n-\nno\nno\nB|7|x\nno\n");
}
