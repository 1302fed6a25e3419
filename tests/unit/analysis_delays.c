// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/sched/sched.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

/* Delays and times off the CPU are told only if all that they consist of was recorded. */

TEST(sched_counts_no_delay_of_a_wakeup_whose_waking_is_lost)
{
	struct analysed analysed;

	/* CPU 1 loses the sched_waking of 9; that is known only later. */
	if (!analysed_begin(&analysed, &sched_analysis, NULL, NULL,
			    "1 1000 8 sched_waking pid=5 target_cpu=1\n"
			    "0 2000 9 sched_switch prev_pid=9 prev_state=1 next_pid=0\n"
			    "0 5000 0 sched_wakeup comm=nine pid=9 target_cpu=0\n"
			    "0 5200 0 sched_switch prev_pid=0 prev_state=0 next_comm=nine next_pid=9\n"
			    "1 lost 3\n"
			    "1 6000 8 sched_waking pid=6 target_cpu=1\n"
			    "0 7000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_pid=0\n"
			    "1 7500 8 sched_waking pid=9 target_cpu=0\n"
			    "0 7900 0 sched_wakeup comm=nine pid=9 target_cpu=0\n"
			    "0 8000 0 sched_switch prev_pid=0 prev_state=0 next_comm=nine next_pid=9\n"))
		return;
	CHECK(analysed_is(&analysed, "tasks", "nine", "delays", "1") &&
	      analysed_is(&analysed, "tasks", "nine", "delay_max_ns", "500"));
	CHECK(analysed_is(&analysed, "wakeups", "waking to running", "count", "1"));
	analysed_end(&analysed);
}

TEST(sched_counts_the_delay_of_a_task_that_was_woken_on_its_way_to_sleep)
{
	struct analysed analysed;

	/* The waker came before the switch, and waited for it. */
	if (!analysed_begin(&analysed, &sched_analysis, NULL, NULL,
			    "0 1000 9 sched_waking pid=5 target_cpu=1\n"
			    "1 1900 8 sched_waking pid=9 target_cpu=0\n"
			    "0 2000 9 sched_switch prev_pid=9 prev_state=1 next_pid=0\n"
			    "1 2300 8 sched_wakeup comm=nine pid=9 target_cpu=0\n"
			    "0 2400 0 sched_switch prev_pid=0 prev_state=0 next_comm=nine next_pid=9\n"))
		return;
	CHECK(analysed_is(&analysed, "tasks", "nine", "delay_max_ns", "100"));
	analysed_end(&analysed);
}

static void new_task(struct loom *loom)
{
	loom_type(loom, "sched", "sched_wakeup_new", "char comm[16]; pid_t pid; int prio; int target_cpu", "\"\"");
}

TEST(sched_takes_the_beginning_of_a_task_for_no_wakeup)
{
	struct analysed analysed;

	/* The new task 9 waits for 900 until it runs; when it has slept, a wakeup takes 200. */
	if (!analysed_begin(&analysed, &sched_analysis, NULL, new_task,
			    "0 1000 8 sched_waking pid=5 target_cpu=1\n"
			    "0 1050 8 sched_process_fork parent_pid=8 child_comm=nine child_pid=9\n"
			    "0 1100 8 sched_wakeup_new comm=nine pid=9 target_cpu=0\n"
			    "0 2000 8 sched_switch prev_comm=x prev_pid=8 next_comm=nine next_pid=9\n"
			    "0 3000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=x next_pid=8\n"
			    "0 5000 8 sched_waking comm=nine pid=9 target_cpu=0\n"
			    "0 5050 8 sched_wakeup comm=nine pid=9 target_cpu=0\n"
			    "0 5200 8 sched_switch prev_comm=x prev_pid=8 next_comm=nine next_pid=9\n"))
		return;
	CHECK(analysed_is(&analysed, "tasks", "nine", "wakeups", "1"));
	CHECK(analysed_is(&analysed, "tasks", "nine", "delays", "1") &&
	      analysed_is(&analysed, "tasks", "nine", "delay_max_ns", "200"));
	CHECK(analysed_is(&analysed, "tasks", "nine", "wait", "1100"));
	CHECK(analysed_is(&analysed, "wakeups", "waking to running", "count", "1") &&
	      analysed_is(&analysed, "wakeups", "queued to running", "max", "150"));
	analysed_end(&analysed);
}

TEST(sched_rt_counts_only_what_a_task_did_as_a_real_time_task)
{
	static const struct sched_options options = { .rt = true };
	struct analysed analysed;

	/*
	 * 9 is woken after 1000 and runs for 3000 with priority 120; then it sleeps, is made a real-time task, is woken
	 * after 29, runs for 400 and leaves with its old priority. 5 has always been one.
	 */
	if (!analysed_begin(
		    &analysed, &sched_analysis, &options, NULL,
		    "1 500 5 sched_switch prev_comm=five prev_pid=5 prev_prio=98 prev_state=1 next_pid=0\n"
		    "0 1000 8 sched_waking comm=nine pid=9 prio=120 target_cpu=0\n"
		    "0 2000 8 sched_switch prev_comm=x prev_pid=8 prev_prio=120 next_comm=nine next_pid=9 "
		    "next_prio=120\n"
		    "0 5000 9 sched_switch prev_comm=nine prev_pid=9 prev_prio=120 prev_state=1 next_comm=x next_pid=8 "
		    "next_prio=120\n"
		    "0 8000 8 sched_waking comm=nine pid=9 prio=10 target_cpu=0\n"
		    "0 8029 8 sched_switch prev_comm=x prev_pid=8 prev_prio=120 next_comm=nine next_pid=9 "
		    "next_prio=10\n"
		    "0 8429 9 sched_switch prev_comm=nine prev_pid=9 prev_prio=120 prev_state=1 next_comm=x next_pid=8 "
		    "next_prio=120\n"
		    "0 9000 8 sched_waking pid=6 target_cpu=1\n"))
		return;
	CHECK(analysed_is(&analysed, "tasks", "nine", "delays", "1") &&
	      analysed_is(&analysed, "tasks", "nine", "delay_max_ns", "29"));
	CHECK(analysed_is(&analysed, "tasks", "nine", "run", "400") &&
	      analysed_is(&analysed, "tasks", "nine", "sleep", "0") &&
	      analysed_is(&analysed, "tasks", "nine", "wait", "29"));
	CHECK(analysed_is(&analysed, "tasks", "nine", "wakeups", "1") &&
	      analysed_is(&analysed, "tasks", "nine", "prio", "10"));
	CHECK(analysed_is(&analysed, "tasks", "five", "sleep", "8500"));
	CHECK(analysed_is(&analysed, "wakeups", "waking to running", "count", "1"));
	analysed_end(&analysed);
}

TEST(sched_rt_counts_the_run_in_which_a_task_became_a_real_time_task)
{
	static const struct sched_options options = { .rt = true };
	struct analysed analysed;

	/* 9 runs for 300 as another task; then chrt gives it its priority in a run of 700 that a switch ends. */
	if (!analysed_begin(
		    &analysed, &sched_analysis, &options, NULL,
		    "0 1000 8 sched_switch prev_comm=x prev_pid=8 prev_prio=120 next_comm=chrt next_pid=9 "
		    "next_prio=120\n"
		    "0 1300 9 sched_switch prev_comm=chrt prev_pid=9 prev_prio=120 prev_state=1 next_comm=x next_pid=8 "
		    "next_prio=120\n"
		    "0 1800 8 sched_waking comm=chrt pid=9 prio=120 target_cpu=0\n"
		    "0 2000 8 sched_switch prev_comm=x prev_pid=8 prev_prio=120 next_comm=chrt next_pid=9 "
		    "next_prio=120\n"
		    "0 2700 9 sched_switch prev_comm=nine prev_pid=9 prev_prio=49 prev_state=1 next_comm=x next_pid=8 "
		    "next_prio=120\n"
		    "0 3000 8 sched_waking pid=6 target_cpu=1\n"))
		return;
	CHECK(analysed_is(&analysed, "tasks", "nine", "run", "700") &&
	      analysed_is(&analysed, "tasks", "nine", "wait", "0") &&
	      analysed_is(&analysed, "tasks", "nine", "sleep", "300"));
	CHECK(analysed_is(&analysed, "tasks", "nine", "voluntary", "1") &&
	      analysed_is(&analysed, "tasks", "nine", "prio", "49"));
	analysed_end(&analysed);
}

TEST(sched_prints_no_times_of_a_run_that_lost_events_hide)
{
	static const struct sched_options options = { .timehist = true };
	struct analysed analysed;

	/* 9 may have run in the gap; and its second run began in one. */
	if (!analysed_begin(&analysed, &sched_analysis, &options, NULL,
			    "0 1000 9 sched_waking pid=5 target_cpu=1\n"
			    "0 2000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_pid=0\n"
			    "0 lost 3\n"
			    "0 9000 0 sched_waking comm=nine pid=9 target_cpu=0\n"
			    "0 9500 0 sched_switch prev_pid=0 prev_state=0 next_comm=nine next_pid=9\n"
			    "0 9900 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_pid=0\n"
			    "0 lost 3\n"
			    "0 12000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_pid=0\n"))
		return;
	CHECK(analysed_prints(
		&analysed,
		"# TIME               CPU  TASK                 PID       OFF ms     DELAY ms       RUN ms  STATE\n"
		"       0.000002000     0  nine                   9            -            -            -  S\n"
		"       0.000009900     0  nine                   9            -     0.000500     0.000400  S\n"
		"       0.000012000     0  nine                   9            -            -            -  S\n"
		"\n"));
	analysed_end(&analysed);
}

TEST(sched_counts_no_cpu_that_idled_at_the_start_as_a_run_under_way)
{
	struct analysed analysed;

	/* At the start CPU 0 runs task 7, and CPU 1 idles. */
	if (!analysed_begin(&analysed, &sched_analysis, NULL, NULL,
			    "1 1000 0 sched_switch prev_comm=swapper/1 prev_pid=0 next_comm=ls next_pid=8\n"
			    "0 1100 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=swapper/0\n"
			    "0 1200 0 sched_switch prev_comm=swapper/0 prev_pid=0 next_comm=sh next_pid=7\n"
			    "0 1300 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=swapper/0\n"
			    "1 1400 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=swapper/1\n"))
		return;
	CHECK_STR(buf_str(&analysed.findings.cut), "1 run under way at the start");
	analysed_end(&analysed);
}
