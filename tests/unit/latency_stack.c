// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/latency.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller; u64 next", "\"\"");
	loom_task(loom, 6, "hog");
	loom_task(loom, 7, "ls");
	loom_task(loom, 8, "cat");
}

/*
 * hog keeps the CPU for 3000 while ls waits; cat waits on an idle CPU. Only the former has a culprit with a stack. hog
 * also keeps nl waiting, and sh runs between the two: the stack is the one of hog.
 */
TEST(latency_shows_where_the_task_was_that_kept_the_cpu)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 1000 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=hog next_pid=6\n"
			    "0 1001 0 kernel_stack caller=0x99 next=0x98\n"
			    "1 2000 0 sched_waking comm=ls pid=7 target_cpu=0\n"
			    "1 2001 0 kernel_stack caller=0x77 next=0x76\n"
			    "1 2010 0 sched_wakeup comm=ls pid=7 target_cpu=0\n"
			    "0 5000 6 sched_switch prev_comm=hog prev_pid=6 prev_state=0 next_comm=ls next_pid=7\n"
			    "0 5001 6 kernel_stack caller=0x10 next=0x20\n"
			    "1 6000 0 sched_waking comm=cat pid=8 target_cpu=1\n"
			    "1 6010 0 sched_wakeup comm=cat pid=8 target_cpu=1\n"
			    "1 6500 0 sched_switch prev_comm=swapper/1 prev_pid=0 next_comm=cat next_pid=8\n"
			    "1 6501 0 kernel_stack caller=0x55 next=0x56\n"
			    "0 7000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=hog next_pid=6\n"
			    "0 7001 7 kernel_stack caller=0x60 next=0x61\n"
			    "1 8000 8 sched_waking comm=nl pid=9 target_cpu=0\n"
			    "1 8010 8 sched_wakeup comm=nl pid=9 target_cpu=0\n"
			    "0 11000 6 sched_switch prev_comm=hog prev_pid=6 prev_state=0 next_comm=sh next_pid=5\n"
			    "0 11001 6 kernel_stack caller=0x30 next=0x31\n"
			    "0 11500 5 sched_switch prev_comm=sh prev_pid=5 prev_state=1 next_comm=nl next_pid=9\n"
			    "0 11501 5 kernel_stack caller=0x40 next=0x41\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "3000", "cause", "the task before it: hog-6") &&
	      analysed_is(&analysed, "wakeups", "3000", "stack", "0x10 < 0x20"));
	CHECK(analysed_is(&analysed, "wakeups", "3500", "cause", "the task before it: hog-6") &&
	      analysed_is(&analysed, "wakeups", "3500", "stack", "0x30 < 0x31"));
	CHECK(analysed_is(&analysed, "wakeups", "500", "comm", "cat") &&
	      analysed_is(&analysed, "wakeups", "500", "stack", ""));
	analysed_end(&analysed);
}
