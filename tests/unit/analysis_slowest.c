// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/syscalls/syscalls.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_type(loom, "ftrace", "kernel_stack", "int size; u64 caller; u64 next", "\"\"");
	loom_task(loom, 6, "hog");
	loom_task(loom, 7, "ls");
	loom_task(loom, 8, "cat");
}

/*
 * The call of ls is blocked twice, for 500 and for 2000, and is preempted for longer. The stack is that of the longer
 * block, and cat ended it. The call of hog is never blocked.
 */
TEST(syscalls_shows_where_the_longest_calls_were_blocked_and_who_ended_that)
{
	static const struct syscalls_options slowest = { .rows.slowest = 5 };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &syscalls_analysis, &slowest, types,
			    "0 1000 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=ls next_pid=7\n"
			    "0 1001 0 kernel_stack caller=0x99 next=0x98\n"
			    "1 1100 8 sched_switch prev_comm=swapper/1 prev_pid=0 next_comm=cat next_pid=8\n"
			    "0 1500 7 sys_enter id=0\n"
			    "0 2000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=hog next_pid=6\n"
			    "0 2001 7 kernel_stack caller=0x11 next=0x12\n"
			    "0 2100 6 sys_enter id=1\n"
			    "0 2400 6 sys_exit id=1 ret=9\n"
			    "0 2500 6 sched_waking comm=ls pid=7 target_cpu=0\n"
			    "0 2600 6 sched_switch prev_comm=hog prev_pid=6 prev_state=0 next_comm=ls next_pid=7\n"
			    "0 2601 6 kernel_stack caller=0x21 next=0x22\n"
			    "0 3000 7 sched_switch prev_comm=ls prev_pid=7 prev_state=2 next_comm=hog next_pid=6\n"
			    "0 3001 7 kernel_stack caller=0x31 next=0x32\n"
			    "1 5000 8 sched_waking comm=ls pid=7 target_cpu=0\n"
			    "0 5100 6 sched_switch prev_comm=hog prev_pid=6 prev_state=0 next_comm=ls next_pid=7\n"
			    "0 5101 6 kernel_stack caller=0x41 next=0x42\n"
			    "0 5200 7 sched_switch prev_comm=ls prev_pid=7 prev_state=0 next_comm=hog next_pid=6\n"
			    "0 5201 7 kernel_stack caller=0x51 next=0x52\n"
			    "0 9000 6 sched_switch prev_comm=hog prev_pid=6 prev_state=1 next_comm=ls next_pid=7\n"
			    "0 9001 6 kernel_stack caller=0x61 next=0x62\n"
			    "0 9500 7 sys_exit id=0 ret=1\n"))
		return;
	CHECK(analysed_is(&analysed, "slowest", "8000", "blocked_ns", "2500") &&
	      analysed_is(&analysed, "slowest", "8000", "stack", "0x31 < 0x32") &&
	      analysed_is(&analysed, "slowest", "8000", "woken_by", "cat") &&
	      analysed_is(&analysed, "slowest", "8000", "woken_by_pid", "8"));
	CHECK(analysed_is(&analysed, "slowest", "300", "stack", "") &&
	      analysed_is(&analysed, "slowest", "300", "woken_by_pid", ""));
	analysed_end(&analysed);
}
