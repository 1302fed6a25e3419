// SPDX-License-Identifier: GPL-2.0-only
/* Whole texts of the kernel, imported and printed again. */
#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/io.h"
#include "lib/trace/trace.h"
#include "tests/unit/imported.h"
#include "tests/unit/printed.h"
#include "tests/unit/starve.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		CHECK(counts.events > 0 && !counts.passed);
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
		     "common_flags,common_preempt_count,common_preempt_lazy_count,irq,name", "45,18,3,1,a\n");
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
	CHECK(counts.events == 2 && counts.passed == 2);
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

	CHECK(counts.events == 3 && counts.passed == 2 && counts.whole == 1);
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

	CHECK(counts.events == 4 && !counts.passed);
}

TEST(import_keeps_marks_of_several_lines_and_a_clock_that_counts)
{
	struct import_counts counts;

	counts = comes_back("# tracer: nop\n"
			    "              sh-62      [001] .....     2.921018: tracing_mark_write: one\n"
			    "two\n\nfour\n"
			    "              sh-62      [001] .....     2.921030: tracing_mark_write: five\n");
	CHECK(counts.events == 2 && !counts.passed);
	counts = comes_back("              sh-62      [001] .....        12345: softirq_raise: vec=1 [action=TIMER]\n"
			    "              sh-62      [001] .....        12345: softirq_raise: vec=1 [action=TIMER]\n");
	CHECK(counts.events == 2);
	counts = comes_back("              sh-62      [001]      2.921018: softirq_raise: vec=1 [action=TIMER]\n");
	CHECK(counts.events == 1);
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
		"              sh-62      [001] .....     2.921018: no event",
		"              sh-62      [001] .....     2.921018: no.event: a=1",
		"              sh-62      [001] .....     2.921018: : a=1",
		"              sh-62      [001] .....     2.921018: vfs_read <-",
		"              sh-62      [001] .....     2.921018: vfs read <-vfs_write",
	};

	for (size_t i = 0; i < array_size(lines); i++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct import_counts counts;

		REQUIRE(buf_addf(&text, "%s%s\n\n# comment\n", event, lines[i]));
		counts = imported_prints(buf_str(&text), NULL, event);
		if (!CHECK(counts.events == 1 && counts.passed == 1))
			fprintf(stderr, "line '%s'\n", lines[i]);
	}
}

TEST(import_takes_a_text_whose_only_event_goes_on_in_the_next_line)
{
	struct import *import = NULL;

	REQUIRE(!import_new(NULL, &(struct recast_options){ .version = 7 }, &import, NULL));
	CHECK(!import_line(import, "sh-62 [001] ..... 2.921018: <stack trace>", 41, NULL));
	CHECK(import_counts(import).events == 1);
	CHECK(!import_line(import, " => vfs_read", 12, NULL));
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

	CHECK(counts.events == 2 && counts.passed == 4);
}

/* A line of an event of `len` bytes, all of them `c`. */
static bool put_long(struct buf *text, const char *what, char c, size_t len)
{
	bool ok = buf_addf(text, "              sh-62      [001] .....     2.921018: %s: ", what);

	for (size_t i = 0; ok && i < len; i++)
		ok = buf_add(text, &c, 1);
	return ok && buf_add(text, "\n", 1);
}

TEST(import_passes_an_event_that_is_too_long_for_a_record_and_cuts_a_mark)
{
	cleanup_buf struct buf text = BUF_INIT, want = BUF_INIT;
	struct import_counts counts;

	REQUIRE(put_long(&text, "odd", 'x', 5000) && put_long(&text, "odd", 'y', 2000));
	REQUIRE(put_long(&want, "odd", 'y', 2000));
	counts = imported_prints(buf_str(&text), NULL, buf_str(&want));
	CHECK(counts.events == 1 && counts.passed == 1 && counts.whole == 1);
	buf_clear(&text);
	buf_clear(&want);
	/* The line after a mark that is full does not go into it. */
	REQUIRE(buf_add_str(&text, "# tracer: nop\n") && put_long(&text, "tracing_mark_write", 'x', 5000) &&
		buf_add_str(&text, "and more\n"));
	REQUIRE(put_long(&want, "tracing_mark_write", 'x', 3000));
	counts = imported_prints(buf_str(&text), NULL, buf_str(&want));
	CHECK(counts.events == 1);
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

	CHECK(counts.events == 4 && counts.whole == 2 && !counts.passed);
}

TEST(import_of_a_text_without_events_makes_an_empty_recording)
{
	struct import_counts counts = imported_prints("# tracer: nop\n#\nhello\n", NULL, "");

	CHECK(!counts.events && counts.passed == 1);
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
	static const char text[] = "# tracer: nop\n"
				   "              sh-62      [001] .....     2.921018: odd: a=1 b=x\n"
				   "              sh-62      [001] .....     2.921019: odd: text\n"
				   "              sh-62      [001] .....     2.921020: vfs_read <-ksys_read\n"
				   "              sh-62      [001] .....     2.921021: tracing_mark_write: one\ntwo\n"
				   "              sh-62      [001] .....     2.921022: <stack trace>\n => vfs_read\n"
				   "              sh-62      [001] .....     2.921023: sys_close(fd: 3)\n"
				   " 0)               |  a() {\n 0)   1.500 us    |  }\n"
				   " 0)     sh-62      =>   cat-70\n";
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
