// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "lib/answers/tasks/tasks.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "task", "task_newtask", "pid_t pid; char comm[16]; u64 clone_flags", "\"\"");
	loom_type(loom, "task", "task_rename", "pid_t pid; char oldcomm[16]; char newcomm[16]", "\"\"");
	loom_type(loom, "sched", "sched_process_exec", "__data_loc char[] filename; pid_t pid; pid_t old_pid", "\"\"");
	loom_type(loom, "sched", "sched_process_exit", "char comm[16]; pid_t pid; int prio", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_exit_group", "int __syscall_nr; u64 error_code", "\"\"");
	loom_type(loom, "syscalls", "sys_enter_exit", "int __syscall_nr; u64 error_code", "\"\"");
	loom_type(loom, "signal", "signal_deliver", "int sig; u64 sa_handler", "\"\"");
	loom_task(loom, 7, "make");
}

static bool is(struct analysed *analysed, const char *row, const char *column, const char *value)
{
	return analysed_is(analysed, "tasks", row, column, value);
}

/* Both events of a fork tell of one task. */
TEST(tasks_knows_who_started_a_task_what_it_executed_and_how_long_it_lived)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &tasks_analysis, NULL, types,
			    "0 1000 7 task_newtask pid=8 comm=make clone_flags=0x01200011\n"
			    "0 1001 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=make child_pid=8\n"
			    "1 1500 8 task_rename pid=8 oldcomm=make newcomm=sh\n"
			    "1 1510 8 sched_process_exec filename=/bin/sh pid=8 old_pid=8\n"
			    "1 1600 8 task_rename pid=8 oldcomm=sh newcomm=mine\n"
			    "1 1700 8 task_rename pid=8 oldcomm=mine newcomm=cc\n"
			    "1 1710 8 sched_process_exec filename=/usr/bin/cc pid=8 old_pid=8\n"
			    "1 3990 8 sys_enter_exit_group error_code=3\n"
			    "1 4000 8 sched_process_exit comm=cc pid=8\n"))
		return;
	CHECK(is(&analysed, "cc", "pid", "8") && is(&analysed, "cc", "parent_comm", "make") &&
	      is(&analysed, "cc", "parent_pid", "7"));
	CHECK(is(&analysed, "cc", "began", "0.000001000") && is(&analysed, "cc", "ended", "0.000004000") &&
	      is(&analysed, "cc", "life_ns", "3000"));
	CHECK(is(&analysed, "cc", "program", "/usr/bin/cc") && is(&analysed, "cc", "execs", "2") &&
	      is(&analysed, "cc", "renames", "1"));
	CHECK(is(&analysed, "cc", "kind", "process") && is(&analysed, "cc", "exit_status", "3") &&
	      is(&analysed, "cc", "exit_signal", "-"));
	/* Without sched_switch it is not known what it ran. */
	CHECK(is(&analysed, "cc", "run_ns", "-") && is(&analysed, "cc", "children", "0"));
	CHECK_STR(buf_str(&analysed.findings.notes), "1 task began, 1 ended, 2 execs of 2 programs\n");
	REQUIRE(analysed.findings.nr_worst == 1);
	CHECK(analysed.findings.worst[0].from == 1000 && analysed.findings.worst[0].to == 4000 &&
	      analysed.findings.worst[0].pid == 8);
	CHECK(!analysed.findings.cut.len && !analysed.findings.broken.len);
	analysed_end(&analysed);
}

static void types_by_number(struct loom *loom)
{
	types(loom);
	loom_type(loom, "raw_syscalls", "sys_enter", "long id; u64 args", "\"\"");
	loom->uname = "Linux loom 6.12.0 x86_64";
}

/* 231 is exit_group on x86_64, and another call of a 32-bit program, which goes on. */
TEST(tasks_takes_the_status_from_the_numbers_of_calls)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &tasks_analysis, NULL, types_by_number,
			    "0 1000 7 task_newtask pid=8 comm=wide clone_flags=0x01200011\n"
			    "0 1100 7 task_newtask pid=9 comm=narrow clone_flags=0x01200011\n"
			    "1 1200 8 sys_enter id=231 args=3\n"
			    "1 1300 8 sched_process_exit comm=wide pid=8\n"
			    "0 1400 9 sys_enter id=231 args=4\n"
			    "0 1500 9 sys_enter id=252 args=5\n"
			    "0 1600 9 sched_process_exit comm=narrow pid=9\n"))
		return;
	CHECK(is(&analysed, "wide", "exit_status", "3"));
	CHECK(is(&analysed, "narrow", "exit_status", "-"));
	CHECK(!strstr(buf_str(&analysed.findings.missing), "exit_group"));
	analysed_end(&analysed);
}

TEST(tasks_gives_each_task_with_the_same_pid_a_row)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &tasks_analysis, NULL, types,
			    "0 1000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=one child_pid=8\n"
			    "1 2000 8 sched_process_exit comm=one pid=8\n"
			    "0 3000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=two child_pid=8\n"
			    "1 7000 8 sched_process_exit comm=two pid=8\n"
			    "0 8000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=three child_pid=8\n"
			    "0 9000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=four child_pid=8\n"))
		return;
	CHECK(is(&analysed, "one", "life_ns", "1000") && is(&analysed, "two", "life_ns", "4000"));
	/* The end of the third one is missing; the fourth one is alive. */
	CHECK(is(&analysed, "three", "ended", "-") && is(&analysed, "three", "end", "unknown"));
	CHECK(is(&analysed, "four", "ended", "-") && is(&analysed, "four", "end", "alive"));
	CHECK_STR(buf_str(&analysed.findings.notes),
		  "4 tasks began, 2 ended, 0 execs of 0 programs; make-7 started the most: 4\n"
		  "1 task ended without an event that says when\n");
	CHECK_STR(buf_str(&analysed.findings.cut), "1 task alive at the end");
	analysed_end(&analysed);
}

/* Thread 9 ends the process: 8 is killed for it. Thread 12 executes a program, and gets the PID of its process. */
TEST(tasks_tells_threads_from_processes_and_how_a_process_ended)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &tasks_analysis, NULL, types,
			    "0 1000 7 task_newtask pid=8 comm=first clone_flags=0x01200011\n"
			    "0 1100 8 task_newtask pid=9 comm=second clone_flags=0x003d0f00\n"
			    "1 1200 9 sys_enter_exit_group error_code=5\n"
			    "1 1210 9 sched_process_exit comm=second pid=9\n"
			    "0 1220 8 signal_deliver sig=9\n"
			    "0 1230 8 sched_process_exit comm=first pid=8\n"
			    "0 1300 7 task_newtask pid=10 comm=killed clone_flags=0x01200011\n"
			    "0 1310 10 signal_deliver sig=15 sa_handler=0x5555\n"
			    "0 1320 10 signal_deliver sig=17\n"
			    "0 1330 10 signal_deliver sig=11\n"
			    "0 1340 10 sched_process_exit comm=killed pid=10\n"
			    "0 1400 7 task_newtask pid=11 comm=leader clone_flags=0x01200011\n"
			    "0 1410 11 task_newtask pid=12 comm=worker clone_flags=0x003d0f00\n"
			    "0 1420 11 signal_deliver sig=9\n"
			    "0 1430 11 sched_process_exit comm=leader pid=11\n"
			    "0 1440 11 task_rename pid=11 oldcomm=worker newcomm=ls\n"
			    "0 1450 11 sched_process_exec filename=/bin/ls pid=11 old_pid=12\n"
			    "0 1460 11 sys_enter_exit_group error_code=0\n"
			    "0 1470 11 sched_process_exit comm=ls pid=11\n"))
		return;
	CHECK(is(&analysed, "first", "kind", "process") && is(&analysed, "first", "exit_status", "5") &&
	      is(&analysed, "first", "exit_signal", "-"));
	CHECK(is(&analysed, "second", "kind", "thread") && is(&analysed, "second", "exit_status", "5"));
	CHECK(is(&analysed, "killed", "exit_signal", "11") && is(&analysed, "killed", "exit_status", "-"));
	CHECK(is(&analysed, "ls", "began", "0.000001400") && is(&analysed, "ls", "ended", "0.000001470") &&
	      is(&analysed, "ls", "exit_status", "0"));
	CHECK(is(&analysed, "ls", "execs", "1") && is(&analysed, "ls", "renames", "0"));
	CHECK(is(&analysed, "worker", "ended", "0.000001450") && is(&analysed, "worker", "exit_status", "-"));
	CHECK(analysed.findings.items[0].table.nr_items == 5 * analysed.findings.items[0].table.nr_columns);
	analysed_end(&analysed);
}

TEST(tasks_counts_what_the_start_the_end_and_lost_events_hide)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &tasks_analysis, NULL, types,
			    "0 1000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=one child_pid=8\n"
			    "1 1500 9 sched_process_exit comm=old pid=9\n"
			    "0 1600 8 sched_process_exec filename=/bin/one pid=8 old_pid=8\n"
			    "1 lost 3\n"
			    "1 2000 1 sched_process_fork parent_comm=init parent_pid=1 child_comm=two child_pid=10\n"
			    "0 3000 8 sched_process_exit comm=one pid=8\n"
			    "0 4000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=late child_pid=11\n"
			    "1 lost 3\n"
			    "1 5000 10 task_rename pid=10 newcomm=two\n"))
		return;
	CHECK_STR(buf_str(&analysed.findings.cut), "1 task that began before the start, 2 tasks alive at the end");
	/* The program of `one` may have executed another one. `late` may have ended. */
	CHECK_STR(buf_str(&analysed.findings.broken), "1 run of programs, 1 task that may have ended, 2 gaps");
	CHECK(is(&analysed, "old", "life_ns", "500") && is(&analysed, "old", "began", "-") &&
	      is(&analysed, "two", "life_ns", "3000"));
	analysed_end(&analysed);
}

TEST(tasks_does_not_call_a_task_alive_whose_end_was_not_recorded)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &tasks_analysis, NULL, types,
			    "0 1000 8 sched_process_exec filename=/bin/one pid=8 old_pid=8\n"
			    "0 3000 9 sched_process_exec filename=/bin/two pid=9 old_pid=9\n"))
		return;
	CHECK(is(&analysed, "one", "end", "unknown") && is(&analysed, "one", "program", "/bin/one"));
	CHECK_STR(buf_str(&analysed.findings.cut), "2 tasks that began before the start");
	CHECK(strstr(buf_str(&analysed.findings.missing), "-e sched:sched_process_exit (when a task ended)"));
	analysed_end(&analysed);
}

static void only_seven(struct loom *loom)
{
	types(loom);
	loom_setting(loom, "set_event", "sched:sched_switch\nsched:sched_process_fork\nsched:sched_process_exit\n");
	loom_setting(loom, "weft/event_pids", "7\n");
}

TEST(tasks_does_not_call_a_task_alive_that_a_pid_filter_left_out)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &tasks_analysis, NULL, only_seven,
			    "0 1000 7 sched_switch prev_comm=make prev_pid=7 prev_state=0 next_comm=nine next_pid=9\n"
			    "0 2000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=0 next_comm=make next_pid=7\n"
			    "0 3000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=cc child_pid=8\n"))
		return;
	CHECK(is(&analysed, "cc", "end", "unknown"));
	CHECK(!strstr(buf_str(&analysed.findings.cut), "2 tasks alive at the end"));
	analysed_end(&analysed);
}

/* From 1100 to 1600, and from 2600 to its end at 2700: what it runs until its last switch is no part of its life. */
TEST(tasks_has_the_time_that_each_task_ran)
{
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &tasks_analysis, NULL, types,
		    "0 1000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=one child_pid=8\n"
		    "0 1100 7 sched_switch prev_comm=make prev_pid=7 prev_state=1 next_comm=one next_pid=8\n"
		    "0 1400 8 sched_process_exec filename=/bin/one pid=8 old_pid=8\n"
		    "0 1600 8 sched_switch prev_comm=one prev_pid=8 prev_state=1 next_comm=swapper/0 next_pid=0\n"
		    "0 2600 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=one next_pid=8\n"
		    "0 2700 8 sched_process_exit comm=one pid=8\n"
		    "0 2750 8 sched_switch prev_comm=one prev_pid=8 prev_state=128 next_comm=make next_pid=7\n"))
		return;
	CHECK(is(&analysed, "one", "run_ns", "600") && is(&analysed, "one", "life_ns", "1700"));
	analysed_end(&analysed);
}

/* Without sched_process_exit: 8 left its CPU for good at 2750, 9 sleeps at the end. */
static const char *const switches =
	"0 1000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=sh child_pid=8\n"
	"0 1050 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=sh child_pid=9\n"
	"0 1100 7 sched_switch prev_comm=make prev_pid=7 prev_state=1 next_comm=sh next_pid=8\n"
	"0 1400 8 sched_process_exec filename=/bin/one pid=8 old_pid=8\n"
	"0 2750 8 sched_switch prev_comm=one prev_pid=8 prev_state=32 next_comm=sh next_pid=9\n"
	"0 2800 9 sched_process_exec filename=/bin/two pid=9 old_pid=9\n"
	"0 3000 9 sched_switch prev_comm=two prev_pid=9 prev_state=1 next_comm=make next_pid=7\n";

TEST(tasks_takes_the_last_switch_of_a_task_for_its_end_if_its_exit_was_not_recorded)
{
	const struct tasks_options programs = { .rows.by = TASKS_BY_PROGRAM };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &tasks_analysis, NULL, types, switches))
		return;
	CHECK(is(&analysed, "one", "ended", "0.000002750") && is(&analysed, "one", "end", "ended") &&
	      is(&analysed, "one", "life_ns", "1750") && is(&analysed, "one", "run_ns", "1650"));
	CHECK(is(&analysed, "two", "ended", "-") && is(&analysed, "two", "end", "alive"));
	CHECK(strstr(buf_str(&analysed.findings.notes), "2 tasks began, 1 ended, 2 execs"));
	CHECK(strstr(buf_str(&analysed.findings.notes), "sched_process_exit was not recorded"));
	analysed_end(&analysed);
	if (!analysed_begin(&analysed, &tasks_analysis, &programs, types, switches))
		return;
	CHECK(analysed_is(&analysed, "programs", "/bin/one", "total_ns", "1350") &&
	      analysed_is(&analysed, "programs", "/bin/one", "running", "0"));
	CHECK(analysed_is(&analysed, "programs", "/bin/two", "total_ns", "0") &&
	      analysed_is(&analysed, "programs", "/bin/two", "running", "1"));
	analysed_end(&analysed);
}

TEST(tasks_counts_no_ends_of_which_no_event_tells)
{
	const struct tasks_options programs = { .rows.by = TASKS_BY_PROGRAM }, parents = { .rows.by = TASKS_BY_PARENT };
	const char *script = "0 1000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=sh child_pid=8\n"
			     "0 1400 8 sched_process_exec filename=/bin/one pid=8 old_pid=8\n";
	struct analysed analysed;

	if (!analysed_begin(&analysed, &tasks_analysis, &programs, types, script))
		return;
	CHECK(analysed_is(&analysed, "programs", "/bin/one", "runs", "1") &&
	      analysed_is(&analysed, "programs", "/bin/one", "running", "-") &&
	      analysed_is(&analysed, "programs", "/bin/one", "total_ns", "-"));
	CHECK(strstr(buf_str(&analysed.findings.notes), "1 task began, an unknown number ended"));
	analysed_end(&analysed);
	if (!analysed_begin(&analysed, &tasks_analysis, &parents, types, script))
		return;
	CHECK(analysed_is(&analysed, "parents", "make", "started", "1") &&
	      analysed_is(&analysed, "parents", "make", "ended", "-") &&
	      analysed_is(&analysed, "parents", "make", "total_ns", "-"));
	analysed_end(&analysed);
}

static const char *const family =
	"0 1000 7 sched_process_fork parent_comm=make parent_pid=7 child_comm=sh child_pid=8\n"
	"0 1010 8 sched_process_exec filename=/bin/sh pid=8 old_pid=8\n"
	"0 1100 1 sched_process_fork parent_comm=init parent_pid=1 child_comm=cron child_pid=20\n"
	"1 1200 8 sched_process_fork parent_comm=sh parent_pid=8 child_comm=sh child_pid=9\n"
	"1 1210 9 sched_process_exec filename=/bin/ls pid=9 old_pid=9\n"
	"1 1300 8 sched_process_fork parent_comm=sh parent_pid=8 child_comm=sh child_pid=10\n"
	"1 1310 10 sched_process_exec filename=/bin/ls pid=10 old_pid=10\n"
	"1 1710 9 sched_process_exit comm=ls pid=9\n"
	"1 1910 10 sched_process_exit comm=ls2 pid=10\n"
	"0 2010 8 sched_process_exit comm=sh pid=8\n";

TEST(tasks_has_a_tree_of_parents_and_children)
{
	static const char *const want[] = { "make", "sh", "ls", "ls2", "init", "cron" };
	const struct tasks_options options = { .tree = true };
	struct analysed analysed;
	const struct table *table;

	if (!analysed_begin(&analysed, &tasks_analysis, &options, types, family))
		return;
	table = &analysed.findings.items[0].table;
	REQUIRE(table->nr_items == array_size(want) * table->nr_columns);
	for (size_t row = 0; row < array_size(want); row++)
		CHECK_STR(table_text_at(table, row, (size_t)table_column_named(table, "comm")), want[row]);
	CHECK_STR(table_text_at(table, 2, 0), "    ls");
	CHECK(is(&analysed, "ls", "depth", "2") && is(&analysed, "make", "depth", "0"));
	/* Only its PID and its name are known. */
	CHECK(is(&analysed, "make", "pid", "7") && is(&analysed, "make", "life_ns", "-") &&
	      is(&analysed, "make", "children", "1"));
	analysed_end(&analysed);
}

TEST(tasks_counts_runs_of_each_program_and_what_each_parent_started)
{
	const struct tasks_options programs = { .rows.by = TASKS_BY_PROGRAM }, parents = { .rows.by = TASKS_BY_PARENT };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &tasks_analysis, &programs, types, family))
		return;
	CHECK(analysed_is(&analysed, "programs", "/bin/ls", "runs", "2") &&
	      analysed_is(&analysed, "programs", "/bin/ls", "total_ns", "1100") &&
	      analysed_is(&analysed, "programs", "/bin/ls", "max_at", "0.000001910"));
	CHECK(analysed_is(&analysed, "programs", "/bin/sh", "total_ns", "1000") &&
	      analysed_is(&analysed, "programs", "/bin/sh", "failed", "-"));
	analysed_end(&analysed);
	if (!analysed_begin(&analysed, &tasks_analysis, &parents, types, family))
		return;
	CHECK(analysed_is(&analysed, "parents", "sh", "started", "2") &&
	      analysed_is(&analysed, "parents", "sh", "total_ns", "1120") &&
	      analysed_is(&analysed, "parents", "init", "ended", "0"));
	analysed_end(&analysed);
}

/* A child has its parent's name until it executes another program. */
TEST(tasks_counts_the_programs_of_the_tasks_that_had_the_name)
{
	struct analysed analysed;

	if (!analysed_named(&analysed, &tasks_analysis, "sh", types, family))
		return;
	CHECK(is(&analysed, "ls", "program", "/bin/ls") && is(&analysed, "sh", "program", "/bin/sh"));
	CHECK(!strncmp(buf_str(&analysed.findings.notes), "3 tasks began, 3 ended, 3 execs of 2 programs;", 46));
	analysed_end(&analysed);
}

/* weft stream --summary: what began in an earlier interval is not known in this one. */
TEST(tasks_of_an_interval_are_those_of_its_events)
{
	struct analysed analysed;

	if (!analysed_from(&analysed, &tasks_analysis, types, family, 1500))
		return;
	CHECK(is(&analysed, "ls", "began", "-") && is(&analysed, "ls", "life_ns", "210") &&
	      is(&analysed, "sh", "ended", "0.000002010"));
	CHECK_STR(buf_str(&analysed.findings.notes), "0 tasks began, 3 ended, 0 execs of 0 programs\n");
	analysed_end(&analysed);
}
