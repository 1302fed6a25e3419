// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "irq", "softirq_raise", "int vec", "\"\"");
	loom_type(loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(loom, "irq_vectors", "local_timer_entry", "int vector", "\"\"");
	loom_type(loom, "irq_vectors", "local_timer_exit", "int vector", "\"\"");
	loom_type(loom, "powerpc", "timer_interrupt_entry", "long regs", "\"\"");
	loom_type(loom, "powerpc", "timer_interrupt_exit", "long regs", "\"\"");
	loom_type(loom, "powerpc", "hcall_entry", "long opcode", "\"\"");
	loom_type(loom, "workqueue", "workqueue_queue_work", "long work; long function", "\"\"");
	loom_type(loom, "workqueue", "workqueue_execute_start", "long work; long function", "\"\"");
	loom_type(loom, "workqueue", "workqueue_execute_end", "long work; long function", "\"\"");
	loom_type(loom, "timer", "hrtimer_start", "long hrtimer; u64 expires", "\"\"");
	loom_type(loom, "timer", "hrtimer_expire_entry", "long hrtimer; long function; u64 now", "\"\"");
	loom_type(loom, "timer", "hrtimer_expire_exit", "long hrtimer", "\"\"");
}

TEST(irq_subtracts_what_nests_and_counts_delays_from_the_first_raise)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &irq_analysis, NULL, types,
			    "0 900 7 softirq_raise vec=1\n"
			    "0 950 7 softirq_raise vec=1\n"
			    "0 1000 7 softirq_entry vec=1\n"
			    "0 1100 7 irq_handler_entry irq=9 name=disk\n"
			    "0 1150 7 local_timer_entry vector=236\n"
			    "0 1170 7 local_timer_exit vector=236\n"
			    "0 1200 7 irq_handler_exit irq=9 ret=1\n"
			    "0 1500 7 softirq_exit vec=1\n"))
		return;
	CHECK(analysed_is(&analysed, "sources", "softirq", "total", "500") &&
	      analysed_is(&analysed, "sources", "softirq", "self", "400"));
	CHECK(analysed_is(&analysed, "sources", "irq", "total", "100") &&
	      analysed_is(&analysed, "sources", "irq", "self", "80"));
	CHECK(analysed_is(&analysed, "sources", "vector", "source", "local_timer") &&
	      analysed_is(&analysed, "sources", "vector", "self", "20"));
	CHECK(analysed_is(&analysed, "sources", "softirq", "delays", "1") &&
	      analysed_is(&analysed, "sources", "softirq", "d-max", "100"));
	CHECK(analysed_is(&analysed, "cpus", "0", "softirq", "400") &&
	      analysed_is(&analysed, "cpus", "0", "irqs", "1"));
	analysed_end(&analysed);
}

TEST(irq_counts_a_hrtimer_that_expired_within_its_slack_as_in_time)
{
	struct analysed analysed;

	/* The first is 300 late, the second expired 200 before its last moment. */
	if (!analysed_begin(&analysed, &irq_analysis, NULL, types,
			    "0 1000 7 hrtimer_start hrtimer=16 expires=5000\n"
			    "0 1100 7 hrtimer_start hrtimer=32 expires=6000\n"
			    "0 6000 7 hrtimer_expire_entry hrtimer=16 function=1 now=5300\n"
			    "0 6100 7 hrtimer_expire_exit hrtimer=16\n"
			    "0 6200 7 hrtimer_expire_entry hrtimer=32 function=1 now=5800\n"
			    "0 6300 7 hrtimer_expire_exit hrtimer=32\n"))
		return;
	CHECK(analysed_is(&analysed, "sources", "hrtimer", "delays", "2"));
	CHECK(analysed_is(&analysed, "sources", "hrtimer", "delay_p50_ns", "0") &&
	      analysed_is(&analysed, "sources", "hrtimer", "d-max", "300"));
	analysed_end(&analysed);
}

TEST(irq_takes_the_timer_of_powerpc_for_a_vector_and_no_call_of_its_hypervisor)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &irq_analysis, NULL, types,
			    "0 1000 7 softirq_entry vec=1\n"
			    "0 1100 7 timer_interrupt_entry regs=1\n"
			    "0 1110 7 hcall_entry opcode=100\n"
			    "0 1150 7 timer_interrupt_exit regs=1\n"
			    "0 1500 7 softirq_exit vec=1\n"))
		return;
	CHECK(analysed_is(&analysed, "sources", "vector", "source", "timer_interrupt") &&
	      analysed_is(&analysed, "sources", "vector", "self", "50") &&
	      analysed_is(&analysed, "sources", "softirq", "self", "450"));
	analysed_end(&analysed);
}

/* PREEMPT_RT: a task preempts a softirq, and an interrupt hits the task. */
TEST(irq_does_not_charge_a_softirq_with_what_hits_another_task)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &irq_analysis, NULL, types,
			    "0 1000 7 softirq_entry vec=3\n"
			    "0 1100 7 sched_switch prev_comm=k prev_pid=7 prev_state=0 next_comm=rt next_pid=8\n"
			    "0 1150 8 irq_handler_entry irq=9 name=disk\n"
			    "0 1250 8 irq_handler_exit irq=9 ret=1\n"
			    "0 1400 8 sched_switch prev_comm=rt prev_pid=8 prev_state=1 next_comm=k next_pid=7\n"
			    "0 1500 7 softirq_exit vec=3\n"))
		return;
	CHECK(analysed_is(&analysed, "sources", "softirq", "total", "500") &&
	      analysed_is(&analysed, "sources", "softirq", "self", "200"));
	CHECK(analysed_is(&analysed, "sources", "irq", "self", "100"));
	analysed_end(&analysed);
}

TEST(irq_follows_works_and_timers_from_queue_and_expiry)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &irq_analysis, NULL, types,
			    "0 1000 7 workqueue_queue_work work=0x10 function=0xf\n"
			    "0 1050 7 hrtimer_start hrtimer=0x20 expires=5000\n"
			    "1 1300 9 workqueue_execute_start work=0x10 function=0xf\n"
			    "1 1900 9 workqueue_execute_end work=0x10 function=0xf\n"
			    "0 2000 0 hrtimer_expire_entry hrtimer=0x20 function=0xe now=5070\n"
			    "0 2010 0 hrtimer_expire_exit hrtimer=0x20\n"))
		return;
	CHECK(analysed_is(&analysed, "sources", "work", "source", "0xf") &&
	      analysed_is(&analysed, "sources", "work", "total", "600"));
	CHECK(analysed_is(&analysed, "sources", "work", "d-max", "300") &&
	      analysed_is(&analysed, "sources", "work", "self", "-"));
	CHECK(analysed_is(&analysed, "sources", "hrtimer", "self", "10") &&
	      analysed_is(&analysed, "sources", "hrtimer", "d-max", "70"));
	analysed_end(&analysed);
}

TEST(irq_counts_what_the_start_the_end_and_lost_events_hide)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &irq_analysis, NULL, types,
			    "0 1000 7 softirq_exit vec=1\n"
			    "0 1100 7 softirq_raise vec=2\n"
			    "0 1200 7 softirq_entry vec=1\n"
			    "0 lost 3\n"
			    "0 1500 7 softirq_exit vec=1\n"
			    "0 1600 7 softirq_entry vec=2\n"))
		return;
	CHECK_STR(buf_str(&analysed.findings.cut), "1 run entered before the start, 1 run open at the end");
	CHECK_STR(buf_str(&analysed.findings.broken), "2 runs, 1 gap");
	analysed_end(&analysed);
}

static void filtered(struct loom *loom)
{
	types(loom);
	loom_setting(loom, "set_event", "sched:sched_switch\nirq:softirq_entry\n");
	loom_setting(loom, "weft/event_pids", "7\n");
}

TEST(irq_counts_no_delay_that_a_pid_filter_may_have_made)
{
	struct analysed analysed;

	/*
	 * The first softirq runs on top of 7. The second one runs while another task has the CPU, which is not
	 * recorded; what runs on top of 7 afterwards belongs to a later raise.
	 */
	if (!analysed_begin(&analysed, &irq_analysis, NULL, filtered,
			    "0 1000 7 softirq_raise vec=1\n"
			    "0 1100 7 softirq_entry vec=1\n"
			    "0 1200 7 softirq_exit vec=1\n"
			    "0 1300 7 softirq_raise vec=1\n"
			    "0 1400 7 hrtimer_start hrtimer=5 expires=2000\n"
			    "0 1500 7 sched_switch prev_comm=sh prev_pid=7 prev_state=0 next_comm=ls next_pid=8\n"
			    "0 9000 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=sh next_pid=7\n"
			    "0 9100 7 hrtimer_expire_entry hrtimer=5 function=9 now=9100\n"
			    "0 9200 7 hrtimer_expire_exit hrtimer=5\n"
			    "0 9300 7 softirq_entry vec=1\n"
			    "0 9400 7 softirq_exit vec=1\n"))
		return;
	CHECK(analysed_is(&analysed, "sources", "softirq", "count", "2"));
	CHECK(analysed_is(&analysed, "sources", "softirq", "delays", "1") &&
	      analysed_is(&analysed, "sources", "softirq", "d-max", "100"));
	CHECK(analysed_is(&analysed, "sources", "hrtimer", "delays", "0"));
	analysed_end(&analysed);
}

TEST(irq_tells_which_tasks_were_hit_and_how_much_was_taken_from_each)
{
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &irq_analysis, NULL, types,
		    "0 1000 0 sched_switch prev_comm=swapper/0 prev_pid=0 prev_state=0 next_comm=cc next_pid=7\n"
		    "0 1100 7 softirq_entry vec=1\n"
		    "0 1200 7 irq_handler_entry irq=9 name=disk\n"
		    "0 1300 7 irq_handler_exit irq=9 ret=1\n"
		    "0 1500 7 softirq_exit vec=1\n"
		    "0 3000 7 sched_switch prev_comm=cc prev_pid=7 prev_state=1 next_comm=swapper/0 next_pid=0\n"
		    "0 3100 0 local_timer_entry vector=236\n"
		    "0 3150 0 local_timer_exit vector=236\n"
		    "1 3000 0 sched_switch prev_comm=swapper/1 prev_pid=0 prev_state=0 next_comm=ld next_pid=8\n"
		    "1 3200 8 hrtimer_expire_entry hrtimer=1 function=2 now=3200\n"
		    "1 3230 8 hrtimer_expire_exit hrtimer=1\n"
		    "1 4000 8 sched_switch prev_comm=ld prev_pid=8 prev_state=1 next_comm=swapper/1 next_pid=0\n"
		    "1 4100 0 local_timer_entry vector=236\n"
		    "1 4170 0 local_timer_exit vector=236\n"
		    "1 5000 0 workqueue_execute_start work=1 function=2\n"
		    "1 5500 0 workqueue_execute_end work=1 function=2\n"))
		return;
	CHECK(analysed_is(&analysed, "victims", "cc", "pid", "7") &&
	      analysed_is(&analysed, "victims", "cc", "hits", "2") &&
	      analysed_is(&analysed, "victims", "cc", "taken_ns", "400"));
	CHECK(analysed_is(&analysed, "victims", "cc", "run_ns", "2000") &&
	      analysed_is(&analysed, "victims", "cc", "taken_percent", "20.00"));
	CHECK(analysed_is(&analysed, "victims", "cc", "irq_ns", "100") &&
	      analysed_is(&analysed, "victims", "cc", "softirq_ns", "300"));
	CHECK(analysed_is(&analysed, "victims", "ld", "timer_ns", "30") &&
	      analysed_is(&analysed, "victims", "ld", "taken_percent", "3.00"));
	/* The idle tasks of all CPUs are one row; the time of works is taken from nobody. */
	CHECK(analysed_is(&analysed, "victims", "<idle>", "hits", "2") &&
	      analysed_is(&analysed, "victims", "<idle>", "vector_ns", "120"));
	analysed_end(&analysed);
}

TEST(irq_does_not_know_how_long_the_victims_ran_without_sched_switch)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &irq_analysis, NULL, types,
			    "0 1100 7 softirq_entry vec=1\n"
			    "0 1500 7 softirq_exit vec=1\n"))
		return;
	CHECK(analysed_is(&analysed, "victims", "<...>", "taken_ns", "400") &&
	      analysed_is(&analysed, "victims", "<...>", "run_ns", "") &&
	      analysed_is(&analysed, "victims", "<...>", "taken_percent", ""));
	analysed_end(&analysed);
}

TEST(irq_finds_the_busiest_10_ms_of_a_source_on_one_cpu)
{
	struct analysed analysed;

	/* Windows begin at the multiples of 10 ms. The time of two CPUs is not one sum. */
	if (!analysed_begin(&analysed, &irq_analysis, NULL, types,
			    "0 109500000 7 irq_handler_entry irq=9 name=disk\n"
			    "0 110200000 7 irq_handler_exit irq=9 ret=1\n"
			    "0 110400000 7 irq_handler_entry irq=9 name=disk\n"
			    "0 110900000 7 irq_handler_exit irq=9 ret=1\n"
			    "1 111000000 8 irq_handler_entry irq=9 name=disk\n"
			    "1 111600000 8 irq_handler_exit irq=9 ret=1\n"
			    /* Three whole windows and parts of two, of which an interrupt takes some. */
			    "0 125000000 7 softirq_entry vec=1\n"
			    "0 131000000 7 irq_handler_entry irq=9 name=disk\n"
			    "0 131600000 7 irq_handler_exit irq=9 ret=1\n"
			    "0 163000000 7 softirq_exit vec=1\n"
			    "0 200000000 7 softirq_raise vec=1\n"))
		return;
	CHECK(analysed_is(&analysed, "sources", "irq", "peak_ns", "700000") &&
	      analysed_is(&analysed, "sources", "irq", "peak_at", "0.120000000") &&
	      analysed_is(&analysed, "sources", "irq", "peak_cpu", "0"));
	CHECK(analysed_is(&analysed, "sources", "softirq", "peak_ns", "10000000") &&
	      analysed_is(&analysed, "sources", "softirq", "peak_at", "0.150000000"));
	CHECK(analysed.findings.nr_worst == 2);
	CHECK_STR(analysed.findings.worst[1].what, "time in a fixed window of 10 ms, of softirq TIMER");
	CHECK(analysed.findings.worst[1].lasted == 10000000 && analysed.findings.worst[1].from == 140000000 &&
	      analysed.findings.worst[1].to == 150000000);
	analysed_end(&analysed);
}

/* The outer run ends last, and began in the window before. */
TEST(irq_adds_a_run_to_the_windows_of_one_of_the_same_source_inside_it)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &irq_analysis, NULL, types,
			    "0 101000000 7 hrtimer_expire_entry hrtimer=1 function=9 now=1\n"
			    "0 103000000 7 hrtimer_expire_exit hrtimer=1\n"
			    "0 108000000 7 hrtimer_expire_entry hrtimer=1 function=9 now=1\n"
			    "0 111000000 7 hrtimer_expire_entry hrtimer=2 function=9 now=1\n"
			    "0 112000000 7 hrtimer_expire_exit hrtimer=2\n"
			    "0 112500000 7 hrtimer_expire_exit hrtimer=1\n"))
		return;
	CHECK(analysed_is(&analysed, "sources", "hrtimer", "self", "6500000") &&
	      analysed_is(&analysed, "sources", "hrtimer", "peak_ns", "4000000") &&
	      analysed_is(&analysed, "sources", "hrtimer", "peak_at", "0.110000000"));
	analysed_end(&analysed);
}

TEST(irq_gives_no_peak_to_a_run_whose_end_was_not_recorded)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &irq_analysis, NULL, types,
			    "0 101000000 7 softirq_entry vec=3\n"
			    "0 101100000 7 irq_handler_entry irq=9 name=disk\n"
			    "0 108000000 7 softirq_exit vec=3\n"
			    "0 109000000 7 irq_handler_entry irq=9 name=disk\n"
			    "0 109200000 7 irq_handler_exit irq=9 ret=1\n"))
		return;
	CHECK(analysed_is(&analysed, "sources", "irq", "peak_ns", "200000"));
	analysed_end(&analysed);
}
