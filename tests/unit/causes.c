// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/answers/sched/sched.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

/*
 * Who wakes a task from an interrupt. On CPU 0 an interrupt hits the task hit-5, which has nothing to do with it, and
 * wakes task-7. On CPU 1 act-9 is at work.
 */

static void types(struct loom *loom)
{
	loom->version = 6;
	loom->kallsyms = "ffffffff81000100 t hrtimer_wakeup\nffffffff81000200 t timerfd_tmrproc\n"
			 "ffffffff81000300 t process_timeout\n";
	loom_type(loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(loom, "irq", "softirq_raise", "int vec", "\"\"");
	loom_type(loom, "irq_vectors", "local_timer_entry", "int vector", "\"\"");
	loom_type(loom, "irq_vectors", "local_timer_exit", "int vector", "\"\"");
	loom_type(loom, "irq_vectors", "reschedule_entry", "int vector", "\"\"");
	loom_type(loom, "irq_vectors", "reschedule_exit", "int vector", "\"\"");
	loom_type(loom, "ipi", "ipi_send_cpu", "int cpu; u64 callsite; u64 callback", "\"\"");
	loom_type(loom, "timer", "hrtimer_start", "u64 hrtimer; u64 function; u64 expires", "\"\"");
	loom_type(loom, "timer", "hrtimer_cancel", "u64 hrtimer", "\"\"");
	loom_type(loom, "timer", "hrtimer_expire_entry", "u64 hrtimer; u64 now; u64 function", "\"\"");
	loom_type(loom, "timer", "hrtimer_expire_exit", "u64 hrtimer", "\"\"");
	loom_type(loom, "timer", "timer_start", "u64 timer; u64 function; u64 expires", "\"\"");
	loom_type(loom, "timer", "timer_expire_entry", "u64 timer; u64 now; u64 function", "\"\"");
	loom_type(loom, "net", "net_dev_queue", "u64 skbaddr; int len", "\"\"");
	loom_type(loom, "net", "netif_receive_skb", "u64 skbaddr; int len", "\"\"");
	loom_type(loom, "block", "block_bio_queue", "u32 dev; u64 sector; int nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_issue", "u32 dev; u64 sector; int nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_complete", "u32 dev; u64 sector; int nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "workqueue", "workqueue_queue_work", "u64 work; u64 function", "\"\"");
	loom_task(loom, 5, "hit");
	loom_task(loom, 7, "task");
	loom_task(loom, 9, "act");
}

#define BEGIN                                                                                     \
	"0 1000 7 sched_switch prev_comm=task prev_pid=7 prev_state=1 next_comm=hit next_pid=5\n" \
	"1 1000 0 sched_switch prev_comm=swapper/1 prev_pid=0 prev_state=0 next_comm=act next_pid=9\n"
#define WAKE(at, flags) "0 " at " 5 sched_waking common_flags=" flags " comm=task pid=7 prio=120 target_cpu=0\n"
#define RUN "0 9000 5 sched_switch prev_comm=hit prev_pid=5 prev_state=0 next_comm=task next_pid=7\n"

/* Whether the events that come between make this the chain of wakeups of task. */
static bool wakes(const char *events, const char *chain)
{
	struct sched_options options = { .chain = "task" };
	struct analysed analysed;
	char script[4096];
	bool is;

	snprintf(script, sizeof(script), "%s%s%s", BEGIN, events, RUN);
	if (!analysed_begin(&analysed, &sched_analysis, &options, types, script))
		return false;
	is = analysed_is(&analysed, "chains", "1", "chain", chain);
	analysed_end(&analysed);
	return is;
}

TEST(causes_knows_a_timer_of_the_sleeper_by_its_function_or_its_start)
{
	CHECK(wakes("0 2000 5 local_timer_entry common_flags=9 vector=236\n"
		    "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 function=0xffffffff81000100\n" WAKE(
			    "2200", "9"),
		    "task < its own timer"));
	CHECK(wakes("1 1100 9 hrtimer_start hrtimer=0x70 function=0xffffffff81000200\n"
		    "0 2000 5 local_timer_entry common_flags=9 vector=236\n"
		    "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 function=0xffffffff81000200\n" WAKE(
			    "2200", "9"),
		    "task < act"));
	/* The timer's address was used by another one before, and has no start of its own. */
	CHECK(wakes("1 1100 9 hrtimer_start hrtimer=0x70 function=0xffffffff81000200\n"
		    "1 1200 9 hrtimer_cancel hrtimer=0x70\n"
		    "0 2000 5 local_timer_entry common_flags=9 vector=236\n"
		    "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 function=0xffffffff81000200\n" WAKE(
			    "2200", "9"),
		    "task < timer:timerfd_tmrproc"));
	/* The function has returned: what comes then is the tick's. */
	CHECK(wakes("0 2000 5 local_timer_entry common_flags=9 vector=236\n"
		    "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 function=0xffffffff81000100\n"
		    "0 2200 5 hrtimer_expire_exit common_flags=9 hrtimer=0x70\n" WAKE("2300", "9"),
		    "task < irq:local_timer"));
	CHECK(wakes("0 2000 5 softirq_entry common_flags=17 vec=1\n"
		    "0 2100 5 timer_expire_entry common_flags=17 timer=0x70 function=0xffffffff81000300\n" WAKE("2200",
														"17"),
		    "task < its own timer"));
}

TEST(causes_finds_who_raised_a_softirq_or_sent_the_packet)
{
	CHECK(wakes("0 1500 5 softirq_raise vec=3\n0 2000 5 softirq_entry common_flags=17 vec=3\n" WAKE("2200", "17"),
		    "task < hit"));
	/* A device raised it: nobody's work. */
	CHECK(wakes("0 1400 5 irq_handler_entry common_flags=9 irq=9 name=eth0\n"
		    "0 1500 5 softirq_raise common_flags=9 vec=3\n"
		    "0 1600 5 irq_handler_exit common_flags=9 irq=9 ret=1\n"
		    "0 2000 5 softirq_entry common_flags=17 vec=3\n" WAKE("2200", "17"),
		    "task < irq:eth0"));
	/* The packet was sent on the other CPU, and the device between them raised the softirq. */
	CHECK(wakes("1 1300 9 net_dev_queue skbaddr=0x100 len=9\n"
		    "0 1400 5 irq_handler_entry common_flags=9 irq=9 name=eth0\n"
		    "0 1500 5 softirq_raise common_flags=9 vec=3\n"
		    "0 1600 5 irq_handler_exit common_flags=9 irq=9 ret=1\n"
		    "0 2000 5 softirq_entry common_flags=17 vec=3\n"
		    "0 2100 5 netif_receive_skb common_flags=17 skbaddr=0x100 len=9\n" WAKE("2200", "17"),
		    "task < act"));
	/* The softirq has ended, and another one that nobody is known to have raised runs. */
	CHECK(wakes("0 1500 5 softirq_raise vec=3\n0 2000 5 softirq_entry common_flags=17 vec=3\n"
		    "0 2050 5 softirq_exit common_flags=17 vec=3\n"
		    "0 2100 5 softirq_entry common_flags=17 vec=9\n" WAKE("2200", "17"),
		    "task < softirq:RCU"));
	/* Events of the CPU were lost: the softirq may be another one. */
	CHECK(wakes("0 1500 5 softirq_raise vec=3\n0 2000 5 softirq_entry common_flags=17 vec=3\n0 lost 3\n" WAKE(
			    "2200", "17"),
		    "task < a softirq"));
}

TEST(causes_names_the_disk_of_a_request_and_the_sender_of_an_interrupt)
{
	CHECK(wakes("1 1300 9 block_bio_queue dev=0xfe00001 sector=80 nr_sector=8 rwbs=R\n"
		    "1 1400 9 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
		    "0 2000 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
		    "0 2100 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n" WAKE(
			    "2200", "9"),
		    "task < disk 254:0"));
	CHECK(wakes("1 1300 9 ipi_send_cpu cpu=0\n0 2000 5 reschedule_entry common_flags=9 vector=253\n" WAKE("2200",
													      "9"),
		    "task < act"));
	/* An interrupt of which no event tells hits the softirq that completes a request. */
	CHECK(wakes("0 2000 5 softirq_entry common_flags=17 vec=4\n"
		    "0 2100 5 block_rq_complete common_flags=17 dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n" WAKE(
			    "2200", "25"),
		    "task < an interrupt"));
}

/* act wakes task while task is on its way off the CPU: the wakeup is ended by an interrupt on task's CPU. */
TEST(causes_keeps_who_woke_a_task_that_was_leaving_its_cpu)
{
	struct sched_options options = { .chain = "task" };
	struct analysed analysed;

	if (!analysed_begin(
		    &analysed, &sched_analysis, &options, types,
		    "0 900 0 sched_switch prev_comm=swapper/0 prev_pid=0 prev_state=0 next_comm=task next_pid=7\n"
		    "1 900 0 sched_switch prev_comm=swapper/1 prev_pid=0 prev_state=0 next_comm=act next_pid=9\n"
		    "1 1000 9 sched_waking comm=task pid=7 prio=120 target_cpu=0\n"
		    "0 1100 7 sched_switch prev_comm=task prev_pid=7 prev_state=1 next_comm=hit next_pid=5\n"
		    "0 1200 5 sched_wakeup common_flags=9 comm=task pid=7 prio=120 target_cpu=0\n" RUN))
		return;
	CHECK(analysed_is(&analysed, "chains", "1", "chain", "task < act"));
	analysed_end(&analysed);
}
