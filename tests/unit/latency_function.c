// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/latency/latency.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "ftrace", "function", "long ip; long parent_ip", "\"\"");
	loom_task(loom, 6, "hog");
	loom_task(loom, 7, "ls");
	loom_task(loom, 8, "cat");
}

/* The first and the last function of an interrupt have only the flag for interrupts off. */
TEST(latency_shows_in_which_function_the_task_was_that_kept_the_cpu)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 1000 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=hog next_pid=6\n"
			    "0 1100 6 function ip=0x99 parent_ip=0x98\n"
			    "0 1900 6 function ip=0xa parent_ip=0xb\n"
			    "0 1990 6 function common_flags=1 ip=0x1c parent_ip=0x1d\n"
			    "0 1995 6 function common_flags=9 ip=0x2c parent_ip=0x2d\n"
			    "0 2000 6 sched_waking common_flags=9 comm=ls pid=7 target_cpu=0\n"
			    "0 2010 6 sched_wakeup common_flags=9 comm=ls pid=7 target_cpu=0\n"
			    "0 2100 6 function common_flags=1 ip=0x3c parent_ip=0x3d\n"
			    "0 5000 6 function ip=0xf parent_ip=0xb\n"
			    "0 5100 6 sched_switch prev_comm=hog prev_pid=6 prev_state=0 next_comm=ls next_pid=7\n"
			    "0 5110 6 function common_flags=1 ip=0x4c parent_ip=0x4d\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "3100", "function", "0xa") &&
	      analysed_is(&analysed, "wakeups", "3100", "caller", "0xb") &&
	      analysed_is(&analysed, "wakeups", "3100", "gap_ns", "2900"));
	analysed_end(&analysed);
}

/* A pause counts as far as it lies in the wait, and time off the CPU does not count. */
TEST(latency_compares_the_pauses_of_the_wait_only)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 1000 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=hog next_pid=6\n"
			    "0 1100 6 function ip=0x10 parent_ip=0x1\n"
			    "1 5900 0 sched_waking comm=ls pid=7 target_cpu=0\n"
			    "1 5910 0 sched_wakeup comm=ls pid=7 target_cpu=0\n"
			    "0 6000 6 function ip=0x20 parent_ip=0x2\n"
			    "0 6500 6 function ip=0x30 parent_ip=0x3\n"
			    "0 6600 6 sched_switch prev_comm=hog prev_pid=6 prev_state=0 next_comm=ls next_pid=7\n"
			    "0 6700 7 sched_waking comm=cat pid=8 target_cpu=0\n"
			    "0 6710 7 sched_wakeup comm=cat pid=8 target_cpu=0\n"
			    "0 9000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=hog next_pid=6\n"
			    "0 9100 6 function ip=0x40 parent_ip=0x4\n"
			    "0 16000 6 sched_switch prev_comm=hog prev_pid=6 prev_state=0 next_comm=cat next_pid=8\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "700", "function", "0x20") &&
	      analysed_is(&analysed, "wakeups", "700", "gap_ns", "500"));
	CHECK(analysed_is(&analysed, "wakeups", "9300", "cause", "tasks that ran first: hog-6 (RT 99)") &&
	      analysed_is(&analysed, "wakeups", "9300", "function", "0x40") &&
	      analysed_is(&analysed, "wakeups", "9300", "gap_ns", "6900"));
	analysed_end(&analysed);
}

TEST(latency_knows_no_function_across_lost_events)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 1000 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=hog next_pid=6\n"
			    "0 1100 6 function ip=0x10 parent_ip=0x1\n"
			    "0 lost 2\n"
			    "0 1200 6 sched_waking comm=ls pid=7 target_cpu=0\n"
			    "0 1210 6 sched_wakeup comm=ls pid=7 target_cpu=0\n"
			    "0 6600 6 sched_switch prev_comm=hog prev_pid=6 prev_state=0 next_comm=ls next_pid=7\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "5400", "function", ""));
	analysed_end(&analysed);
}
