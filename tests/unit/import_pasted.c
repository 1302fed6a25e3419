// SPDX-License-Identifier: GPL-2.0-only
/* Texts as people paste them: margins, colours, blanks and names that the kernel did not print. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/imported.h"
#include "tests/unit/test.h"

TEST(import_takes_the_margin_off_lines)
{
	static const char *const margins[] = { "    ", "\t", "+", " * ", "// ", "# ", "trace.txt:", "log-6.12.txt:" };
	static const char *const numbers[] = { "%6d\t", "%d:", "%7d ", "%d. ", "a.txt:%d:", "%4d \xe2\x94\x82 " };
	static const char *const lines[] = {
		"# tracer: nop",
		"#",
		"             aaa-41      [001] d..2.   100.000900: aa_one: x=1",
		"             aaa-41      [001] d..2.   100.000910: <stack trace>",
		" => zz_one",
		" => zz_two",
		"  kworker/u16:19-23715   [003] ...1.   100.001000: bb_two: x=2",
	};
	cleanup_buf struct buf want = BUF_INIT;

	for (size_t i = 2; i < array_size(lines); i++)
		CHECK(buf_addf(&want, "%s\n", lines[i]));
	for (size_t m = 0; m < array_size(margins) + array_size(numbers); m++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct import_counts counts;

		for (size_t i = 0; i < array_size(lines); i++) {
			char margin[32];

			if (m < array_size(margins))
				snprintf(margin, sizeof(margin), "%s", margins[m]);
			else
				snprintf(margin, sizeof(margin), numbers[m - array_size(margins)], (int)i + 8);
			CHECK(buf_addf(&text, "%s%s\n", margin, lines[i]));
		}
		counts = imported_prints(buf_str(&text), NULL, buf_str(&want));
		CHECK(counts.events == 3);
		CHECK(!unknown_lines_count(&counts.told));
	}
}

TEST(import_takes_no_margin_that_the_header_does_not_show)
{
	struct import_counts counts =
		imported_prints("## tracer: nop\n"
				"## a heading\n"
				"             aaa-41      [001] d..2.   100.000900: aa_one: x=1\n",
				NULL, "             aaa-41      [001] d..2.   100.000900: aa_one: x=1\n");

	CHECK(counts.events == 1);
}

TEST(import_reads_frames_whose_blanks_were_changed)
{
	imported_prints("             aaa-41      [001] d..2.   100.000910: <stack trace>\n"
			"=> zz_one\n"
			"     =>  zz_two \t\n",
			NULL,
			"             aaa-41      [001] d..2.   100.000910: <stack trace>\n"
			" => zz_one\n"
			" => zz_two\n");
	imported_prints("             aaa-41    [001]   100.000910: kernel_stack:         <stack trace>\n"
			"               => zz_one (ffffffff81000010)\n",
			NULL,
			"             aaa-41    [001]    100.000910: <stack trace>\n"
			" => zz_one\n");
}

TEST(import_drops_colours_and_wide_blanks_of_pages_but_not_those_of_marks)
{
	static const char want[] = "             aaa-41      [001] d..2.   100.000900: aa_one: x=1\n";

	imported_prints("\x1b[0m             aaa-41      [001] d..2.   100.000900: aa_one: x=1\x1b[0m\n", NULL, want);
	imported_prints("             aaa-41      [001] d..2.   100.000900: \x1b[01;31m\x1b[Kaa_one\x1b[m\x1b[K: x=1\n",
			NULL, want);
	imported_prints("\xc2\xa0 \xc2\xa0 \xc2\xa0 \xc2\xa0 \xc2\xa0 \xc2\xa0 \xc2\xa0"
			"aaa-41 \xc2\xa0 \xc2\xa0 [001] d..2. \xc2\xa0 100.000900: aa_one: x=1\n",
			NULL, want);
	comes_back("             aaa-41      [001] d..2.   100.000900: tracing_mark_write: \x1b[31mred\x1b[0m\n");
	comes_back("             aaa-41      [001] d..2.   100.000900: tracing_mark_write: a\xc2\xa0z\n");
}

TEST(import_keeps_names_that_systrace_made)
{
	static const char text[] =
		"<7952>-7952  (-----) [000] ...1   538.064761: tracing_mark_write: B|7952|a\n"
		"org.example.a_long.name-611   (  611) [001] ...1   538.064762: tracing_mark_write: E\n";
	char *comms = imported_fields(text, "comm,pid");

	if (CHECK(comms))
		CHECK_STR(comms, "<7952>,7952\norg.example.a_long.name,611\n");
	free(comms);
}

TEST(import_keeps_the_marks_of_kernels_before_3_19)
{
	comes_back(" 0) ! 8147.120 us |  zz_one();\n"
		   " 0) + 63.100 us   |  zz_two();\n");
	comes_back(" 0) # 8147.120 us |  zz_one();\n"
		   " 0) ! 130.100 us  |  zz_two();\n");
}

TEST(import_keeps_the_words_of_the_header)
{
	static const char head[] = "# tracer: nop\n"
				   "#\n"
				   "#                                _-----=> irqs-off%s\n"
				   "             aaa-41      [001] d..2.   100.000900: aa_one: x=1\n";

	for (int bh = 0; bh < 2; bh++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct trace *trace = NULL;
		struct import_counts counts;

		CHECK(buf_addf(&text, head, bh ? "/BH-disabled" : ""));
		if (CHECK(!imported(buf_str(&text), NULL, &trace, &counts, NULL))) {
			cleanup_buf struct buf columns = BUF_INIT;
			struct trace_text setting = trace_setting(trace, 0, "weft/columns");

			CHECK(buf_add(&columns, setting.text, setting.len));
			CHECK((strstr(buf_str(&columns), "bh=0") != NULL) == !bh);
		}
		trace_free(trace);
	}
}

TEST(import_joins_what_trace_cmd_printed_and_a_mail_wrapped)
{
	imported_prints("cpus=2\n"
			"     kworker/3:0-199   [003]   348.987306: funcgraph_entry:      #\n"
			"6219.500 us |  zz_wakeup();\n",
			NULL, "  348.987306 |   3)  kworker-199   | # 6219.500 us |  zz_wakeup();\n");
}

TEST(import_tells_losses_that_no_event_follows)
{
	struct import_counts counts =
		imported_prints("             aaa-41      [001] d..2.   100.000900: aa_one: x=1\n"
				"CPU:2 [LOST 7 EVENTS]\n",
				NULL, "             aaa-41      [001] d..2.   100.000900: aa_one: x=1\n");

	CHECK(counts.told.counts[UNKNOWN_LINES_LOST] == 1);
	imported_prints("             aaa-41      [001] d..2.   100.000900: aa_one: x=1\n"
			"CPU:1 [LOST 7 EVENTS]\n"
			"CPU:1 [LOST 5 EVENTS]\n"
			"             aaa-41      [001] d..2.   100.000910: aa_one: x=2\n",
			NULL,
			"             aaa-41      [001] d..2.   100.000900: aa_one: x=1\n"
			"CPU:1 [LOST 12 EVENTS]\n"
			"             aaa-41      [001] d..2.   100.000910: aa_one: x=2\n");
}

TEST(import_reads_a_damaged_micro_sign)
{
	struct import_counts counts = { 0 };
	struct trace *trace = NULL;

	CHECK(!imported("     aaa-41    0d..1    2\xef\xbf\xbds : zz_one (zz_two)\n", NULL, &trace, &counts, NULL));
	CHECK(counts.events == 1);
	trace_free(trace);
}

TEST(import_takes_off_what_markdown_puts_around_lines)
{
	static const char *const wraps[][2] = { { "`", "`" },   { "``", "``" }, { "`", "` " },
						{ "| ", " |" }, { "|", "|" },   { "| `", "` |" } };
	static const char *const lines[] = {
		"             aaa-41      [001] d..2.   100.000900: aa_one: x=1",
		"             aaa-41      [001] d..2.   100.000910: <stack trace>",
		" => zz_one",
		"  kworker/u16:19-23715   [003] ...1.   100.001000: bb_two: x=a`b`",
	};
	cleanup_buf struct buf want = BUF_INIT;

	for (size_t i = 0; i < array_size(lines); i++)
		CHECK(buf_addf(&want, "%s\n", lines[i]));
	for (size_t w = 0; w < array_size(wraps); w++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct import_counts counts;

		for (size_t i = 0; i < array_size(lines); i++)
			CHECK(buf_addf(&text, "%s%s%s\n", wraps[w][0], lines[i], wraps[w][1]));
		counts = imported_prints(buf_str(&text), NULL, buf_str(&want));
		CHECK(counts.events == 3);
		CHECK(!unknown_lines_count(&counts.told));
	}
	imported_prints("# tracer: function_graph\n| 0)   1.500 us    \\|  a(); |\n", NULL,
			" 0)   1.500 us    |  a();\n");
}

TEST(import_puts_back_the_characters_that_editors_replaced)
{
	struct import_counts counts =
		imported_prints("             <\u2026>\u201117      [001] d..2.   100.000900: aa\u2011one: x=1\u2026\n"
				"             aaa\u2011b\u201141    [001] \u2026..   100.000900: sched_switch: "
				"prev_comm=a prev_pid=41 prev_prio=120 "
				"prev_state=R =\u21d2 next_comm=sh next_pid=62 next_prio=120\n"
				"             aaa\u2011b\u201141    [001] d..2.   100.000901: sched_switch: "
				"prev_comm=a prev_pid=41 prev_prio=120 "
				"prev_state=R \u27f9 next_comm=sh next_pid=62 next_prio=120\n"
				"             aaa\u2011b\u201141    [001] d..2.   100.000902: zz_one \u2190zz_two\n"
				"             aaa\u2011b\u201141    [001] d..2.   100.000903: sys_close \u2192 0x0\n"
				"             aaa\u2011b\u201141    [001] d..2.   100.000904: <stack trace>\n"
				" \u21d2 zz_one\n"
				" \u21d2 zz_two\n",
				NULL,
				"           <...>-17      [001] d..2.   100.000900: aa-one: x=1...\n"
				"           aaa-b-41      [001] .....   100.000900: sched_switch: prev_comm=a "
				"prev_pid=41 prev_prio=120 "
				"prev_state=R ==> next_comm=sh next_pid=62 next_prio=120\n"
				"           aaa-b-41      [001] d..2.   100.000901: sched_switch: prev_comm=a "
				"prev_pid=41 prev_prio=120 "
				"prev_state=R ==> next_comm=sh next_pid=62 next_prio=120\n"
				"           aaa-b-41      [001] d..2.   100.000902: zz_one <-zz_two\n"
				"           aaa-b-41      [001] d..2.   100.000903: sys_close -> 0x0\n"
				"           aaa-b-41      [001] d..2.   100.000904: <stack trace>\n"
				" => zz_one\n"
				" => zz_two\n");

	CHECK(counts.events == 6 && !unknown_lines_count(&counts.told));
	imported_prints("# tracer: function_graph\n"
			" ------------------------------------------\n"
			" 0)     sh-256     \u21d2    cat-70   \n"
			" ------------------------------------------\n\n"
			" 0)   =========\u21d2 |\n"
			" 0)   1.500 us    |  a();\n"
			" 0)   \u21d0========= |\n",
			NULL, " 0)   1.500 us    |  a();\n");
}

TEST(import_keeps_the_arrows_and_dashes_of_marks)
{
	comes_back("             aaa-41      [001] d..2.   100.000900: tracing_mark_write: a \u21d2 b "
		   "\u2190c \u2013 d\u2026\n"
		   "             aaa-41      [001] d..2.   100.000901: aa_one: a \u2192 0x0 `b` |\n"
		   "             a`b-42      [001] d..2.   100.000902: aa_one: x=`1`\n");
}

TEST(import_tells_of_columns_of_flags_of_several_kernels)
{
	struct import_counts counts =
		imported_prints("             aaa-41      [001] d.h2   100.000900: aa_one: x=1\n"
				"             aaa-41      [001] d.h2.   100.000901: aa_one: x=1\n"
				"             aaa-41      [001] d.h2.   100.000902: aa_one: x=1\n",
				NULL,
				"             aaa-41      [001] d.h2.   100.000900: aa_one: x=1\n"
				"             aaa-41      [001] d.h2.   100.000901: aa_one: x=1\n"
				"             aaa-41      [001] d.h2.   100.000902: aa_one: x=1\n");

	CHECK_STR(counts.partial_flags, "1 with 4, 2 with 5");
	counts = comes_back("             aaa-41      [001] d.h2.   100.000901: aa_one: x=1\n");
	CHECK_STR(counts.partial_flags, "");
}
