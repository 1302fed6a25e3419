// SPDX-License-Identifier: GPL-2.0-only
/* Whole texts of the kernel, imported and printed again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/imported.h"
#include "tests/unit/printed.h"
#include "tests/unit/starve.h"
#include "tests/unit/test.h"

static bool read_text(const char *path, struct buf *ret)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	return CHECK(fd >= 0) && CHECK(!io_read_all(fd, 1 << 20, ret));
}

static void check_golden(const char *name, bool formats)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct trace *trace = NULL;
	struct import_counts counts;
	char path[128];

	snprintf(path, sizeof(path), "tests/fixtures/golden/%s.dat", name);
	REQUIRE(!formats || !trace_open(path, &trace, NULL));
	snprintf(path, sizeof(path), "tests/fixtures/golden/%.60s.txt", name);
	if (read_text(path, &text)) {
		counts = imported_prints(buf_str(&text), trace, buf_str(&text));
		CHECK(counts.events > 0 && !unknown_lines_count(&counts.told));
	}
	trace_free(trace);
}

TEST(import_gives_the_texts_of_real_kernels_back)
{
	static const char *const names[] = {
		"6.12-events-sched",
		"6.12-events-syscalls",
		"6.12-events-irq-timer",
		"6.12-synth-hist",
		"6.12-user_events",
		"6.12-function",
		"6.12-event-stacktrace",
		"6.12-function-stacktrace",
		"6.12-userstacktrace",
		"6.1-rt-events-sched",
		"6.1-rt-events-syscalls",
		"6.1-rt-function",
		"6.1-rt-event-stacktrace",
		"6.12-function_graph",
		"6.1-rt-function_graph",
		"6.12-function_graph-event-stack",
		"6.12-function_graph-event-stack.funcgraph-abstime",
		"6.12-function_graph-event-stack.funcgraph-proc",
		"6.12-function_graph-event-stack.funcgraph-tail",
	};

	for (size_t i = 0; i < array_size(names); i++)
		check_golden(names[i], false);
}

TEST(import_gives_the_texts_back_with_the_formats_of_the_same_kernel)
{
	static const char *const names[] = { "6.12-events-sched",   "6.12-events-irq-timer", "6.1-rt-events-sched",
					     "6.12-function_graph", "6.12-userstacktrace",   "6.12-events-syscalls" };

	for (size_t i = 0; i < array_size(names); i++)
		check_golden(names[i], true);
}

static void check_fields(const char *text, const char *fields, const char *want)
{
	char *got = imported_fields(text, fields);

	if (got)
		CHECK_STR(got, want);
	free(got);
}

TEST(import_finds_time_task_cpu_and_fields_of_each_event)
{
	check_fields("              sh-62      [003] dNh2.     2.921018: sched_waking: comm=cat pid=70 prio=120 "
		     "target_cpu=001\n"
		     "             cat-70      [001] ....1     2.921018: softirq_entry: vec=9 [action=RCU]\n"
		     "             cat-70      [001] .....     2.921020: irq_handler_exit: irq=30 ret=unhandled\n",
		     "ts,cpu,pid,event,common_flags,common_preempt_count,comm,prio,vec,irq,ret",
		     "2921018000,3,62,sched_waking,45,2,sh,120,,,\n"
		     /* One line of the same microsecond follows the other. */
		     "2921018001,1,70,softirq_entry,0,16,cat,,9,,\n"
		     "2921020000,1,70,irq_handler_exit,0,0,cat,,,30,0\n");
	check_fields("              sh-62      [000] dNLh231     2.921018: irq_handler_entry: irq=1 name=a\n",
		     "common_flags,common_preempt_count,common_preempt_lazy_count,irq,name", "47,18,3,1,a\n");
}

/* What becomes of one line: its own text, or nothing. */
static struct import_counts import_or_refuse(const char *text)
{
	struct import_counts counts = { .events = 0 };
	cleanup_buf struct buf got = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct trace *trace = NULL;

	if (!imported(text, NULL, &trace, &counts, &fail) && counts.events &&
	    CHECK(!printed_trace(trace, &(struct printed){ .format = "ftrace" }, &got, &fail)))
		CHECK_STR(printed_body(&got), text);
	trace_free(trace);
	return counts;
}

TEST(import_takes_what_tracers_print_themselves)
{
	struct import_counts counts = comes_back(
		"           <...>-2101    [001] d....    10.473449: #1     inner/outer(us):   21/22    "
		"ts:1601527483.343962756 count:6\n"
		"           <...>-2101    [005] d....    12.473470: #3     inner/outer(us):    0/14    "
		"ts:1601527485.343962756 count:2 nmi-total:4 nmi-count:1\n"
		"           <...>-2101    [005] d....    12.473471: #4     inner/outer(us):    0/14    "
		"ts:1601527485.343962756\n"
		"           <...>-901     [000] .....    31.637150: 1000000        190  99.98100       9     "
		"18      0   "
		"1007     18      1\n"
		"          <idle>-0       [000] d.h1.    60.000200: #5     context    irq timer_latency       932 ns\n"
		"           <...>-83      [000] .....    60.000300: #5     context thread timer_latency     11700 ns\n"
		"          <idle>-0       [000] d..2.    60.000400:        0:120:R ==> [000]      21:  0:R tick/0\n"
		"          <idle>-0       [000] dNh4.    60.000500:        0:120:R   + [000]      21:  0:R tick/0\n"
		"              sh-62      [000] .....    60.000600: vfs_read <-ksys_read (repeats: 3, "
		"last_ts:    60.000599)\n"
		"              sh-62      [000] .....    60.000601: vfs_read\n"
		"              sh-62      [000] .....    60.000602: vfs_open(path=0xffa0, file=0xff11) <-path_openat\n"
		"              sh-62      [000] .....    60.000603: sys_enter: NR 257 (ffffff9c, "
		"7ffd00000000, 0, 0, 0, 0)\n"
		"              sh-62      [000] .....    60.000604: sys_exit: NR 257 = -2\n");

	CHECK(counts.events == 13 && !counts.whole && !unknown_lines_count(&counts.told));
}

/* A line that is nearly one of a tracer is kept as it is, or is none: no character of it is ever another one. */
TEST(import_changes_no_character_of_a_line_that_a_tracer_nearly_prints)
{
	static const char *const bodies[] = {
		"#1     inner/outer(us):   21/22    ts:1601527483.343962756 count:6 nmi-total:4 nmi-count:1",
		"1000000        190  99.98100       9     18      0   1007     18      1",
		"#5     context    irq timer_latency       932 ns",
		"       0:120:R ==> [000]      21:  0:R tick/0",
		"       0:120:R   + [000]      21:  0:S tick/0",
		"       0:120:?   + [000]      21:  0:? tick/0",
		"       7:120:S ==> [000]       0:120:R <idle>",
		"vfs_read <-ksys_read (repeats: 3, last_ts:    60.000599)",
		"vfs_read (repeats: 65536, last_ts:    60.000599)",
		"vfs_open(path=0xffa0, file=0xff11) <-path_openat",
		"sys_enter: NR 257 (ffffff9c, 7ffd00000000, 0, 0, 0, 0)",
		"sched_waking: comm=cat pid=70 prio=-1 target_cpu=001",
	};
	static const char others[] = "x0 -";
	unsigned same = 0;

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		for (size_t at = 0; bodies[i][at]; at++) {
			struct import_counts counts = { .events = 0 };
			char text[256];
			int before =
				snprintf(text, sizeof(text), "              sh-62      [000] .....    60.000600: ");

			snprintf(text + before, sizeof(text) - (size_t)before, "%s\n", bodies[i]);
			text[(size_t)before + at] = others[(at + i) % 4];
			counts = import_or_refuse(text);
			same += counts.events == 1;
			CHECK(counts.events + unknown_lines_count(&counts.told) == 1);
		}
	CHECK(same > 100);
}

TEST(import_keeps_the_columns_of_the_text)
{
	static const char *const texts[] = {
		/* before 5.10; from 4.13 to 4.17 the thread group is behind the CPU */
		"             cat-512   [001] d.h.    50.000100: softirq_raise: vec=1 [action=TIMER]\n",
		"             cat-512   (  500) [001] d.h.    50.000100: softirq_raise: vec=1 [action=TIMER]\n",
		"             cat-512   [001] (  500) d.h.    50.000100: softirq_raise: vec=1 [action=TIMER]\n",
		/* 5.10, 5.15, with a processor that does not tell whether interrupts are off */
		"             cat-512     [001] d.h.    50.000100: softirq_raise: vec=1 [action=TIMER]\n",
		"             cat-512     [001] d.h..    50.000100: softirq_raise: vec=1 [action=TIMER]\n",
		"             cat-512     [001] X.h..    50.000100: softirq_raise: vec=1 [action=TIMER]\n",
		/* with PREEMPT_RT before 6.12 */
		"             cat-512     [001] d.Lh1..    50.000100: softirq_raise: vec=1 [action=TIMER]\n"
		"             cat-512     [001] dN.h312    50.000200: softirq_raise: vec=1 [action=TIMER]\n"
		"             cat-512     [001] bn.h3..    50.000300: softirq_raise: vec=1 [action=TIMER]\n",
		"             cat-512     [001] dN.h3.    50.000200: softirq_raise: vec=1 [action=TIMER]\n",
		/* since 6.13 */
		"             cat-512     [001] dLh31    50.000200: softirq_raise: vec=1 [action=TIMER]\n",
		/* a clock that does not count ns */
		"             cat-512     [001] d.h..  81264467123: softirq_raise: vec=1 [action=TIMER]\n",
		/* latency-format */
		"# tracer: wakeup\n     cat-512       1d.h1.   50us : softirq_raise: vec=1 [action=TIMER]\n",
		"# tracer: wakeup\n     cat-512     1d.h1   50us : softirq_raise: vec=1 [action=TIMER]\n",
	};

	for (size_t i = 0; i < array_size(texts); i++)
		CHECK(comes_back(texts[i]).events > 0);
}

TEST(import_takes_off_what_mails_and_logs_put_in_front_of_a_line)
{
	static const char *const fronts[] = {
		"> ",
		">",
		"> > ",
		">> ",
		"| ",
		"JD> ",
		"[   12.345678] ",
		"[   12.345678][  T123] ",
		"<6>[   12.345678] ",
		"<4>",
		"[Wed Nov 25 08:00:01 2026] ",
		"[Nov25 08:00] ",
		"[  +0.000010] ",
		"[   12.345678 <    0.000010>] ",
		"[<    0.000010>] ",
		"Nov 25 08:00:01 box kernel: ",
		"Nov  5 08:00:01 box kernel[1]: [   12.345678] ",
		"2026-11-25T08:00:01,123456+00:00 ",
		"2026-11-25T08:00:01.123456+0000 box kernel: ",
		"2026-11-25 08:00:01 ",
		"08:00:01 ",
		"kern  :info  : [   12.345678] ",
		"kern  :warn  : ",
		"6,1234,5678901,-;",
		"[   12.345678] [0:      swapper/0:    0] ",
		"[   12.345678](3)[1234:task] ",
		"kernel: ",
		"> [   12.345678] ",
		"11-25 08:00:01.123 ",
		"a_vendors_own_console_prefix: ",
	};

	for (size_t i = 0; i < array_size(fronts); i++) {
		cleanup_buf struct buf text = BUF_INIT;
		cleanup_free char *got = NULL;

		REQUIRE(buf_addf(&text, "%s     cat-70        1d.h2. 2921018us : softirq_raise: vec=1 [action=TIMER]\n",
				 fronts[i]));
		got = imported_fields(buf_str(&text), "comm,pid,cpu,vec");
		if (!CHECK(got) || !CHECK_STR(got, "cat,70,1,1\n"))
			fprintf(stderr, "in front: '%s'\n", fronts[i]);
	}
}

TEST(import_tells_of_lost_events_behind_the_prefix_of_a_log)
{
	static const char text[] =
		"[   20.000003]      cat-70        0d..2. 5000100us : softirq_raise: vec=1 [action=TIMER]\n"
		"[   20.000004] CPU:0 [LOST 77 EVENTS]\n"
		"[   20.000005]      cat-70        0d..2. 5000200us : softirq_raise: vec=1 [action=TIMER]\n"
		"CPU:0 [9 EVENTS DROPPED]\n"
		"[   20.000005]      cat-70        0d..2. 5000300us : softirq_raise: vec=1 [action=TIMER]\n";
	struct import_counts counts = imported_prints(
		text, NULL,
		"             cat-70      [000] d..2.     5.000100: softirq_raise: vec=1 [action=TIMER]\n"
		"CPU:0 [LOST 77 EVENTS]\n"
		"             cat-70      [000] d..2.     5.000200: softirq_raise: vec=1 [action=TIMER]\n"
		"CPU:0 [LOST 9 EVENTS]\n"
		"             cat-70      [000] d..2.     5.000300: softirq_raise: vec=1 [action=TIMER]\n");

	CHECK(!unknown_lines_count(&counts.told));
}

TEST(import_reads_what_mails_and_pages_make_of_lines)
{
	static const char want[] =
		"             cat-70      [001] d..2.    30.000100: sched_wakeup: comm=eee pid=22 prio=120 "
		"target_cpu=001\n"
		"          <idle>-0       [001] d..2.    30.000200: vfs_read <-ksys_read\n";
	static const char *const texts[] = {
		/* quoted, and wrapped; the second line without the mark of the quotation */
		"> cat-70      [001] d..2.    30.000100: sched_wakeup: comm=eee pid=22\n> prio=120 target_cpu=001\n"
		">          <idle>-0       [001] d..2.    30.000200: vfs_read <-ksys_read\n",
		">              cat-70      [001] d..2.    30.000100: sched_wakeup: comm=eee\npid=22 "
		"prio=120 target_cpu=001\n"
		">          <idle>-0       [001] d..2.    30.000200: vfs_read <-ksys_read\n",
		">              cat-70      [001] d..2.    30.000100:\n> sched_wakeup: comm=eee pid=22 "
		"prio=120 target_cpu=001\n"
		">          <idle>-0       [001] d..2.    30.000200: vfs_read <-ksys_read\n",
		/* quoted-printable */
		"             cat-70      [001] d..2.    30.000100: sched_wakeup: comm=3Deee p=\nid=3D22 prio=3D120 "
		"target_cpu=3D001\n          <idle>-0       [001] d..2.    30.000200: vfs_read <-ksys_read\n",
		"             cat-70      [001] d..2.    30.000100: sched_wakeup: =\ncomm=3Deee pid=3D22 prio=3D120 "
		"target_cpu=3D001\n          <idle>-0       [001] d..2.    30.000200: vfs_read <-ksys_read\n",
		/* HTML */
		"<html><pre>\n             cat-70      [001] d..2.    30.000100: sched_wakeup: comm=eee "
		"pid=22 prio=120 "
		"target_cpu=001\n          &lt;idle&gt;-0       [001] d..2.    30.000200: vfs_read "
		"&lt;-ksys_read\n</pre>",
		/* JavaScript, JSON, tabs, CR LF */
		"var x = \"\\\n             cat-70      [001] d..2.    30.000100: sched_wakeup: comm=eee "
		"pid=22 prio=120 "
		"target_cpu=001\\n\\\n          <idle>-0       [001] d..2.    30.000200: vfs_read <-ksys_read\\n\";\n",
		"{\"traceEvents\":[],\"systemTraceEvents\": \"             cat-70      [001] d..2.    30.000100: "
		"sched_wakeup: comm=eee pid=22 prio=120 target_cpu=001\\n          \\u003cidle\\u003e-0      "
		" [001] d..2."
		"    30.000200: vfs_read <-ksys_read\\n\"}",
		"\t     cat-70\t [001]\td..2.    30.000100: sched_wakeup: comm=eee pid=22 prio=120 target_cpu=001\r\n"
		"\t  <idle>-0\t [001] d..2.    30.000200: vfs_read <-ksys_read\r\n",
	};

	for (size_t i = 0; i < array_size(texts); i++) {
		struct import_counts counts = imported_prints(texts[i], NULL, want);

		if (!CHECK(counts.events == 2))
			fprintf(stderr, "text %zu\n", i);
	}
}

TEST(import_takes_thread_groups_and_the_text_that_systrace_puts_into_html)
{
	static const char text[] =
		"<!DOCTYPE html><script class=\"trace-data\" type=\"application/text\">\n"
		"# tracer: nop\n#\n"
		"     a-b (c)-62      (   60) [001] d.h2.     2.921018: irq_handler_entry: irq=30 name=virtio0-req.0\n"
		"          <idle>-0       (-----) [001] d.h2.     2.921020: irq_handler_exit: irq=30 ret=handled\n"
		"</script>\n";
	struct import_counts counts;

	check_fields(text, "pid,tgid,comm,irq,name,ret", "62,60,a-b (c),30,virtio0-req.0,\n0,,<idle>,30,,1\n");
	counts = imported_prints(
		text, NULL,
		"         a-b (c)-62      (     60) [001] d.h2.     2.921018: irq_handler_entry: irq=30 "
		"name=virtio0-req.0\n"
		"          <idle>-0       (-------) [001] d.h2.     2.921020: irq_handler_exit: irq=30 ret=handled\n");
	CHECK(counts.events == 2 && unknown_lines_count(&counts.told) == 2);
}

TEST(import_takes_what_a_dump_on_an_oops_printed_on_a_console)
{
	static const char text[] =
		"[   12.345678] Dumping ftrace buffer:\r\n"
		"[   12.345679] ---------------------------------\n"
		"[   12.345680]      cat-70        1d.h2. 2921018us : sched_stat_runtime: comm=cat pid=70 "
		"runtime=4002564 [ns]\r\n"
		"[   12.345681][  T123]    <...>-17        0d..2. 2924473us+: sched_waking: comm=sh pid=62 prio=120 "
		"target_cpu=001\n"
		"Nov 22 10:00:00 host kernel: [   12.345682]   <idle>-0         1d..2. 2924503us!: odd: text\n";
	static const char want[] =
		"             cat-70      [001] d.h2.     2.921018: sched_stat_runtime: comm=cat pid=70 "
		"runtime=4002564 [ns]\n"
		"           <...>-17      [000] d..2.     2.924473: sched_waking: comm=sh pid=62 prio=120 "
		"target_cpu=001\n"
		"          <idle>-0       [001] d..2.     2.924503: odd: text\n";
	struct import_counts counts = imported_prints(text, NULL, want);

	CHECK(counts.events == 3 && unknown_lines_count(&counts.told) == 2 && counts.whole == 1);
}

TEST(import_keeps_lost_events_at_the_start_too_and_without_their_number)
{
	struct import_counts counts =
		comes_back("CPU:0 [LOST 7 EVENTS]\n"
			   "              sh-62      [000] .....     2.921017: softirq_raise: vec=1 [action=TIMER]\n"
			   "              sh-62      [001] .....     2.921018: softirq_raise: vec=1 [action=TIMER]\n"
			   "CPU:1 [LOST 230 EVENTS]\n"
			   "              sh-62      [001] .....     2.921030: softirq_raise: vec=1 [action=TIMER]\n"
			   "CPU:1 [LOST EVENTS]\n"
			   "              sh-62      [001] .....     2.921040: softirq_raise: vec=1 [action=TIMER]\n");

	CHECK(counts.events == 4 && !unknown_lines_count(&counts.told));
}

TEST(import_keeps_marks_of_several_lines_and_a_clock_that_counts)
{
	struct import_counts counts;

	counts = comes_back("# tracer: nop\n"
			    "              sh-62      [001] .....     2.921018: tracing_mark_write: one\n"
			    "two\n\nfour\n"
			    "              sh-62      [001] .....     2.921030: tracing_mark_write: five\n");
	CHECK(counts.events == 2 && !unknown_lines_count(&counts.told));
	counts = comes_back("              sh-62      [001] .....        12345: softirq_raise: vec=1 [action=TIMER]\n"
			    "              sh-62      [001] .....        12345: softirq_raise: vec=1 [action=TIMER]\n");
	CHECK(counts.events == 2);
	counts = comes_back("              sh-62      [001]      2.921018: softirq_raise: vec=1 [action=TIMER]\n");
	CHECK(counts.events == 1);
}

TEST(import_keeps_an_event_of_an_unknown_form_as_its_line)
{
	struct import_counts counts =
		comes_back("              sh-62      [001] .....     2.921018: no event\n"
			   "              sh-62      [001] .....     2.921019: no.event: a=1\n"
			   "              sh-62      [001] .....     2.921020: : a=1\n"
			   "              sh-62      [001] .....     2.921021: vfs_read <-\n"
			   "              sh-62      [001] .....     2.921022: vfs read <-vfs_write\n"
			   "              sh-62      [001] .....     2.921023: # 2a buf: 01 02\n"
			   "              sh-62      [001] .....     2.921024: Unknown type 1339\n");

	CHECK(counts.events == 7 && counts.whole == 7 && !unknown_lines_count(&counts.told));
}

TEST(import_passes_lines_that_are_no_events)
{
	static const char event[] = "              sh-62      [001] .....     2.921018: softirq_raise: vec=1 "
				    "[action=TIMER]\n";
	static const char *const lines[] = {
		"two",
		" => vfs_read",
		"CPU:9999 [LOST 1 EVENTS]",
		"CPU:1 [LOST",
		"              sh-62x      [001] .....     2.921018: softirq_raise: vec=1 [action=TIMER]",
		"              sh-62      [-01] .....     2.921018: softirq_raise: vec=1 [action=TIMER]",
		"              sh-62      [001] .....    -2.921018: softirq_raise: vec=1 [action=TIMER]",
	};

	for (size_t i = 0; i < array_size(lines); i++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct import_counts counts;

		REQUIRE(buf_addf(&text, "%s%s\n\n# comment\n", event, lines[i]));
		counts = imported_prints(buf_str(&text), NULL, event);
		if (!CHECK(counts.events == 1 && unknown_lines_count(&counts.told) == 1))
			fprintf(stderr, "line '%s'\n", lines[i]);
	}
}

TEST(import_takes_a_text_whose_only_event_goes_on_in_the_next_line)
{
	struct import *import = NULL;

	REQUIRE(!import_new(NULL, &(struct recast_options){ .version = 7 }, &import, NULL));
	CHECK(!imported_read(import, IMPORTED("sh-62 [001] ..... 2.921018: <stack trace>\n => vfs_read\n"), NULL));
	CHECK(import_counts(import).events == 1);
	import_free(import);
}

TEST(import_ends_a_stack_at_the_first_line_that_is_no_caller)
{
	struct import_counts counts = imported_prints(
		"# tracer: nop\n"
		"              sh-62      [001] .....     2.921018: <stack trace>\n"
		" => vfs_read+0x12/0x30 <ffffffff81234567>\n => [FTRACE TRAMPOLINE]\n => ext4_sync_fs [ext4]\n"
		" => (bad)\n =>\n"
		"              sh-62      [001] .....     2.921030: <user stack trace>\n"
		" =>  <0000000000473bf3>\n =>  <0000000000473bf3> more\n =>  <00000000004018470000000000>\n",
		NULL,
		"              sh-62      [001] .....     2.921018: <stack trace>\n"
		" => vfs_read\n => [FTRACE TRAMPOLINE]\n => ext4_sync_fs\n"
		"              sh-62      [001] .....     2.921030: <user stack trace>\n =>  <0000000000473bf3>\n");

	CHECK(counts.events == 2 && unknown_lines_count(&counts.told) == 4);
}

TEST(import_keeps_the_text_of_stacks_with_the_names_of_files)
{
	struct import_counts counts =
		comes_back("              sh-62      [001] .....     2.921018: <user stack trace>\n"
			   " => /usr/lib/libc.so.6[+0x9e3ba]\n =>  <0000000000473bf3>\n => /usr/bin/a b[+0x1]\n"
			   "              sh-62      [001] .....     2.921020: <user stack trace>\n"
			   " =>  <0000000000473bf3>\n => /usr/lib/libc.so.6[+0x9e3ba] <00007f3cd1dc35e0>\n"
			   "              sh-62      [001] .....     2.921030: vfs_read <-ksys_read\n");

	CHECK(counts.events == 3 && counts.whole == 2 && !unknown_lines_count(&counts.told));
	counts = imported_prints("              sh-62      [001] .....     2.921018: <user stack trace>\n"
				 " => /usr/lib/libc.so.6[+0x9e3ba]\n => more\n => [+0x1]\n",
				 NULL,
				 "              sh-62      [001] .....     2.921018: <user stack trace>\n"
				 " => /usr/lib/libc.so.6[+0x9e3ba]\n");
	CHECK(unknown_lines_count(&counts.told) == 2);
}

/* A line of an event of `len` bytes, all of them `c`. */
static bool put_long(struct buf *text, const char *what, char c, size_t len)
{
	bool ok = buf_addf(text, "              sh-62      [001] .....     2.921018: %s: ", what);

	for (size_t i = 0; ok && i < len; i++)
		ok = buf_add(text, &c, 1);
	return ok && buf_add(text, "\n", 1);
}

TEST(import_tells_what_is_longer_than_a_line_of_a_kernel)
{
	cleanup_buf struct buf text = BUF_INIT, want = BUF_INIT;
	struct import_counts counts;

	REQUIRE(put_long(&text, "odd", 'x', 13000) && put_long(&text, "odd", 'y', 8000));
	REQUIRE(put_long(&want, "odd", 'y', 8000));
	counts = imported_prints(buf_str(&text), NULL, buf_str(&want));
	CHECK(counts.events == 1 && unknown_lines_count(&counts.told) == 1 && counts.whole == 1);
	buf_clear(&text);
	buf_clear(&want);
	/* The line after a mark that is full does not go into it. */
	REQUIRE(buf_add_str(&text, "# tracer: nop\n") && put_long(&text, "tracing_mark_write", 'x', 8000) &&
		buf_add_str(&text, "and more\n"));
	counts = comes_back(buf_str(&text));
	CHECK(counts.events == 1 && !unknown_lines_count(&counts.told));
	REQUIRE(put_long(&text, "tracing_mark_write", 'x', 11995) && put_long(&want, "tracing_mark_write", 'x', 8000) &&
		buf_add_str(&want, "and more\n") && put_long(&want, "tracing_mark_write", 'x', 11995) &&
		buf_add_str(&text, "of a mark\nx\n"));
	counts = imported_prints(buf_str(&text), NULL, buf_str(&want));
	CHECK(counts.events == 2 && counts.told.counts[UNKNOWN_LINES_LONG] == 2 && unknown_lines_events(&counts.told));
}

TEST(import_keeps_as_text_what_a_print_fmt_could_not_have_made)
{
	struct import_counts counts =
		comes_back("              sh-62      [001] d.h2.     2.921018: sched_waking: comm=sh pid=62 prio=x "
			   "target_cpu=001\n"
			   "              sh-62      [001] d.h2.     2.921019: odd: 100% \"quoted\" \\back\n"
			   "              sh-62      [001] d.h2.     2.921019: odd: a=1 a=2\n"
			   "              sh-62      [001] d.h2.     2.921020: odd: a=007 b=-0 c=99999999999999999999 "
			   "d=0xABC e=\n");

	CHECK(counts.events == 4 && counts.whole == 2 && !unknown_lines_count(&counts.told));
}

TEST(import_of_a_text_without_events_makes_an_empty_recording)
{
	struct import_counts counts = imported_prints("# tracer: nop\n#\nhello\n", NULL, "");

	CHECK(!counts.events && unknown_lines_count(&counts.told) == 1);
}

TEST(import_refuses_the_formats_of_a_big_endian_kernel)
{
	struct trace *formats = NULL, *trace = NULL;
	struct fail fail = FAIL_INIT;
	struct import_counts counts;

	REQUIRE(!trace_open("tests/corpora/report/seeds/s390x-6.1-events-sched.dat", &formats, &fail));
	CHECK(imported("              sh-62      [001] .....     2.921018: softirq_raise: vec=1 [action=TIMER]\n",
		       formats, &trace, &counts, &fail) == -ENOTSUP);
	CHECK(strstr(fail.text, "big-endian"));
	trace_free(formats);
}

/* Imports and prints a text; 0, or an error with a text. */
static int come_and_go(const char *text, struct buf *ret, struct fail *fail)
{
	struct import_counts counts;
	struct trace *trace = NULL;
	int r = imported(text, NULL, &trace, &counts, fail);

	if (!r)
		r = printed_trace(trace, &(struct printed){ .format = "ftrace" }, ret, fail);
	trace_free(trace);
	return r;
}

TEST(import_tells_each_lack_of_memory)
{
	static const char text[] =
		"# tracer: nop\n"
		"              sh-62      [001] .....     2.921018: odd: a=1 b=x\n"
		"              sh-62      [001] .....     2.921019: odd: text\n"
		"              sh-62      [001] .....     2.921020: vfs_read <-ksys_read\n"
		"              sh-62      [001] .....     2.921021: tracing_mark_write: one\ntwo\n"
		"              sh-62      [001] .....     2.921022: <stack trace>\n => vfs_read\n"
		"              sh-62      [001] .....     2.921023: sys_close(fd: 3)\n"
		" 0)               |  a() {\n 0)   1.500 us    |  }\n"
		" 0)     sh-62      =>   cat-70\n"
		"      sh-62        1d..2.  100us+: odd: a=1 b=x\n"
		"              sh      62   1 1 00000002 00000000 [04c9278a] 1.480ms (+0.001ms): odd: a\n";
	cleanup_buf struct buf want = BUF_INIT;
	uint64_t nr;

	REQUIRE(!come_and_go(text, &want, NULL));
	for (uint64_t at = 1;; at++) {
		cleanup_buf struct buf got = BUF_INIT;
		struct fail fail = FAIL_INIT;
		bool ok;
		int r;

		starve_begin(at);
		r = come_and_go(text, &got, &fail);
		nr = starve_end();
		ok = r < 0 ? CHECK(*fail.text) : CHECK(got.len == want.len && !memcmp(got.data, want.data, want.len));
		if (!ok)
			fprintf(stderr, "allocation %llu of %llu\n", (unsigned long long)at, (unsigned long long)nr);
		if (nr < at || !ok)
			return;
	}
}

/* The kernel prints no newline behind the text of a trace_printk() that has none: print_bprint() and its like. */
TEST(import_finds_the_events_behind_a_trace_printk_without_a_newline)
{
	static const char text[] = "# tracer: nop\n#\n#                                _-----=> irqs-off/BH-disabled\n"
				   "#                               / _----=> need-resched\n"
				   "#                              | / _---=> hardirq/softirq\n"
				   "#                              || / _--=> preempt-depth\n"
				   "#                              ||| / _-=> migrate-disable\n"
				   "#                              |||| /     delay\n"
				   "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
				   "#              | |         |   |||||     |         |\n"
				   "            bash-1234    [001] d..2.   100.000001: do_it: hello-1 [2]"
				   "            bash-1234    [001] d..2.   100.000002: do_it: 50%, "
				   "          <idle>-0       [000] d..2.   100.000003: "
				   "sched_waking: comm=a pid=3 prio=120 target_cpu=001\n"
				   "            bash-1234    [001] d..2.   100.000004: do_it: x\n"
				   "            bash-1234    [001] d..2.   100.000005: tracing_mark_write: do_it: y"
				   "            bash-1234    [001] d..2.   100.000006: do_it: z\n";
	char *fields = imported_fields(text, "event,pid,buf");
	struct import_counts counts = comes_back(text);

	CHECK(counts.events == 5);
	CHECK_STR(fields, "print,1234,hello-1 [2]\nprint,1234,\"50%, \"\nsched_waking,0,\ndo_it,1234,\n"
			  "print,1234,\"do_it: y            bash-1234    [001] d..2.   100.000006: do_it: z\n\"\n");
	free(fields);
}
