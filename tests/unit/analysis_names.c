// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "lib/answers/sched/sched.h"
#include "lib/answers/syscalls/syscalls.h"
#include "lib/ground/base/buf.h"
#include "lib/meaning/follow/who.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

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

TEST(a_name_selects_the_waits_in_which_a_task_had_it_and_its_sums_have_each_ns_once)
{
	struct analysed analysed;

	if (!analysed_named(&analysed, &sched_analysis, "job", types, story))
		return;
	CHECK(analysed_is(&analysed, "tasks", "job", "run_ns", "5000"));
	CHECK(analysed_is(&analysed, "tasks", "job", "wait_ns", "500"));
	CHECK(analysed_is(&analysed, "tasks", "job", "wakeups", "1"));
	CHECK(analysed_is(&analysed, "tasks", "job", "delay_max_ns", "500"));
	CHECK(strstr(buf_str(&analysed.findings.notes),
		     "job-9 was called 'sh' until 0.000006500: this counts what it did as 'job'\n"
		     "under all names: --pid 9\n"));
	analysed_end(&analysed);
	if (!analysed_named(&analysed, &sched_analysis, "sh", types, story))
		return;
	/* The run in which it became 'job' is one of both: each has the part under its name. */
	CHECK(analysed_is(&analysed, "tasks", "sh", "run_ns", "1500"));
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
	CHECK(analysed_is(&analysed, "syscalls", "syscall_59", "total_ns", "300"));
	CHECK(analysed_is(&analysed, "syscalls", "syscall_59", "on_cpu_ns", "300"));
	analysed_end(&analysed);
	if (!analysed_named(&analysed, &syscalls_analysis, "sh", types, story))
		return;
	CHECK(analysed_is(&analysed, "syscalls", "syscall_0", "calls", "1"));
	CHECK(analysed_is(&analysed, "syscalls", "syscall_0", "max_ns", "1000"));
	CHECK(analysed_is(&analysed, "syscalls", "syscall_59", "max_ns", "600"));
	CHECK(analysed_is(&analysed, "syscalls", "syscall_59", "total_ns", "300"));
	CHECK(analysed_is(&analysed, "syscalls", "syscall_59", "on_cpu_ns", "300"));
	analysed_end(&analysed);
	/* Of both names everything counts, and no line says that something does not. */
	if (!analysed_named(&analysed, &syscalls_analysis, "*", types, story))
		return;
	CHECK(analysed_is(&analysed, "syscalls", "syscall_0", "calls", "3"));
	CHECK(!strstr(buf_str(&analysed.findings.notes), "called"));
	analysed_end(&analysed);
}

static void types_of_groups(struct loom *loom)
{
	loom_type(loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_type(loom, "task", "task_newtask", "pid_t pid; char comm[16]; u64 clone_flags", "\"\"");
	loom_type(loom, "cgroup", "cgroup_attach_task", "int dst_root; u64 dst_id; int pid; __data_loc char[] dst_path",
		  "\"\"");
	loom_setting(loom, "weft/mode", "record");
	loom_setting(loom, "weft/cgroups", "0 1 /\n0 20 /system.slice/a.service\n0 30 /system.slice/b.service\n");
	loom_setting(loom, "weft/tasks", "9 9 1 50 0 9 20\tjob\t/usr/bin/job\n7 7 1 50 0 7 1\tx\t/usr/bin/x\n");
	loom_setting(loom, "set_event", "task:task_newtask\ncgroup:cgroup_attach_task\nraw_syscalls:sys_enter\n");
}

/* Task 9 of a.service comes into b.service while it waits, reads, and is moved back while it sleeps. */
static const char moves[] = "0 1000 7 sched_waking comm=job pid=9 target_cpu=0\n"
			    "0 4000 7 cgroup_attach_task dst_id=30 pid=9 dst_path=/system.slice/b.service\n"
			    "0 5000 7 sched_switch prev_comm=x prev_pid=7 prev_state=1 next_comm=job next_pid=9\n"
			    "0 5100 9 sys_enter id=0\n"
			    "0 6100 9 sys_exit id=0 ret=1\n"
			    "0 8000 9 sched_switch prev_comm=job prev_pid=9 prev_state=1 next_comm=x next_pid=7\n"
			    "0 8600 7 cgroup_attach_task dst_id=20 pid=9 dst_path=/system.slice/a.service\n"
			    "0 9000 7 sched_waking comm=job pid=9 target_cpu=0\n"
			    "0 9700 7 sched_switch prev_comm=x prev_pid=7 prev_state=1 next_comm=job next_pid=9\n"
			    "0 9800 9 sys_enter id=0\n"
			    "0 9900 9 sys_exit id=0 ret=1\n"
			    "0 10000 9 sched_switch prev_comm=job prev_pid=9 prev_state=1 next_comm=x next_pid=7\n";

TEST(a_unit_selects_the_time_in_which_a_task_belonged_to_it)
{
	static const struct who_want a = { WHO_UNIT, "a" }, b = { WHO_UNIT, "b" };
	struct analysed analysed;

	if (!analysed_wanted(&analysed, &sched_analysis, &b, types_of_groups, moves))
		return;
	CHECK(analysed_is(&analysed, "tasks", "job", "run_ns", "3000"));
	CHECK(analysed_is(&analysed, "tasks", "job", "wait_ns", "1000"));
	CHECK(analysed_is(&analysed, "tasks", "job", "sleep_ns", "600"));
	analysed_end(&analysed);
	if (!analysed_wanted(&analysed, &sched_analysis, &a, types_of_groups, moves))
		return;
	CHECK(analysed_is(&analysed, "tasks", "job", "run_ns", "300"));
	CHECK(analysed_is(&analysed, "tasks", "job", "wait_ns", "3700"));
	CHECK(analysed_is(&analysed, "tasks", "job", "sleep_ns", "400"));
	analysed_end(&analysed);
	if (!analysed_wanted(&analysed, &syscalls_analysis, &b, types_of_groups, moves))
		return;
	CHECK(analysed_is(&analysed, "syscalls", "syscall_0", "total_ns", "1000"));
	analysed_end(&analysed);
}

static void types_of_process(struct loom *loom)
{
	loom_type(loom, "sched", "sched_process_exec", "__data_loc char[] filename; pid_t pid; pid_t old_pid", "\"\"");
	loom_type(loom, "task", "task_newtask", "pid_t pid; char comm[16]; u64 clone_flags", "\"\"");
	loom_setting(loom, "weft/mode", "record");
	loom_setting(loom, "weft/tasks", "9 9 1 50 0 9 20\tapp\t/usr/bin/app\n7 7 1 50 0 7 1\tx\t/usr/bin/x\n");
}

static void types_of_forks(struct loom *loom)
{
	types_of_process(loom);
	loom_setting(loom, "set_event", "sched:sched_switch\nsched:sched_process_fork\nsched:sched_process_exec\n");
}

static void types_of_threads(struct loom *loom)
{
	types_of_process(loom);
	loom_setting(loom, "set_event", "sched:sched_switch\ntask:task_newtask\nsched:sched_process_exec\n");
}

/* The end of both: a switch to the task that was born, and back. */
#define RUNS                                                                                      \
	"0 3000 9 sched_switch prev_comm=app prev_pid=9 prev_state=1 next_comm=app next_pid=10\n" \
	"0 5000 10 sched_switch prev_comm=app prev_pid=10 prev_state=1 next_comm=x next_pid=7\n"

TEST(a_choice_of_a_process_says_which_new_tasks_it_leaves_out)
{
	static const struct who_want app = { WHO_PROCESS, "app" };
	struct analysed analysed;

	/* A fork alone does not say whether 10 is a thread. 11 is a process: it executes a program. */
	if (!analysed_wanted(&analysed, &sched_analysis, &app, types_of_forks,
			     "0 1000 9 sched_process_fork parent_comm=app parent_pid=9 child_comm=app child_pid=10\n"
			     "0 1100 9 sched_process_fork parent_comm=app parent_pid=9 child_comm=app child_pid=11\n"
			     "0 1200 11 sched_process_exec filename=/bin/y pid=11 old_pid=11\n" RUNS))
		return;
	CHECK(strstr(buf_str(&analysed.findings.missing),
		     "-e task:task_newtask (the process of 1 new task, left out by --process)"));
	analysed_end(&analysed);
	if (!analysed_wanted(&analysed, &sched_analysis, &app, types_of_threads,
			     "0 1000 9 task_newtask pid=10 comm=app clone_flags=0x3d0f00\n" RUNS))
		return;
	CHECK(!strstr(buf_str(&analysed.findings.missing), "task_newtask"));
	CHECK(analysed_is(&analysed, "tasks", "app", "run_ns", "2000"));
	analysed_end(&analysed);
	/* Nobody asks for a process. */
	if (!analysed_begin(
		    &analysed, &sched_analysis, NULL, types_of_forks,
		    "0 1000 9 sched_process_fork parent_comm=app parent_pid=9 child_comm=app child_pid=10\n" RUNS))
		return;
	CHECK(!strstr(buf_str(&analysed.findings.missing), "task_newtask"));
	analysed_end(&analysed);
	/* Without events of births any task may be a new one. */
	if (!analysed_wanted(&analysed, &sched_analysis, &app, types_of_process, RUNS))
		return;
	CHECK(!strstr(buf_str(&analysed.findings.missing), "task_newtask"));
	analysed_end(&analysed);
}

TEST(rows_of_units_have_each_ns_of_their_tasks_once)
{
	static const struct sched_options by_unit = { .rows = { .by = 1 + WHO_UNIT } };
	static const struct syscalls_options calls = { .rows = { .by = SYSCALLS_BY_UNIT } };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &sched_analysis, &by_unit, types_of_groups, moves))
		return;
	CHECK(analysed_is(&analysed, "groups", "b.service", "run_ns", "3000"));
	CHECK(analysed_is(&analysed, "groups", "b.service", "wait_ns", "1000"));
	CHECK(analysed_is(&analysed, "groups", "b.service", "sleep_ns", "600"));
	CHECK(analysed_is(&analysed, "groups", "b.service", "delays", "1"));
	CHECK(analysed_is(&analysed, "groups", "a.service", "run_ns", "300"));
	CHECK(analysed_is(&analysed, "groups", "a.service", "wait_ns", "3700"));
	CHECK(analysed_is(&analysed, "groups", "a.service", "sleep_ns", "400"));
	CHECK(analysed_is(&analysed, "groups", "(none)", "run_ns", "5700"));
	analysed_end(&analysed);
	if (!analysed_begin(&analysed, &syscalls_analysis, &calls, types_of_groups, moves))
		return;
	CHECK(analysed_is(&analysed, "syscalls", "b.service", "total_ns", "1000"));
	CHECK(analysed_is(&analysed, "syscalls", "a.service", "total_ns", "100"));
	analysed_end(&analysed);
}
