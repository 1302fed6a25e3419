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
