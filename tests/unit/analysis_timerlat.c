// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/latency/latency.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom->version = 6;
	loom_type(loom, "ftrace", "timerlat", "int seqnum; int context; u64 timer_latency", "\"\"");
	loom_type(loom, "osnoise", "nmi_noise", "u64 start; u64 duration", "\"\"");
	loom_type(loom, "osnoise", "irq_noise", "u64 start; u64 duration; __data_loc char[] desc; int vector", "\"\"");
	loom_type(loom, "osnoise", "softirq_noise", "u64 start; u64 duration; int vector", "\"\"");
	loom_type(loom, "osnoise", "thread_noise", "char comm[16]; u64 start; u64 duration; pid_t pid", "\"\"");
}

/*
 * The timer was due at 10000. Task 8 had interrupts off until 13000. Then the timer's interrupt, which takes the
 * sample, ran for 500 and woke the thread. So task 8 was to go, but ran for 1000 more; the thread ran from 14500 on and
 * read the clock 200 later.
 */
TEST(latency_splits_samples_of_timerlat_into_parts_that_add_up)
{
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &latency_analysis, NULL, types,
		    "0 9000 8 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=eight next_pid=8\n"
		    "0 13000 8 irq_handler_entry irq=1 name=timer\n"
		    "0 13200 8 timerlat common_flags=8 seqnum=1 context=0 timer_latency=3200\n"
		    "0 13300 8 sched_waking common_flags=12 comm=timerlat/0 pid=9 prio=4 target_cpu=0\n"
		    "0 13500 8 irq_handler_exit common_flags=12 irq=1 ret=1\n"
		    "0 14500 8 sched_switch prev_comm=eight prev_pid=8 prev_state=0 next_comm=timerlat/0 next_pid=9 "
		    "next_prio=4\n"
		    "0 14700 9 timerlat seqnum=1 context=1 timer_latency=4700\n"))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "3200", "before_ns", "3000"));
	CHECK(analysed_is(&analysed, "timerlat", "3200", "irq_ns", "200"));
	CHECK(analysed_is(&analysed, "timerlat", "3200", "late", "irq"));
	CHECK(analysed_is(&analysed, "timerlat", "3200", "cause", "the task before it: eight-8 (RT 99)"));
	CHECK(analysed_is(&analysed, "timerlat", "4700", "late", "thread"));
	CHECK(analysed_is(&analysed, "timerlat", "4700", "before_ns", "3000"));
	CHECK(analysed_is(&analysed, "timerlat", "4700", "resched_ns", "1000"));
	CHECK(analysed_is(&analysed, "timerlat", "4700", "irq_ns", "500"));
	CHECK(analysed_is(&analysed, "timerlat", "4700", "itself_ns", "200"));
	CHECK(analysed_is(&analysed, "timerlat", "4700", "comm", "timerlat/0"));
	/* The wakeup of the thread counts as a wakeup, too. */
	CHECK(analysed_is(&analysed, "wakeups", "1200", "comm", "timerlat/0"));
	analysed_end(&analysed);
}

/*
 * The trace has no events of the scheduler. The timer was due at 10000, during the last 200 of an interrupt. Another
 * interrupt took 300 and an NMI 100; task 8 had the rest until 13000, when the timer's interrupt came for 500. Then ran
 * a softirq for 600, task 8 for another 800, task 10 for 500, and the thread after 500 for the ways between them.
 */
TEST(latency_splits_samples_of_timerlat_by_events_of_osnoise)
{
	static const struct {
		const char *sample, *part, *value;
	} wants[] = {
		{ "3200", "irq_ns", "700" },
		{ "3200", "nmi_ns", "100" },
		{ "3200", "before_ns", "2400" },
		{ "3200", "unknown_ns", "0" },
		{ "3200", "cause", "the task before it: eight-8" },
		{ "5900", "irq_ns", "1000" },
		{ "5900", "nmi_ns", "100" },
		{ "5900", "softirq_ns", "600" },
		{ "5900", "before_ns", "3200" },
		{ "5900", "others_ns", "500" },
		{ "5900", "itself_ns", "500" },
		{ "5900", "unknown_ns", "0" },
		{ "5900", "before_comm", "eight" },
		{ "5900", "late", "thread" },
		{ "5900", "pid", "9" },
	};
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 9000 8 irq_noise common_flags=8 start=8000 duration=1000 desc=disk vector=11\n"
			    "0 10200 8 irq_noise common_flags=8 start=9900 duration=300 desc=disk vector=11\n"
			    "0 10800 8 irq_noise common_flags=8 start=10500 duration=300 desc=disk vector=11\n"
			    "0 11500 8 nmi_noise common_flags=64 start=11400 duration=100\n"
			    "0 13200 8 timerlat common_flags=8 seqnum=7 context=0 timer_latency=3200\n"
			    "0 13500 8 irq_noise common_flags=8 start=13000 duration=500 desc=timer vector=236\n"
			    "0 14200 8 softirq_noise start=13600 duration=600 vector=9\n"
			    "0 15000 8 thread_noise comm=eight start=13200 duration=800 pid=8\n"
			    "0 15600 10 thread_noise comm=ten start=15100 duration=500 pid=10\n"
			    "0 15900 9 timerlat seqnum=7 context=1 timer_latency=5900\n"))
		return;
	for (size_t i = 0; i < array_size(wants); i++)
		CHECK(analysed_is(&analysed, "timerlat", wants[i].sample, wants[i].part, wants[i].value));
	analysed_end(&analysed);
}

/*
 * CPU 0 is idle. On CPU 1 a softirq was hit, and the thread itself still ran. CPU 2 lost events. On CPU 3 threads are
 * not recorded.
 */
TEST(latency_splits_by_osnoise_what_idled_and_leaves_unknown_what_was_lost)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 11000 0 timerlat common_flags=8 seqnum=1 context=0 timer_latency=1000\n"
			    "0 11100 0 irq_noise common_flags=8 start=10900 duration=200 desc=timer vector=236\n"
			    "0 11300 0 thread_noise comm=swapper/0 start=11000 duration=150 pid=0\n"
			    "0 11400 9 timerlat seqnum=1 context=1 timer_latency=1400\n"
			    "1 11000 6 timerlat common_flags=24 seqnum=1 context=0 timer_latency=1001\n"
			    "1 11100 6 irq_noise common_flags=8 start=10900 duration=200 desc=timer vector=236\n"
			    "1 11400 6 timerlat seqnum=1 context=1 timer_latency=1401\n"
			    "2 11000 5 timerlat common_flags=8 seqnum=1 context=0 timer_latency=1002\n"
			    "2 11100 5 irq_noise common_flags=8 start=10900 duration=200 desc=timer vector=236\n"
			    "2 lost 3\n"
			    "2 11300 5 thread_noise comm=five start=11000 duration=150 pid=5\n"
			    "2 11400 4 timerlat seqnum=1 context=1 timer_latency=1402\n"
			    "3 11000 3 timerlat common_flags=8 seqnum=1 context=0 timer_latency=1003\n"
			    "3 11100 3 irq_noise common_flags=8 start=10900 duration=200 desc=timer vector=236\n"
			    "3 11400 2 timerlat seqnum=1 context=1 timer_latency=1403\n"
			    "3 13000 3 timerlat common_flags=8 seqnum=2 context=0 timer_latency=900\n"))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "1000", "idle_ns", "900") &&
	      analysed_is(&analysed, "timerlat", "1000", "irq_ns", "100"));
	CHECK(analysed_is(&analysed, "timerlat", "1400", "idle_ns", "1050") &&
	      analysed_is(&analysed, "timerlat", "1400", "itself_ns", "150"));
	CHECK(analysed_is(&analysed, "timerlat", "1001", "softirq_ns", "901") &&
	      analysed_is(&analysed, "timerlat", "1401", "itself_ns", "300"));
	CHECK(analysed_is(&analysed, "timerlat", "1002", "before_ns", "902") &&
	      analysed_is(&analysed, "timerlat", "1402", "before_ns", "1052"));
	CHECK(analysed_is(&analysed, "timerlat", "1402", "unknown_ns", "150") &&
	      analysed_is(&analysed, "timerlat", "1402", "itself_ns", "0"));
	CHECK(analysed_is(&analysed, "timerlat", "1403", "before_ns", "903") &&
	      analysed_is(&analysed, "timerlat", "1403", "unknown_ns", "300"));
	/* The interrupt of the last sample has no end. */
	CHECK(analysed_is(&analysed, "timerlat", "900", "unknown_ns", "900"));
	analysed_end(&analysed);
}

/* The events of the first test and those of osnoise, which change nothing. */
TEST(latency_keeps_to_events_of_the_scheduler_and_interrupts_where_osnoise_tells_too)
{
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &latency_analysis, NULL, types,
		    "0 9000 8 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=eight next_pid=8\n"
		    "0 13000 8 irq_handler_entry irq=1 name=timer\n"
		    "0 13200 8 timerlat common_flags=8 seqnum=1 context=0 timer_latency=3200\n"
		    "0 13500 8 irq_handler_exit irq=1 ret=1\n"
		    "0 13510 8 irq_noise common_flags=8 start=12990 duration=510 desc=timer vector=236\n"
		    "0 14400 8 thread_noise comm=eight start=13200 duration=890 pid=8\n"
		    "0 14500 8 sched_switch prev_comm=eight prev_pid=8 prev_state=0 next_comm=timerlat/0 next_pid=9 "
		    "next_prio=4\n"
		    "0 14700 9 timerlat seqnum=1 context=1 timer_latency=4700\n"))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "3200", "before_ns", "3000") &&
	      analysed_is(&analysed, "timerlat", "3200", "irq_ns", "200"));
	CHECK(analysed_is(&analysed, "timerlat", "4700", "before_ns", "4000") &&
	      analysed_is(&analysed, "timerlat", "4700", "irq_ns", "500"));
	CHECK(analysed_is(&analysed, "timerlat", "4700", "itself_ns", "200"));
	analysed_end(&analysed);
}

/* Samples alone show the latency of the timer, but not its cause. */
TEST(latency_says_that_it_does_not_know_why_timerlat_was_late_without_other_events)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 5000 9 timerlat seqnum=1 context=1 timer_latency=100\n"
			    "0 13200 8 timerlat common_flags=8 seqnum=2 context=0 timer_latency=3200\n"
			    "0 14700 9 timerlat seqnum=2 context=1 timer_latency=4700\n"))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "3200", "unknown_ns", "3200") &&
	      analysed_is(&analysed, "timerlat", "4700", "unknown_ns", "4700"));
	CHECK(analysed_is(&analysed, "timerlat", "4700", "cause", "what is not known"));
	analysed_end(&analysed);
}

/* The two tests above, but interrupts hit the threads between their reading of the clock and their sample. */
TEST(latency_charges_no_interrupt_that_came_after_the_thread_had_read_the_clock)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 13200 8 timerlat common_flags=8 seqnum=7 context=0 timer_latency=3200\n"
			    "0 13500 8 irq_noise common_flags=8 start=13000 duration=500 desc=timer vector=236\n"
			    "0 15000 8 thread_noise comm=eight start=13200 duration=1300 pid=8\n"
			    "0 16200 9 irq_noise common_flags=8 start=15950 duration=250 desc=disk vector=11\n"
			    "0 16400 9 timerlat seqnum=7 context=1 timer_latency=5900\n"))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "5900", "irq_ns", "500") &&
	      analysed_is(&analysed, "timerlat", "5900", "before_ns", "4300"));
	CHECK(analysed_is(&analysed, "timerlat", "5900", "itself_ns", "1100") &&
	      analysed_is(&analysed, "timerlat", "5900", "until", "0.000015900"));
	analysed_end(&analysed);
	if (!analysed_begin(
		    &analysed, &latency_analysis, NULL, types,
		    "0 9000 8 sched_switch prev_comm=x prev_pid=1 prev_state=1 next_comm=eight next_pid=8\n"
		    "0 13000 8 irq_handler_entry irq=1 name=timer\n"
		    "0 13200 8 timerlat common_flags=8 seqnum=1 context=0 timer_latency=3200\n"
		    "0 13500 8 irq_handler_exit irq=1 ret=1\n"
		    "0 14500 8 sched_switch prev_comm=eight prev_pid=8 prev_state=0 next_comm=timerlat/0 next_pid=9 "
		    "next_prio=4\n"
		    "0 14750 9 irq_handler_entry irq=9 name=disk\n"
		    "0 14950 9 irq_handler_exit irq=9 ret=1\n"
		    "0 15000 9 timerlat seqnum=1 context=1 timer_latency=4700\n"))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "4700", "before_ns", "4000") &&
	      analysed_is(&analysed, "timerlat", "4700", "irq_ns", "500"));
	CHECK(analysed_is(&analysed, "timerlat", "4700", "itself_ns", "200") &&
	      analysed_is(&analysed, "timerlat", "4700", "since", "0.000010000"));
	analysed_end(&analysed);
}

TEST(latency_keeps_a_sample_of_timerlat_that_comes_before_any_event_of_the_scheduler)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &latency_analysis, NULL, types,
			    "0 1000 8 timerlat common_flags=8 seqnum=1 context=0 timer_latency=500\n"
			    "0 1100 8 irq_handler_entry irq=1 name=disk\n"
			    "0 1200 8 irq_handler_exit irq=1 ret=1\n"
			    "0 9000 8 sched_switch prev_comm=eight prev_pid=8 prev_state=1 next_comm=ten next_pid=10\n"
			    "0 13000 10 timerlat common_flags=8 seqnum=2 context=0 timer_latency=600\n"
			    "0 13700 10 timerlat seqnum=2 context=1 timer_latency=1300\n"))
		return;
	CHECK(analysed_is(&analysed, "timerlat", "500", "late", "irq") &&
	      analysed_is(&analysed, "timerlat", "600", "late", "irq"));
	CHECK(analysed_is(&analysed, "timerlat", "1300", "late", "thread"));
	analysed_end(&analysed);
}
