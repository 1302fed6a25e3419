// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "lib/answers/frame/analysis.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "ftrace", "print", "u64 ip; char buf[32]", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_task(loom, 7, "server");
	loom_task(loom, 8, "disk");
	loom_task(loom, 9, "nginx");
	loom->uname = "Linux loom 6.12.0 x86_64";
}

/*
 * Of 4000: 100 on the CPU, 40 of them in an interrupt; 2700 in a call until disk wakes it; 300 behind nginx; 900 more
 * on the CPU.
 */
static const char request[] =
	"0 900 1 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=server next_pid=7\n"
	"0 1000 7 print buf=B|6|request\n"
	"0 1020 7 irq_handler_entry irq=5 name=eth\n"
	"0 1060 7 irq_handler_exit irq=5 ret=1\n"
	"0 1080 7 sys_enter id=74\n"
	"0 1100 7 sched_switch prev_comm=server prev_pid=7 prev_state=2 next_comm=nginx next_pid=9\n"
	"1 1200 8 sched_switch prev_comm=x prev_pid=2 prev_state=1 next_comm=disk next_pid=8\n"
	"1 3800 8 sched_waking comm=server pid=7 prio=120 target_cpu=0\n"
	"0 4100 9 sched_switch prev_comm=nginx prev_pid=9 prev_state=1 next_comm=server next_pid=7\n"
	"0 4200 7 sys_exit id=74 ret=0\n"
	"0 4300 7 print buf=B|6|reply\n"
	"0 4400 7 print buf=E|6\n"
	"0 5000 7 print buf=E|6\n";

TEST(marks_divides_the_time_of_a_span_into_parts_that_add_up)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &marks_analysis, NULL, types, request))
		return;
	CHECK(analysed_is(&analysed, "marks", "request", "count", "1") &&
	      analysed_is(&analysed, "marks", "request", "total_ns", "4000") &&
	      analysed_is(&analysed, "marks", "request", "self_ns", "3900"));
	CHECK(analysed_is(&analysed, "marks", "request", "on_cpu_ns", "960") &&
	      analysed_is(&analysed, "marks", "request", "irq_ns", "40") &&
	      analysed_is(&analysed, "marks", "request", "wait_ns", "300") &&
	      analysed_is(&analysed, "marks", "request", "blocked_ns", "2700") &&
	      analysed_is(&analysed, "marks", "request", "unknown_ns", "0"));
	CHECK(analysed_is(&analysed, "marks", "reply", "total_ns", "100") &&
	      analysed_is(&analysed, "marks", "reply", "on_cpu_ns", "100"));
	/* The rows of a name come in the order of their times. */
	CHECK(analysed_is(&analysed, "parts", "request", "where", "blocked") &&
	      analysed_is(&analysed, "parts", "request", "syscall", "fsync") &&
	      analysed_is(&analysed, "parts", "request", "comm", "disk") &&
	      analysed_is(&analysed, "parts", "request", "time_ns", "2700"));
	analysed_end(&analysed);
}

/* The rows of a table as lines of text. */
static bool has_row(struct analysed *analysed, const char *line)
{
	struct out out;
	bool found;

	if (!out_init(&out, 4096))
		return false;
	for (size_t i = 0; i < analysed->findings.nr; i++)
		(void)table_put_csv(&analysed->findings.items[i].table, &out);
	out_char(&out, '\0');
	found = strstr(out.start, line);
	out_release(&out);
	return found;
}

TEST(marks_names_whom_a_span_waited_for_and_behind_whom)
{
	const struct row_options longer = { .slowest = 10, .longer = 500 };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &marks_analysis, &longer, types, request))
		return;
	CHECK(has_row(&analysed, "request,waits for a CPU,,nginx,300,7.5,1\n"));
	CHECK(has_row(&analysed, "request,on CPU,,,960,24.0,\n"));
	CHECK(has_row(&analysed, "request,interrupts,,,40,1.0,\n"));
	CHECK(has_row(&analysed, "blocked in fsync, woken by disk"));
	CHECK(!has_row(&analysed, "100,reply"));
	analysed_end(&analysed);
}

TEST(marks_ends_with_a_loss_what_may_have_ended_there)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &marks_analysis, NULL, types,
			    "0 1000 7 print buf=B|6|sure\n"
			    "0 1100 7 print buf=E|6\n"
			    "0 1200 7 print buf=B|6|broken\n"
			    "0 1250 7 print buf=S|6|broken|1\n"
			    "0 lost 3\n"
			    "0 1300 7 print buf=E|6\n"
			    "0 1400 7 print buf=F|6|broken|1\n"))
		return;
	CHECK(analysed_is(&analysed, "marks", "sure", "total_ns", "100"));
	CHECK(!has_row(&analysed, "\nbroken"));
	CHECK(strstr(buf_str(&analysed.findings.broken), "2 spans"));
	analysed_end(&analysed);
}

TEST(marks_in_intervals_count_where_they_end)
{
	struct analysed analysed;

	/* The span begins before the interval. */
	if (!analysed_from(&analysed, &marks_analysis, types, request, 4050))
		return;
	CHECK(analysed_is(&analysed, "marks", "request", "total_ns", "4000") &&
	      analysed_is(&analysed, "marks", "request", "blocked_ns", "2700") &&
	      analysed_is(&analysed, "marks", "request", "on_cpu_ns", "960"));
	analysed_end(&analysed);
}

TEST(marks_says_why_a_span_of_a_process_has_no_parts)
{
	static const char of_thread[] =
		"0 900 1 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=ls next_pid=7\n"
		"0 1000 7 print buf=B|6|sure\n"
		"0 1100 7 print buf=E|6\n";
	static const char of_process[] =
		"0 900 1 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=ls next_pid=7\n"
		"0 1000 7 print buf=S|6|sure|1\n"
		"0 1100 7 print buf=F|6|sure|1\n";
	struct analysed analysed;

	if (!analysed_begin(&analysed, &marks_analysis, NULL, types, of_thread))
		return;
	CHECK(!strstr(buf_str(&analysed.findings.notes), "a span of a process"));
	analysed_end(&analysed);
	if (!analysed_begin(&analysed, &marks_analysis, NULL, types, of_process))
		return;
	CHECK(strstr(buf_str(&analysed.findings.notes), "a span of a process has no parts"));
	analysed_end(&analysed);
}
