// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "lib/answers/latency/latency.h"
#include "lib/ground/base/buf.h"
#include "lib/meaning/follow/who.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

/* What a woken task waited for: each part of a delay has the time that the script gave it. */

static void more_types(struct loom *loom)
{
	loom_type(loom, "sched", "sched_migrate_task", "char comm[16]; pid_t pid; int prio; int orig_cpu; int dest_cpu",
		  "\"\"");
}

TEST(latency_counts_the_task_before_until_it_leaves_the_cpu)
{
	struct analysed analysed;

	/* 8 leaves the CPU after 100. Its second run, of which an event has need-resched, is that of any other task. */
	if (!analysed_begin(&analysed, &latency_analysis, NULL, NULL,
			    "0 9000 8 sched_waking pid=5 target_cpu=1\n"
			    "0 10000 8 sched_waking comm=late pid=7 target_cpu=0\n"
			    "0 10000 8 sched_wakeup comm=late pid=7 target_cpu=0\n"
			    "0 10100 8 sched_switch prev_comm=eight prev_pid=8 next_comm=nine next_pid=9\n"
			    "0 10400 9 sched_switch prev_comm=nine prev_pid=9 next_comm=eight next_pid=8\n"
			    "0 10500 8 sched_waking pid=5 target_cpu=1 common_flags=4\n"
			    "0 10900 8 sched_switch prev_comm=eight prev_pid=8 next_comm=late next_pid=7\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "900", "before_ns", "100"));
	CHECK(analysed_is(&analysed, "wakeups", "900", "resched_ns", "0"));
	CHECK(analysed_is(&analysed, "wakeups", "900", "others_ns", "800"));
	CHECK(analysed_is(&analysed, "wakeups", "900", "cause", "tasks that ran first: eight-8 (RT 99)"));
	analysed_end(&analysed);
}

TEST(latency_remembers_need_resched_through_an_interrupt)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, NULL,
			    "0 10000 8 sched_waking comm=late pid=7 target_cpu=0\n"
			    "0 10000 8 sched_wakeup comm=late pid=7 target_cpu=0\n"
			    "0 10100 8 sched_waking pid=5 target_cpu=1 common_flags=4\n"
			    "0 10200 8 irq_handler_entry irq=1 common_flags=4\n"
			    "0 10300 8 irq_handler_exit irq=1 common_flags=4\n"
			    "0 10600 8 sched_switch prev_comm=eight prev_pid=8 next_comm=late next_pid=7\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "600", "before_ns", "100"));
	CHECK(analysed_is(&analysed, "wakeups", "600", "resched_ns", "400"));
	CHECK(analysed_is(&analysed, "wakeups", "600", "irq_ns", "100"));
	analysed_end(&analysed);
}

TEST(latency_learns_nothing_of_need_resched_from_an_event_of_a_uprobe)
{
	struct analysed analysed;

	/* The kernel writes all bits there; 8 is to go from 10400 on. */
	if (!analysed_begin(&analysed, &latency_analysis, NULL, NULL,
			    "0 10000 8 sched_waking comm=late pid=7 target_cpu=0\n"
			    "0 10000 8 sched_wakeup comm=late pid=7 target_cpu=0\n"
			    "0 10100 8 sched_waking pid=5 target_cpu=1 common_flags=255 common_preempt_count=255\n"
			    "0 10400 8 sched_waking pid=6 target_cpu=1 common_flags=4\n"
			    "0 10500 8 sched_waking pid=5 target_cpu=1 common_flags=255 common_preempt_count=255\n"
			    "0 10900 8 sched_switch prev_comm=eight prev_pid=8 next_comm=late next_pid=7\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "900", "before_ns", "400"));
	CHECK(analysed_is(&analysed, "wakeups", "900", "resched_ns", "500"));
	analysed_end(&analysed);
}

TEST(latency_forgets_need_resched_when_the_same_task_was_chosen_again)
{
	struct analysed analysed;

	/* The interrupt at 10100 is that of 8, which was to go at 9000 and was chosen again before 9500. */
	if (!analysed_begin(&analysed, &latency_analysis, NULL, NULL,
			    "0 9000 8 sched_waking pid=5 target_cpu=1 common_flags=4\n"
			    "0 9500 8 sched_waking pid=6 target_cpu=1\n"
			    "0 10000 8 sched_waking comm=late pid=7 target_cpu=0\n"
			    "0 10000 8 sched_wakeup comm=late pid=7 target_cpu=0\n"
			    "0 10100 8 irq_handler_entry irq=1 common_flags=8\n"
			    "0 10200 8 irq_handler_exit irq=1 common_flags=8\n"
			    "0 10300 8 sched_waking pid=4 target_cpu=1 common_flags=4\n"
			    "0 10400 8 sched_waking pid=3 target_cpu=1\n"
			    "0 10700 8 sched_waking pid=2 target_cpu=1 common_flags=4\n"
			    "0 10900 8 sched_switch prev_comm=eight prev_pid=8 next_comm=late next_pid=7\n"))
		return;
	/* From 10300 to 10400, and from 10700 on. */
	CHECK(analysed_is(&analysed, "wakeups", "900", "before_ns", "500"));
	CHECK(analysed_is(&analysed, "wakeups", "900", "resched_ns", "300"));
	CHECK(analysed_is(&analysed, "wakeups", "900", "irq_ns", "100"));
	analysed_end(&analysed);
}

static void new_tasks(struct loom *loom)
{
	loom_type(loom, "sched", "sched_wakeup_new", "char comm[16]; pid_t pid; int prio; int target_cpu", "\"\"");
}

/* 7 is called sh when it runs for the first time, and cmp in the end; 8 has slept before. */
TEST(latency_tells_the_first_run_of_a_new_task_apart_and_names_a_task_as_of_then)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, new_tasks,
			    "0 9000 9 sched_wakeup_new comm=sh pid=7 target_cpu=0\n"
			    "0 9500 9 sched_switch prev_comm=nine prev_pid=9 next_comm=sh next_pid=7\n"
			    "0 9600 7 sched_switch prev_comm=cmp prev_pid=7 next_comm=nine next_pid=9\n"
			    "0 9700 9 sched_waking comm=eight pid=8 target_cpu=0\n"
			    "0 9700 9 sched_wakeup comm=eight pid=8 target_cpu=0\n"
			    "0 9900 9 sched_switch prev_comm=nine prev_pid=9 next_comm=eight next_pid=8\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "500", "comm", "sh"));
	CHECK(analysed_is(&analysed, "wakeups", "200", "comm", "eight"));
	REQUIRE(analysed.findings.nr_worst == 1);
	CHECK_STR(analysed.findings.worst[0].what, "delay of a wakeup as a new task");
	CHECK_STR(analysed.findings.worst[0].comm, "sh");
	CHECK(strstr(buf_str(&analysed.findings.notes), "looked at: 2 wakeups, 1 of new tasks\n"));
	analysed_end(&analysed);
}

TEST(latency_names_the_task_with_the_largest_sum)
{
	struct analysed analysed;

	/* 9 has the longest run, and 6 three runs that are longer together. */
	if (!analysed_begin(&analysed, &latency_analysis, NULL, NULL,
			    "0 10000 8 sched_waking comm=late pid=7 target_cpu=0\n"
			    "0 10000 8 sched_wakeup comm=late pid=7 target_cpu=0\n"
			    "0 10010 8 sched_switch prev_comm=eight prev_pid=8 next_comm=six next_pid=6\n"
			    "0 10210 6 sched_switch prev_comm=six prev_pid=6 next_comm=nine next_pid=9\n"
			    "0 10610 9 sched_switch prev_comm=nine prev_pid=9 next_comm=six next_pid=6\n"
			    "0 10810 6 sched_switch prev_comm=six prev_pid=6 next_comm=eight next_pid=8\n"
			    "0 10820 8 sched_switch prev_comm=eight prev_pid=8 next_comm=six next_pid=6\n"
			    "0 11020 6 sched_switch prev_comm=six prev_pid=6 next_comm=late next_pid=7\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "1020", "others_ns", "1010"));
	CHECK(analysed_is(&analysed, "wakeups", "1020", "cause", "tasks that ran first: six-6 (RT 99)"));
	analysed_end(&analysed);
}

TEST(latency_tells_the_priority_of_a_real_time_task_that_was_waited_for)
{
	struct analysed analysed;

	/* The second wait is for a task that ran meanwhile, and not for the one before. */
	if (!analysed_begin(&analysed, &latency_analysis, NULL, NULL,
			    "0 9000 9 sched_switch prev_comm=nine prev_pid=9 prev_prio=120 prev_state=1 next_comm=hog "
			    "next_pid=8 next_prio=49\n"
			    "0 10000 8 sched_waking comm=late pid=7 target_cpu=0\n"
			    "0 10500 8 sched_switch prev_comm=hog prev_pid=8 prev_prio=49 next_comm=late next_pid=7 "
			    "next_prio=79\n"
			    "0 11000 7 sched_waking comm=nine pid=9 target_cpu=0\n"
			    "0 11010 7 sched_switch prev_comm=late prev_pid=7 prev_prio=79 next_comm=hog next_pid=8 "
			    "next_prio=49\n"
			    "0 11800 8 sched_switch prev_comm=hog prev_pid=8 prev_prio=49 next_comm=nine next_pid=9 "
			    "next_prio=120\n"))
		return;
	CHECK(analysed_is(&analysed, "wakeups", "500", "cause", "the task before it: hog-8 (RT 50)"));
	CHECK(analysed_is(&analysed, "wakeups", "500", "before_prio", "49"));
	CHECK(analysed_is(&analysed, "wakeups", "800", "cause", "tasks that ran first: hog-8 (RT 50)"));
	CHECK(analysed_is(&analysed, "wakeups", "800", "before_prio", "79"));
	analysed_end(&analysed);
}

/* 8 and 9 take turns on the CPU: 8 for 10, then 9 for 20 with an interrupt of 5 in it. The last switch is to 8. */
static uint64_t take_turns(struct buf *script, uint64_t from, int turns)
{
	for (; turns; turns--, from += 30)
		(void)buf_addf(script,
			       "0 %" PRIu64 " 8 sched_switch prev_comm=eight prev_pid=8 next_comm=nine next_pid=9\n"
			       "0 %" PRIu64 " 9 irq_handler_entry irq=1\n"
			       "0 %" PRIu64 " 9 irq_handler_exit irq=1\n"
			       "0 %" PRIu64 " 9 sched_switch prev_comm=nine prev_pid=9 next_comm=eight next_pid=8\n",
			       from + 10, from + 15, from + 20, from + 30);
	return from;
}

static void wake(struct buf *script, uint64_t at, const char *comm, int pid)
{
	(void)buf_addf(script,
		       "0 %" PRIu64 " 8 sched_waking comm=%s pid=%d target_cpu=0\n"
		       "0 %" PRIu64 " 8 sched_wakeup comm=%s pid=%d target_cpu=0\n",
		       at, comm, pid, at, comm, pid);
}

static void run(struct buf *script, uint64_t at, const char *comm, int pid)
{
	(void)buf_addf(script,
		       "0 %" PRIu64 " 8 sched_switch prev_comm=eight prev_pid=8 next_comm=%s next_pid=%d\n"
		       "0 %" PRIu64
		       " %d sched_switch prev_comm=%s prev_pid=%d prev_state=1 next_comm=eight next_pid=8\n",
		       at, comm, pid, at, pid, comm, pid);
}

static void check_long(struct analysed *analysed, const char *row, const char *irq, const char *before,
		       const char *others, const char *cause)
{
	CHECK(analysed_is(analysed, "wakeups", row, "irq_ns", irq));
	CHECK(analysed_is(analysed, "wakeups", row, "before_ns", before));
	CHECK(analysed_is(analysed, "wakeups", row, "others_ns", others));
	CHECK(analysed_is(analysed, "wakeups", row, "unknown_ns", "0"));
	CHECK(analysed_is(analysed, "wakeups", row, "cause", cause));
}

TEST(latency_explains_a_wait_of_any_number_of_steps)
{
	cleanup_buf struct buf script = { .data = NULL };
	struct analysed analysed;
	uint64_t at;

	/*
	 * 5 is woken, after 1000 turns 6, after 1000 more 4. Then 6 runs, after 500 turns 4, after 500 turns 5. So 5
	 * waited for 3000 turns, 6 for 1000 and 4 for 500.
	 */
	wake(&script, 10000, "five", 5);
	at = take_turns(&script, 10000, 1000);
	wake(&script, at, "six", 6);
	at = take_turns(&script, at, 1000);
	wake(&script, at, "four", 4);
	run(&script, at, "six", 6);
	at = take_turns(&script, at, 500);
	run(&script, at, "four", 4);
	at = take_turns(&script, at, 500);
	run(&script, at, "five", 5);
	if (!analysed_begin(&analysed, &latency_analysis, NULL, NULL, buf_str(&script)))
		return;
	check_long(&analysed, "90000", "15000", "10", "74990", "tasks that ran first: nine-9 (RT 99)");
	check_long(&analysed, "30000", "5000", "10", "24990", "tasks that ran first: nine-9 (RT 99)");
	check_long(&analysed, "15000", "2500", "0", "12500", "tasks that ran first: nine-9 (RT 99)");
	analysed_end(&analysed);
}

TEST(latency_explains_a_long_wait_on_any_number_of_queues)
{
	cleanup_buf struct buf script = { .data = NULL };
	struct analysed analysed;
	uint64_t at = 10000;

	/* CPU 1 idles, but for the interrupt of 50 that begins all. 5 is on its queue for 100, five times. */
	(void)buf_addf(&script, "1 9000 0 irq_handler_entry irq=1\n1 9050 0 irq_handler_exit irq=1\n");
	wake(&script, at, "five", 5);
	for (int i = 0; i < 5; i++) {
		at = take_turns(&script, at, 400);
		(void)buf_addf(&script, "0 %" PRIu64 " 8 sched_migrate_task comm=five pid=5 orig_cpu=0 dest_cpu=1\n",
			       at);
		at += 100;
		(void)buf_addf(&script, "0 %" PRIu64 " 8 sched_migrate_task comm=five pid=5 orig_cpu=1 dest_cpu=0\n",
			       at);
	}
	run(&script, at, "five", 5);
	if (!analysed_begin(&analysed, &latency_analysis, NULL, more_types, buf_str(&script)))
		return;
	check_long(&analysed, "60500", "10000", "10", "49990", "tasks that ran first: nine-9 (RT 99)");
	CHECK(analysed_is(&analysed, "wakeups", "60500", "idle_ns", "500"));
	analysed_end(&analysed);
}

/* 7 and 6 are tasks of a.service, 8 and 9 of b.service, 4 is a thread of the kernel; 5 is in no list. */
static void services(struct loom *loom)
{
	more_types(loom);
	loom_setting(loom, "weft/mode", "record");
	loom_setting(loom, "weft/cgroups", "0 1 /\n0 20 /system.slice/a.service\n0 30 /system.slice/b.service\n");
	loom_setting(loom, "weft/tasks",
		     "7 7 1 50 0 7 20\tseven\t/usr/bin/seven\n"
		     "6 6 1 50 33 6 20\tsix\t/usr/bin/six\n"
		     "8 8 1 50 0 8 30\teight\t/usr/bin/eight\n"
		     "9 9 1 50 0 9 30\tnine\t/usr/bin/nine\n"
		     "4 4 2 50 0 4 1\tkworker\t(kernel)\n");
}

TEST(latency_divides_the_waits_of_a_service)
{
	static const struct latency_options by_unit = { .rows = { .by = LATENCY_BY_WHO + WHO_UNIT } };
	struct analysed analysed;

	/*
	 * 7 waits for 700 after it was woken: 100 of 8, 150 of 9 with an interrupt of 50 in it, 200 of 6, which is of
	 * its own service, 50 of the kernel, 150 of 5, of which nothing is known; then for 60 after 8 took its CPU.
	 * And 6 waits for 30 on the idle CPU 1.
	 */
	if (!analysed_begin(
		    &analysed, &latency_analysis, &by_unit, services,
		    "0 9000 8 sched_waking pid=3 target_cpu=1\n"
		    "0 10000 8 sched_waking comm=seven pid=7 target_cpu=0\n"
		    "0 10000 8 sched_wakeup comm=seven pid=7 target_cpu=0\n"
		    "0 10100 8 sched_switch prev_comm=eight prev_pid=8 prev_state=1 next_comm=nine next_pid=9\n"
		    "0 10200 9 irq_handler_entry irq=1\n"
		    "0 10250 9 irq_handler_exit irq=1\n"
		    "0 10300 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=six next_pid=6\n"
		    "0 10500 6 sched_switch prev_comm=six prev_pid=6 prev_state=1 next_comm=kworker next_pid=4\n"
		    "0 10550 4 sched_switch prev_comm=kworker prev_pid=4 prev_state=1 next_comm=five next_pid=5\n"
		    "0 10700 5 sched_switch prev_comm=five prev_pid=5 prev_state=1 next_comm=seven next_pid=7\n"
		    "1 10700 0 sched_switch prev_comm=x prev_pid=3 prev_state=1 next_comm=swapper/1 next_pid=0\n"
		    "0 10800 7 sched_waking comm=six pid=6 target_cpu=1\n"
		    "0 10800 7 sched_wakeup comm=six pid=6 target_cpu=1\n"
		    "1 10830 0 sched_switch prev_comm=swapper/1 prev_pid=0 prev_state=0 next_comm=six next_pid=6\n"
		    "0 10900 7 sched_switch prev_comm=seven prev_pid=7 prev_state=0 next_comm=eight next_pid=8\n"
		    "0 10960 8 sched_switch prev_comm=eight prev_pid=8 prev_state=1 next_comm=seven next_pid=7\n"))
		return;
	CHECK(analysed_is(&analysed, "waits", "a.service", "wait_ns", "790"));
	CHECK(analysed_is(&analysed, "waits", "a.service", "others_ns", "310"));
	CHECK(analysed_is(&analysed, "waits", "a.service", "own_ns", "200"));
	CHECK(analysed_is(&analysed, "waits", "a.service", "kernel_ns", "50"));
	CHECK(analysed_is(&analysed, "waits", "a.service", "irq_ns", "50"));
	CHECK(analysed_is(&analysed, "waits", "a.service", "idle_ns", "30"));
	CHECK(analysed_is(&analysed, "waits", "a.service", "unknown_ns", "150"));
	CHECK(analysed_is(&analysed, "waits", "a.service", "most_for", "b.service"));
	CHECK(analysed_is(&analysed, "waits", "a.service", "most_for_ns", "310"));
	analysed_end(&analysed);
}
