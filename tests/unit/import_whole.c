// SPDX-License-Identifier: GPL-2.0-only
/* What an import could lose of a line, or of the lines of one event. */
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/imported.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

TEST(import_keeps_offsets_and_addresses_of_functions_and_their_modules)
{
	struct import_counts counts;

	counts = comes_back(
		"# tracer: function\n"
		"             nnn-61      [000] d..1.    50.000100: zz_first+0x0/0x40 <-zz_caller+0x1c/0x90\n"
		"             nnn-61      [000] d..1.    50.000105: zz_second+0x4/0x24 [zzmod] <-zz_caller+0x30/0x90\n"
		"             nnn-61      [000] d..1.    50.000106: zz_third+0x23/0x24 [zzother] <-zz_first+0x4/0x8\n"
		"             nnn-61      [000] d..1.    50.000107: zz_first+0x0/0x40 <-0xffffffffc0000235\n"
		"             nnn-61      [000] d..1.    50.000108: tracing_mark_write+0x15/0x1f0: hello\n"
		"             nnn-61      [000] d..1.    50.000109: <stack trace>\n"
		" => zz_caller+0x8f/0x90\n => zz_second+0x23/0x24 [zzmod]\n");
	CHECK(counts.events == 6 && !counts.whole && !unknown_lines_count(&counts.told));
	counts = comes_back(
		"             nnn-61      [000] d..1.    50.000100: 0\n"
		"             nnn-61      [000] d..1.    50.000101: zz <ffffffff81234567> <-yy <ffffffff81234560>\n"
		"             nnn-61      [000] d..1.    50.000102: zz <ffffffff81234568> <-0xffffffff81234569 "
		"<ffffffff81234569>\n"
		"             nnn-61      [000] d..1.    50.000103: zz <ffffffff81234567> <-[unknown/kretprobe'd] "
		"<ffffffff81234599>\n");
	CHECK(!unknown_lines_count(&counts.told));
	counts = comes_back(
		"             nnn-61      [000] d..1.    50.000101: zz+0x7/0x9 <ffffffff81234567> <-yy+0x0/0x7 "
		"<ffffffff81234580>\n");
	CHECK(counts.events == 1 && !counts.whole);
	/* No function reaches that far. */
	counts = comes_back("             nnn-61      [000] d..1.    50.000100: zz+0x9/0x8 <-yy+0x0/0xffffffffff\n");
	CHECK(counts.events == 1 && counts.whole == 1);
}

TEST(import_keeps_the_empty_name_of_a_task)
{
	struct import_counts counts =
		comes_back("                -787     [000] ...1.    56.600658: softirq_raise: vec=1 [action=TIMER]\n"
			   "           <...>-788     [000] ...1.    56.600659: softirq_raise: vec=1 [action=TIMER]\n");

	CHECK(counts.events == 2);
}

TEST(import_keeps_the_lines_of_events_of_several_lines)
{
	static const char text[] =
		"# tracer: nop\n"
		"              ls-241     [000] .....    14.951880: 9p_protocol_dump: clnt 1 P9_TGETATTR(tag = 0)\n"
		"13 00 00 00 18 00 00 01\n00 00 00 00 00 00 00 00\n\n"
		"              ls-241     [000] .....    14.951881: softirq_raise: vec=1 [action=TIMER]\n"
		"              ls-241     [000] .....    14.951882: odd: a=1\n";
	cleanup_buf struct buf more = BUF_INIT;
	struct import_counts counts = comes_back(text);

	CHECK(counts.events == 3 && !unknown_lines_count(&counts.told));
	/* What comes behind the last event, or stands for lines that were left out, is told. */
	REQUIRE(buf_addf(&more, "%s[...]\n\nThanks,\nBob\n", text));
	counts = imported_prints(buf_str(&more), NULL, text);
	CHECK(counts.events == 3 && unknown_lines_count(&counts.told) == 3 && counts.told.shown[1].number == 10);
}

TEST(import_keeps_the_times_of_a_graph_of_a_latency)
{
	static const char text[] =
		"# tracer: irqsoff\n#\n"
		"# irqsoff latency trace v1.1.5 on 6.12.117\n"
		"# --------------------------------------------------------------------\n"
		"# latency: 74 us, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n"
		"#    -----------------\n#    | task: sh-164 (uid:0 nice:0 policy:0 rt_prio:0)\n"
		"#    -----------------\n"
		"#  => started at: irqentry_enter\n#  => ended at:   irq_exit_rcu\n#\n#\n"
		"#                                       _-----=> irqs-off        \n"
		"#                                      / _----=> need-resched    \n"
		"#                                     | / _---=> hardirq/softirq \n"
		"#                                     || / _--=> preempt-depth   \n"
		"#                                     ||| /                      \n"
		"#   REL TIME      CPU  TASK/PID       ||||     DURATION                  FUNCTION CALLS\n"
		"#      |          |     |    |        ||||      |   |                     |   |   |   |\n"
		"        0 us |   0)     sh-164     |  d.... |   0.000 us    |  irqentry_enter();\n"
		"        5 us |   0)     sh-164     |  d..1. |               |  irq_enter_rcu() {\n"
		"        7 us |   0)     sh-164     |  d..1. |   1.122 us    |    preempt_count_add();\n"
		"       74 us |   0)     sh-164     |  d.h.. |   69.387 us   |  }\n";
	cleanup_buf struct buf got = BUF_INIT;
	struct import_counts counts;
	struct trace *trace = NULL;

	(void)comes_back(text);
	REQUIRE(!imported(text, NULL, &trace, &counts, NULL));
	/* The header comes back, too, apart from the blanks of its columns. */
	if (CHECK(!printed_trace(trace, &(struct printed){ .format = "ftrace" }, &got, NULL)))
		CHECK(!strncmp(buf_str(&got), text, (size_t)(strstr(text, "#   REL") - text)) &&
		      strstr(buf_str(&got), "REL TIME"));
	trace_free(trace);
}

TEST(import_counts_system_calls_whose_arguments_have_another_form)
{
	static const char text[] =
		"              ls-725     [000] .....    29.519002: sys_newfstatat(dfd: 0xffffff9c, filename: "
		"0x16833fc0 \"/\", statbuf: 0x7ffda9f806a8, flag: 0)\n"
		"              ls-725     [000] .....    29.519010: sys_newfstatat -> 0x0\n"
		"              ls-725     [000] .....    29.519106: sys_openat(dfd: 4294967196, filename: 377700288 "
		"\"/\", flags: O_RDONLY|O_DIRECTORY, mode: 0000)\n"
		"              ls-725     [000] .....    29.519116: sys_openat -> 0x3\n"
		"              ls-725     [000] .....    29.519206: sys_nonesuch(dfd: 0xb)\n";
	struct import_counts counts = comes_back(text);
	char *fields = imported_fields(text, "event,__syscall_nr");

	CHECK(counts.events == 5 && !unknown_lines_count(&counts.told));
	/* asm/unistd_64.h: newfstatat is 262, openat 257. */
	CHECK_STR(fields, "sys_enter_newfstatat,262\nsys_exit_newfstatat,262\nsys_enter_openat,257\n"
			  "sys_exit_openat,257\nfunction,\n");
	free(fields);
}
