// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/buf.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

#include <string.h>

/* Selections by name: what a task did counts if it had the name at any moment of that. */

static void types(struct loom *loom)
{
	loom_type(loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_type(loom, "task", "task_rename", "pid_t pid; char oldcomm[16]; char newcomm[16]", "\"\"");
}

/*
 * Task 9 is 'sh': it waits 4000, and reads for 1000. Its execve of 600 makes it 'job', which reads for 3000, waits 500,
 * and reads for 100.
 */
static const char story[] =
	"0 1000 7 sched_waking comm=sh pid=9 target_cpu=0\n"
	"0 5000 7 sched_switch prev_comm=x prev_pid=7 prev_state=1 next_comm=sh next_pid=9\n"
	"0 5100 9 sys_enter id=0\n"
	"0 6100 9 sys_exit id=0 ret=1\n"
	"0 6200 9 sys_enter id=59\n"
	"0 6500 9 task_rename pid=9 oldcomm=sh newcomm=job\n"
	"0 6800 9 sys_exit id=59 ret=0\n"
	"0 7000 9 sys_enter id=0\n"
	"0 10000 9 sys_exit id=0 ret=1\n"
	"0 11000 9 sched_switch prev_comm=job prev_pid=9 prev_state=1 next_comm=swapper/0 next_pid=0\n"
	"0 12000 0 sched_waking comm=job pid=9 target_cpu=0\n"
	"0 12500 0 sched_switch prev_comm=swapper/0 prev_pid=0 prev_state=0 next_comm=job next_pid=9\n"
	"0 12600 9 sys_enter id=0\n"
	"0 12700 9 sys_exit id=0 ret=1\n"
	"0 13000 9 sched_switch prev_comm=job prev_pid=9 prev_state=1 next_comm=swapper/0 next_pid=0\n";

TEST(a_name_selects_the_waits_and_runs_in_which_a_task_had_it)
{
	struct analysed analysed;

	if (!analysed_named(&analysed, &sched_analysis, "job", types, story))
		return;
	CHECK(analysed_is(&analysed, "tasks", "job", "run_ns", "6500"));
	CHECK(analysed_is(&analysed, "tasks", "job", "wait_ns", "500"));
	CHECK(analysed_is(&analysed, "tasks", "job", "wakeups", "1"));
	CHECK(analysed_is(&analysed, "tasks", "job", "delay_max_ns", "500"));
	CHECK(strstr(buf_str(&analysed.findings.notes),
		     "job-9 was called 'sh' until 0.000006500: this counts what it did as 'job'\n"
		     "under all names: --pid 9\n"));
	analysed_end(&analysed);
	if (!analysed_named(&analysed, &sched_analysis, "sh", types, story))
		return;
	/* The run in which it became 'job' is one of both. */
	CHECK(analysed_is(&analysed, "tasks", "sh", "run_ns", "6000"));
	CHECK(analysed_is(&analysed, "tasks", "sh", "wait_ns", "4000"));
	CHECK(analysed_is(&analysed, "tasks", "sh", "delay_max_ns", "4000"));
	CHECK(analysed_is(&analysed, "tasks", "sh", "voluntary", "1"));
	CHECK(strstr(buf_str(&analysed.findings.notes), "sh-9 was called 'job' from 0.000006500: "));
	analysed_end(&analysed);
}

TEST(a_name_selects_the_calls_in_which_a_task_had_it)
{
	struct analysed analysed;

	if (!analysed_named(&analysed, &syscalls_analysis, "job", types, story))
		return;
	CHECK(analysed_is(&analysed, "syscalls", "syscall_0", "calls", "2"));
	CHECK(analysed_is(&analysed, "syscalls", "syscall_0", "max_ns", "3000"));
	CHECK(analysed_is(&analysed, "syscalls", "syscall_59", "max_ns", "600"));
	analysed_end(&analysed);
	if (!analysed_named(&analysed, &syscalls_analysis, "sh", types, story))
		return;
	CHECK(analysed_is(&analysed, "syscalls", "syscall_0", "calls", "1"));
	CHECK(analysed_is(&analysed, "syscalls", "syscall_0", "max_ns", "1000"));
	CHECK(analysed_is(&analysed, "syscalls", "syscall_59", "max_ns", "600"));
	analysed_end(&analysed);
	/* Of both names everything counts, and no line says that something does not. */
	if (!analysed_named(&analysed, &syscalls_analysis, "*", types, story))
		return;
	CHECK(analysed_is(&analysed, "syscalls", "syscall_0", "calls", "3"));
	CHECK(!strstr(buf_str(&analysed.findings.notes), "called"));
	analysed_end(&analysed);
}
