// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/state/causes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/state.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/*
 * What is known of the cause of each wakeup, as text, with all that is not 0. On CPU 0 an interrupt hits the task 5 or
 * the idle task and wakes 7. On CPU 1 the task 9 is at work.
 */

enum { TEXT = 1024 };

struct facts {
	struct state state;
	char text[TEXT];
	size_t len;
};

static void put(struct facts *facts, const char *name, uint64_t value)
{
	if (value && facts->len < TEXT)
		facts->len +=
			(size_t)snprintf(facts->text + facts->len, TEXT - facts->len, " %s=%" PRIu64, name, value);
}

static void put_act(struct facts *facts, const char *name, const struct cause_act *act)
{
	const struct cause *inner = causes_get(&facts->state.causes, act->cause);

	if (act->at && facts->len < TEXT)
		facts->len += (size_t)snprintf(facts->text + facts->len, TEXT - facts->len, " %s=%d@%" PRIu64 "%s%s",
					       name, act->pid, act->at, inner ? "/" : "",
					       inner ? causes_name(&facts->state.causes, inner->name) : "");
}

static void put_cause(struct facts *facts, uint32_t number)
{
	static const char *const kinds[] = { "unknown", "work",    "request", "packet",
					     "timer",   "softirq", "ipi",     "interrupt" };
	const struct causes *causes = &facts->state.causes;
	const struct cause *cause = causes_get(causes, number);

	if (!cause || facts->len >= TEXT)
		return;
	facts->len += (size_t)snprintf(facts->text + facts->len, TEXT - facts->len, "%s%s '%s'", facts->len ? ", " : "",
				       kinds[cause->kind], causes_name(causes, cause->name));
	put_act(facts, "by", &cause->by);
	put_act(facts, "then", &cause->then);
	put(facts, "due", cause->due);
	put(facts, "raised", cause->raised);
	put(facts, "thread", (uint32_t)cause->thread);
	put(facts, "device", cause->device);
	put(facts, "vec", cause->vec == UINT8_MAX ? 0 : cause->vec);
	put(facts, "own", cause->own);
	put(facts, "flush", cause->flush);
	if (*cause->rwbs && facts->len < TEXT)
		facts->len += (size_t)snprintf(facts->text + facts->len, TEXT - facts->len, " %s", cause->rwbs);
}

static void see(void *arg, const struct event *event)
{
	struct facts *facts = arg;
	const struct state_step *step = &facts->state.step;
	struct waker waker;

	state_see(&facts->state, event);
	if (step->kind != STEP_WAKING)
		return;
	put_cause(facts, step->cause);
	waker = facts->state.tasks[step->task].waker;
	if (facts->len < TEXT && waker.pid)
		facts->len += (size_t)snprintf(facts->text + facts->len, TEXT - facts->len, " < %d", waker.pid);
	else if (facts->len < TEXT && waker.name)
		facts->len += (size_t)snprintf(facts->text + facts->len, TEXT - facts->len, " < %s",
					       causes_name(&facts->state.causes, waker.name));
}

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
	loom_type(loom, "irq_vectors", "call_function_single_entry", "int vector", "\"\"");
	loom_type(loom, "ipi", "ipi_send_cpu", "int cpu; u64 callsite; u64 callback", "\"\"");
	loom_type(loom, "timer", "hrtimer_start", "u64 hrtimer; u64 function; u64 expires", "\"\"");
	loom_type(loom, "timer", "hrtimer_cancel", "u64 hrtimer", "\"\"");
	loom_type(loom, "timer", "hrtimer_expire_entry", "u64 hrtimer; u64 now; u64 function", "\"\"");
	loom_type(loom, "timer", "hrtimer_expire_exit", "u64 hrtimer", "\"\"");
	loom_type(loom, "timer", "timer_start", "u64 timer; u64 function; u64 expires; u64 now", "\"\"");
	loom_type(loom, "timer", "timer_expire_entry", "u64 timer; u64 now; u64 function", "\"\"");
	loom_type(loom, "timer", "timer_expire_exit", "u64 timer", "\"\"");
	loom_type(loom, "timer", "timer_cancel", "u64 timer", "\"\"");
	loom_type(loom, "net", "net_dev_queue", "u64 skbaddr; int len", "\"\"");
	loom_type(loom, "net", "netif_receive_skb", "u64 skbaddr; int len", "\"\"");
	loom_type(loom, "block", "block_bio_queue", "u32 dev; u64 sector; int nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_getrq", "u32 dev; u64 sector; int nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_issue", "u32 dev; u64 sector; int nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_complete", "u32 dev; u64 sector; int nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "workqueue", "workqueue_queue_work", "u64 work; u64 function", "\"\"");
	loom_type(loom, "workqueue", "workqueue_execute_start", "u64 work; u64 function", "\"\"");
	loom_type(loom, "workqueue", "workqueue_execute_end", "u64 work; u64 function", "\"\"");
}

#define WAKE(at, flags) "0 " at " 5 sched_waking common_flags=" flags " comm=task pid=7 prio=120 target_cpu=0\n"

static void check(bool preempt_rt, const char *script, const char *wanted)
{
	struct facts facts = { .len = 0 };
	struct fail fail = FAIL_INIT;
	struct reader reader;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	types(&loom);
	loom_play(&loom,
		  "0 1000 7 sched_switch prev_comm=task prev_pid=7 prev_state=1 next_comm=hit next_pid=5\n"
		  "1 1000 0 sched_switch prev_comm=swapper/1 prev_pid=0 prev_state=0 next_comm=act next_pid=9\n");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	reader_init(&reader);
	state_init(&facts.state, preempt_rt);
	CHECK(trace && !reader_add_trace(&reader, trace, &fail) &&
	      !reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail) &&
	      !reader_run(&reader, &(struct reader_consumer){ see, &facts }, 1, &fail));
	CHECK_STR(facts.text, wanted);
	state_release(&facts.state);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
}

TEST(cause_facts_of_a_timer_are_who_set_it_when_it_was_due_and_its_function)
{
	/* hrtimer_expire_entry comes 150 after the timer was due by its own clock, which is not that of the trace. */
	check(false,
	      "1 1100 9 hrtimer_start hrtimer=0x70 function=0xffffffff81000200 expires=500000\n"
	      "0 2000 5 local_timer_entry common_flags=9 vector=236\n"
	      "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 now=500150 "
	      "function=0xffffffff81000200\n" WAKE("2200", "9"),
	      "timer 'timer:timerfd_tmrproc' by=9@1100 due=1950 < 9");
	/* It expired at once: 0 late. */
	check(false,
	      "1 1100 9 hrtimer_start hrtimer=0x70 function=0xffffffff81000100 expires=500000\n"
	      "0 2000 5 local_timer_entry common_flags=9 vector=236\n"
	      "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 now=500000 "
	      "function=0xffffffff81000100\n" WAKE("2200", "9"),
	      "timer 'timer:hrtimer_wakeup' by=9@1100 due=2100 own=1 < its own timer");
	/* A clock that says that it is early, or late by more than all the time there was, says nothing. */
	check(false,
	      "1 1100 9 hrtimer_start hrtimer=0x70 function=0xffffffff81000200 expires=500000\n"
	      "0 2000 5 local_timer_entry common_flags=9 vector=236\n"
	      "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 now=499999 "
	      "function=0xffffffff81000200\n" WAKE("2200", "9"),
	      "timer 'timer:timerfd_tmrproc' by=9@1100 < 9");
	check(false,
	      "1 1100 9 hrtimer_start hrtimer=0x70 function=0xffffffff81000200 expires=500000\n"
	      "0 2000 5 local_timer_entry common_flags=9 vector=236\n"
	      "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 now=502100 "
	      "function=0xffffffff81000200\n" WAKE("2200", "9"),
	      "timer 'timer:timerfd_tmrproc' by=9@1100 < 9");
	/* No symbol, and nobody is known to have set it. */
	check(false,
	      "0 2000 5 local_timer_entry common_flags=9 vector=236\n"
	      "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 now=1 function=0x123\n" WAKE("2200", "9"),
	      "timer 'a timer' < a timer");
	/* One of jiffies: set at 1000 for 1004, expires at 1008; so the jiffy 1004 was half way from 1500 to 2500. */
	check(false,
	      "1 1500 9 timer_start timer=0x80 function=0xffffffff81000200 expires=1004 now=1000\n"
	      "0 2400 5 softirq_entry common_flags=17 vec=1\n"
	      "0 2500 5 timer_expire_entry common_flags=17 timer=0x80 now=1008 function=0xffffffff81000200\n" WAKE(
		      "2600", "17"),
	      "timer 'timer:timerfd_tmrproc' by=9@1500 due=2000 < 9");
	/* It expires at the jiffy before: there is none between. */
	check(false,
	      "1 1500 9 timer_start timer=0x80 function=0xffffffff81000200 expires=1004 now=1000\n"
	      "0 2400 5 softirq_entry common_flags=17 vec=1\n"
	      "0 2500 5 timer_expire_entry common_flags=17 timer=0x80 now=1003 function=0xffffffff81000200\n" WAKE(
		      "2600", "17"),
	      "timer 'timer:timerfd_tmrproc' by=9@1500 < 9");
	/* The task that is woken had set it. */
	check(false,
	      "0 1100 5 timer_start timer=0x80 function=0xffffffff81000200 expires=4 now=3\n"
	      "0 2400 0 softirq_entry common_flags=17 vec=1\n"
	      "0 2500 0 timer_expire_entry common_flags=17 timer=0x80 now=4 function=0xffffffff81000200\n"
	      "0 2600 0 sched_waking common_flags=17 comm=hit pid=5 prio=120 target_cpu=0\n",
	      "timer 'timer:timerfd_tmrproc' by=5@1100 due=2500 < its own timer");
	/* An interrupt of which nothing is known moves the timer that 9 has set; the tick sets it for good. */
	check(false,
	      "1 1100 9 hrtimer_start hrtimer=0x70 function=0xffffffff81000200 expires=500000\n"
	      "1 1200 9 hrtimer_start common_flags=9 hrtimer=0x70 function=0xffffffff81000200 expires=600000\n"
	      "0 2000 5 local_timer_entry common_flags=9 vector=236\n"
	      "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 now=600100 "
	      "function=0xffffffff81000200\n" WAKE("2200", "9"),
	      "timer 'timer:timerfd_tmrproc' by=9@1100 due=2000 < 9");
	check(false,
	      "1 1100 9 hrtimer_start hrtimer=0x70 function=0xffffffff81000200 expires=500000\n"
	      "1 1150 9 local_timer_entry common_flags=9 vector=236\n"
	      "1 1200 9 hrtimer_start common_flags=9 hrtimer=0x70 function=0xffffffff81000200 expires=600000\n"
	      "0 2000 5 local_timer_entry common_flags=9 vector=236\n"
	      "0 2100 5 hrtimer_expire_entry common_flags=9 hrtimer=0x70 now=600100 "
	      "function=0xffffffff81000200\n" WAKE("2200", "9"),
	      "timer 'timer:timerfd_tmrproc' by=0@1200/irq:local_timer due=2000 < timer:timerfd_tmrproc");
	/* A timer inside of another has ended: what follows is that of the outer one. */
	check(false,
	      "0 2000 5 softirq_entry common_flags=17 vec=1\n"
	      "0 2100 5 timer_expire_entry common_flags=17 timer=0x80 now=8 function=0xffffffff81000300\n"
	      "0 2110 5 timer_expire_exit common_flags=17 timer=0x80\n"
	      "0 2120 5 timer_expire_entry common_flags=17 timer=0x90 now=8 function=0xffffffff81000200\n" WAKE("2200",
														"17"),
	      "timer 'timer:timerfd_tmrproc' < timer:timerfd_tmrproc");
	/* It was cancelled: who set the same one before is of no interest. */
	check(false,
	      "1 1500 9 timer_start timer=0x80 function=0xffffffff81000200 expires=1004 now=1000\n"
	      "1 1600 9 timer_cancel timer=0x80\n"
	      "0 2400 5 softirq_entry common_flags=17 vec=1\n"
	      "0 2500 5 timer_expire_entry common_flags=17 timer=0x80 now=1008 function=0xffffffff81000200\n" WAKE(
		      "2600", "17"),
	      "timer 'timer:timerfd_tmrproc' < timer:timerfd_tmrproc");
}

TEST(cause_facts_of_a_softirq_are_who_raised_it_and_when)
{
	check(false, "0 1500 5 softirq_raise vec=3\n0 2000 5 softirq_entry common_flags=17 vec=3\n" WAKE("2200", "17"),
	      "softirq 'softirq:NET_RX' by=5@1500 raised=1500 vec=3 < 5");
	/* Raised again before it ran: the first one counts. The vector 10 is none. */
	check(false,
	      "0 1500 5 softirq_raise vec=3\n0 1600 5 softirq_raise vec=3\n0 1700 5 softirq_raise vec=10\n"
	      "0 2000 5 softirq_entry common_flags=17 vec=3\n" WAKE("2200", "17"),
	      "softirq 'softirq:NET_RX' by=5@1500 raised=1500 vec=3 < 5");
	check(false, "0 2000 5 softirq_entry common_flags=17 vec=10\n" WAKE("2200", "17"), "interrupt ''");
	/* Raised in an interrupt, which is named; the tick is not. */
	check(false,
	      "0 1400 5 irq_handler_entry common_flags=9 irq=9 name=eth0\n"
	      "0 1500 5 softirq_raise common_flags=9 vec=3\n"
	      "0 1600 5 irq_handler_exit common_flags=9 irq=9 ret=1\n"
	      "0 2000 5 softirq_entry common_flags=17 vec=3\n" WAKE("2200", "17"),
	      "softirq 'softirq:NET_RX' by=0@1500/irq:eth0 raised=1500 vec=3 < irq:eth0");
	check(false,
	      "0 1400 5 local_timer_entry common_flags=9 vector=236\n"
	      "0 1500 5 softirq_raise common_flags=9 vec=1\n"
	      "0 1600 5 local_timer_exit common_flags=9 vector=236\n"
	      "0 2000 5 softirq_entry common_flags=17 vec=1\n" WAKE("2200", "17"),
	      "softirq 'softirq:TIMER' by=0@1500/irq:local_timer raised=1500 vec=1 < softirq:TIMER");
	/* What was raised last time is done. */
	check(false,
	      "0 1500 5 softirq_raise vec=3\n0 1600 5 softirq_entry common_flags=17 vec=3\n"
	      "0 1700 5 softirq_exit common_flags=17 vec=3\n"
	      "0 2000 5 softirq_entry common_flags=17 vec=3\n" WAKE("2200", "17"),
	      "interrupt 'softirq:NET_RX' vec=3 < softirq:NET_RX");
	/* An interrupt in the softirq does not change it when it has ended. */
	check(false,
	      "0 1500 5 softirq_raise vec=3\n0 1600 5 softirq_entry common_flags=17 vec=3\n"
	      "0 1700 5 irq_handler_entry common_flags=25 irq=9 name=eth0\n"
	      "0 1800 5 irq_handler_exit common_flags=25 irq=9 ret=1\n" WAKE("2200", "17"),
	      "softirq 'softirq:NET_RX' by=5@1500 raised=1500 vec=3 < 5");
	check(false,
	      "0 1500 5 softirq_raise vec=3\n0 1600 5 softirq_entry common_flags=17 vec=3\n"
	      "0 1700 5 irq_handler_entry common_flags=25 irq=9 name=eth0\n" WAKE("2200", "17"),
	      "softirq 'softirq:NET_RX' by=5@1500 raised=1500 vec=3 < 5");
	check(false,
	      "0 1500 5 softirq_raise vec=3\n0 1600 5 softirq_entry common_flags=17 vec=3\n"
	      "0 1700 5 irq_handler_entry common_flags=25 irq=9 name=eth0\n" WAKE("2200", "25"),
	      "interrupt 'irq:eth0' < irq:eth0");
	/* The idle task does what was raised first, and ksoftirqd is woken for it. */
	check(false,
	      "0 1500 5 softirq_raise vec=9\n0 1550 5 softirq_raise vec=3\n"
	      "0 1600 5 sched_switch prev_comm=hit prev_pid=5 prev_state=1 next_comm=swapper/0 next_pid=0\n"
	      "0 2200 0 sched_waking comm=task pid=7 prio=120 target_cpu=0\n",
	      "softirq '' by=5@1500 vec=9 < 5");
	check(false,
	      "0 1450 5 softirq_raise vec=9\n0 1500 5 softirq_raise vec=3\n"
	      "0 2200 5 sched_waking common_flags=17 comm=ksoftirqd/0 pid=15 prio=120 target_cpu=0\n",
	      "softirq '' by=5@1450 vec=9 < 5");
	/* In ksoftirqd: a thread that had to wait for the CPU. */
	check(false,
	      "0 1500 5 softirq_raise vec=3\n"
	      "0 1600 5 sched_switch prev_comm=hit prev_pid=5 prev_state=1 next_comm=ksoftirqd/0 next_pid=15\n"
	      "0 2000 15 softirq_entry common_flags=17 vec=3\n"
	      "0 2200 15 sched_waking common_flags=17 comm=task pid=7 prio=120 target_cpu=0\n",
	      "softirq 'softirq:NET_RX' by=5@1500 raised=1500 thread=15 vec=3 < 5");
	check(false,
	      "0 1500 5 softirq_raise vec=1\n"
	      "0 1600 5 sched_switch prev_comm=hit prev_pid=5 prev_state=1 next_comm=ksoftirqd/0 next_pid=15\n"
	      "0 2000 15 softirq_entry common_flags=17 vec=1\n"
	      "0 2100 15 timer_expire_entry common_flags=17 timer=0x80 now=8 function=0xffffffff81000200\n"
	      "0 2200 15 sched_waking common_flags=17 comm=task pid=7 prio=120 target_cpu=0\n",
	      "timer 'timer:timerfd_tmrproc' raised=1500 thread=15 < timer:timerfd_tmrproc");
	/* PREEMPT_RT: any task runs it, and takes it along to its next turn. */
	check(true, "0 1500 5 softirq_raise vec=3\n0 2000 5 softirq_entry common_flags=17 vec=3\n" WAKE("2200", "17"),
	      "softirq 'softirq:NET_RX' by=5@1500 raised=1500 thread=5 vec=3 < 5");
	check(true,
	      "0 1500 5 softirq_raise vec=3\n0 2000 5 softirq_entry common_flags=17 vec=3\n"
	      "0 2010 5 sched_switch common_flags=16 prev_comm=hit prev_pid=5 prev_state=0 next_comm=x next_pid=8\n"
	      "0 2020 8 sched_switch prev_comm=x prev_pid=8 prev_state=1 next_comm=hit next_pid=5\n" WAKE("2200", "17"),
	      "softirq 'softirq:NET_RX' by=5@1500 raised=1500 thread=5 vec=3 < 5");
	/* A loss on its CPU, and on another one. */
	check(false,
	      "0 1500 5 softirq_raise vec=3\n0 2000 5 softirq_entry common_flags=17 vec=3\n1 lost 3\n"
	      "1 2100 9 sched_waking comm=y pid=77 prio=120 target_cpu=1\n" WAKE("2200", "17"),
	      " < 9, softirq 'softirq:NET_RX' by=5@1500 raised=1500 vec=3 < 5");
	check(false,
	      "0 1500 5 softirq_raise vec=3\n0 lost 3\n0 2000 5 softirq_entry common_flags=17 vec=3\n" WAKE("2200",
													    "17"),
	      "interrupt 'softirq:NET_RX' vec=3 < softirq:NET_RX");
}

TEST(cause_facts_of_a_request_are_who_queued_and_issued_it_and_when_the_disk_was_done)
{
	/* 254:0 and its partition 254:1. */
	check(false,
	      "1 1300 9 block_bio_queue dev=0xfe00001 sector=80 nr_sector=8 rwbs=R\n"
	      "1 1350 10 block_getrq dev=0xfe00001 sector=80 nr_sector=8 rwbs=R\n"
	      "1 1400 11 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
	      "0 2000 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 2100 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=80 nr_sector=8 rwbs=RA\n" WAKE("2200",
													     "9"),
	      "request 'disk 254:0' by=9@1300 then=11@1400 due=2100 device=266338304 RA < disk 254:0");
	/* Only block_getrq is recorded. */
	check(false,
	      "1 1350 10 block_getrq dev=0xfe00001 sector=80 nr_sector=8 rwbs=R\n"
	      "1 1400 11 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
	      "0 2000 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 2100 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n" WAKE("2200",
													    "9"),
	      "request 'disk 254:0' by=10@1350 then=11@1400 due=2100 device=266338304 R < disk 254:0");
	/* Only the issue: who issued it queued it. Issued twice: it was queued at first. */
	check(false,
	      "1 1400 11 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n"
	      "1 1500 12 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n"
	      "0 2000 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 2100 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n" WAKE("2200",
													    "9"),
	      "request 'disk 254:0' by=11@1400 then=12@1500 due=2100 device=266338304 W < disk 254:0");
	/* The same sector of another disk is another request, and one that has ended is no more. */
	check(false,
	      "1 1400 11 block_rq_issue dev=0xfe00010 sector=80 nr_sector=8 rwbs=W\n"
	      "0 2000 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 2100 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n" WAKE("2200",
													    "9"),
	      "request 'disk 254:0' due=2100 device=266338304 W < disk 254:0");
	check(false,
	      "1 1400 11 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n"
	      "1 1500 11 block_rq_complete dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n"
	      "0 2000 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 2100 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n" WAKE("2200",
													    "9"),
	      "request 'disk 254:0' due=2100 device=266338304 W < disk 254:0");
	/* Of a bio that was merged into the request the task that queued it is no cause of what comes there later. */
	check(false,
	      "1 1300 9 block_bio_queue dev=0xfe00001 sector=80 nr_sector=8 rwbs=R\n"
	      "1 1310 10 block_bio_queue dev=0xfe00001 sector=88 nr_sector=8 rwbs=R\n"
	      "1 1320 10 block_bio_queue dev=0xfe00001 sector=96 nr_sector=8 rwbs=R\n"
	      "1 1400 11 block_rq_issue dev=0xfe00000 sector=80 nr_sector=16 rwbs=R\n"
	      "1 1500 12 block_rq_issue dev=0xfe00000 sector=88 nr_sector=8 rwbs=R\n"
	      "1 1600 12 block_rq_issue dev=0xfe00000 sector=96 nr_sector=8 rwbs=R\n"
	      "0 2000 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 2100 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=88 nr_sector=8 rwbs=R\n"
	      "0 2150 5 sched_waking common_flags=9 comm=w pid=17 prio=120 target_cpu=0\n"
	      "0 2160 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=96 nr_sector=8 rwbs=R\n" WAKE("2200",
													    "9"),
	      "request 'disk 254:0' by=12@1500 then=12@1500 due=2100 device=266338304 R < disk 254:0, "
	      "request 'disk 254:0' by=10@1320 then=12@1600 due=2160 device=266338304 R < disk 254:0");
	/* The device's interrupt raises BLOCK, which completes the request: the disk was done then. */
	check(false,
	      "1 1400 11 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n"
	      "0 1900 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 1950 5 softirq_raise common_flags=9 vec=4\n"
	      "0 1960 5 irq_handler_exit common_flags=9 irq=9 ret=1\n"
	      "0 2000 5 softirq_entry common_flags=17 vec=4\n"
	      "0 2100 5 block_rq_complete common_flags=17 dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n" WAKE("2200",
													     "17"),
	      "request 'disk 254:0' by=11@1400 then=11@1400 due=1950 raised=1950 device=266338304 W < disk 254:0");
	/* The softirq was raised for another one: before this was issued. */
	check(false,
	      "0 1200 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 1250 5 softirq_raise common_flags=9 vec=4\n"
	      "0 1260 5 irq_handler_exit common_flags=9 irq=9 ret=1\n"
	      "1 1400 11 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n"
	      "0 2000 5 softirq_entry common_flags=17 vec=4\n"
	      "0 2100 5 block_rq_complete common_flags=17 dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n" WAKE("2200",
													     "17"),
	      "request 'disk 254:0' by=11@1400 then=11@1400 due=2100 raised=1250 device=266338304 W < disk 254:0");
	/* A flush ends, and with it at once a request that asked for it; that of another disk not. */
	check(false,
	      "1 1400 11 block_rq_issue dev=0xfe00000 sector=0 nr_sector=0 rwbs=FF\n"
	      "0 2000 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 2100 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=0 nr_sector=0 rwbs=FF\n"
	      "0 2110 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=70 nr_sector=0 rwbs=WFS\n" WAKE("2200",
													      "9"),
	      "request 'disk 254:0' by=11@1400 then=11@1400 due=2100 device=266338304 flush=1 WFS < disk 254:0");
	check(false,
	      "1 1400 11 block_rq_issue dev=0xfe00000 sector=0 nr_sector=0 rwbs=FF\n"
	      "0 2000 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 2100 5 block_rq_complete common_flags=9 dev=0xfe00000 sector=0 nr_sector=0 rwbs=FF\n"
	      "0 2110 5 block_rq_complete common_flags=9 dev=0xfe00010 sector=70 nr_sector=0 rwbs=WFS\n" WAKE("2200",
													      "9"),
	      "request 'disk 254:16' due=2110 device=266338320 WFS < disk 254:16");
	/* PREEMPT_RT: the interrupt wakes its thread, which completes the request. */
	check(true,
	      "1 1400 11 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n"
	      "0 1800 5 irq_handler_entry common_flags=9 irq=9 name=vda\n"
	      "0 1900 5 sched_waking common_flags=9 comm=irq/9-vda pid=21 prio=49 target_cpu=0\n"
	      "0 1910 5 irq_handler_exit common_flags=9 irq=9 ret=2\n"
	      "0 1950 5 sched_switch prev_comm=hit prev_pid=5 prev_state=0 next_comm=irq/9-vda next_pid=21\n"
	      "0 2100 21 block_rq_complete dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n"
	      "0 2200 21 sched_waking comm=task pid=7 prio=120 target_cpu=0\n",
	      "interrupt 'irq:vda' < irq:vda, request 'disk 254:0' by=11@1400 then=11@1400 due=1900 thread=21 "
	      "device=266338304 W < 21");
}

TEST(cause_facts_of_packets_interrupts_and_work_are_who_sent_and_queued_them)
{
	check(false,
	      "1 1300 9 net_dev_queue skbaddr=0x100 len=9\n"
	      "0 1500 5 softirq_raise vec=3\n"
	      "0 2000 5 softirq_entry common_flags=17 vec=3\n"
	      "0 2100 5 netif_receive_skb common_flags=17 skbaddr=0x100 len=9\n" WAKE("2200", "17"),
	      "packet 'softirq:NET_RX' by=9@1300 raised=1500 vec=3 < 9");
	/* Another packet comes, which nobody is known to have sent: the one before is still the cause. */
	check(false,
	      "1 1300 9 net_dev_queue skbaddr=0x100 len=9\n"
	      "0 2000 5 softirq_entry common_flags=17 vec=3\n"
	      "0 2100 5 netif_receive_skb common_flags=17 skbaddr=0x100 len=9\n"
	      "0 2110 5 netif_receive_skb common_flags=17 skbaddr=0x100 len=9\n" WAKE("2200", "17"),
	      "packet 'softirq:NET_RX' by=9@1300 vec=3 < 9");
	/* A packet that came from a device: the interrupt is named. */
	check(false,
	      "0 1400 5 irq_handler_entry common_flags=9 irq=9 name=eth0\n"
	      "0 1500 5 net_dev_queue common_flags=9 skbaddr=0x100 len=9\n"
	      "0 1600 5 irq_handler_exit common_flags=9 irq=9 ret=1\n"
	      "0 2000 5 softirq_entry common_flags=17 vec=3\n"
	      "0 2100 5 netif_receive_skb common_flags=17 skbaddr=0x100 len=9\n" WAKE("2200", "17"),
	      "packet 'softirq:NET_RX' by=0@1500/irq:eth0 vec=3 < irq:eth0");
	check(false,
	      "1 1300 9 ipi_send_cpu cpu=0\n0 2000 5 reschedule_entry common_flags=9 vector=253\n" WAKE("2200", "9"),
	      "ipi 'irq:reschedule' by=9@1300 < 9");
	check(false,
	      "1 1300 9 ipi_send_cpu cpu=0\n0 2000 5 call_function_single_entry common_flags=9 vector=251\n" WAKE(
		      "2200", "9"),
	      "ipi 'irq:call_function_single' by=9@1300 < 9");
	/* One was sent, to another CPU; one has come; the timer's interrupt is sent by nobody. */
	check(false,
	      "1 1300 9 ipi_send_cpu cpu=2\n0 2000 5 reschedule_entry common_flags=9 vector=253\n" WAKE("2200", "9"),
	      "interrupt 'irq:reschedule' < irq:reschedule");
	check(false,
	      "1 1300 9 ipi_send_cpu cpu=0\n0 1900 5 reschedule_entry common_flags=9 vector=253\n"
	      "0 1910 5 reschedule_exit common_flags=9 vector=253\n"
	      "0 2000 5 reschedule_entry common_flags=9 vector=253\n" WAKE("2200", "9"),
	      "interrupt 'irq:reschedule' < irq:reschedule");
	check(false,
	      "1 1300 9 ipi_send_cpu cpu=0\n0 2000 5 local_timer_entry common_flags=9 vector=236\n" WAKE("2200", "9"),
	      "interrupt 'irq:local_timer' < irq:local_timer");
	/* Two devices in turn. */
	check(false,
	      "0 1400 5 irq_handler_entry common_flags=9 irq=9 name=eth0\n"
	      "0 1410 5 sched_waking common_flags=9 comm=w pid=17 prio=120 target_cpu=0\n"
	      "0 1600 5 irq_handler_exit common_flags=9 irq=9 ret=1\n"
	      "0 1700 5 irq_handler_entry common_flags=9 irq=8 name=eth1\n" WAKE("2200", "9"),
	      "interrupt 'irq:eth0' < irq:eth0, interrupt 'irq:eth1' < irq:eth1");
	/* A work item that 9 queued, executed by 5: a second wakeup has the same cause; after its end there is none. */
	check(false,
	      "1 1300 9 workqueue_queue_work work=0x500 function=0x1\n"
	      "0 2000 5 workqueue_execute_start work=0x500 function=0x1\n" WAKE(
		      "2200", "0") "0 2250 5 workqueue_execute_end work=0x500 function=0x1\n"
				   "0 2300 5 sched_waking comm=w pid=17 prio=120 target_cpu=0\n",
	      "work '' by=9@1300 then=5@2000 < 5 < 5");
	check(false, "0 2000 5 workqueue_execute_start work=0x500 function=0x1\n" WAKE("2200", "0"),
	      "work '' then=5@2000 < 5");
	/* Queued in an interrupt. */
	check(false,
	      "1 1250 9 irq_handler_entry common_flags=9 irq=9 name=eth0\n"
	      "1 1300 9 workqueue_queue_work common_flags=9 work=0x500 function=0x1\n"
	      "1 1350 9 irq_handler_exit common_flags=9 irq=9 ret=1\n"
	      "0 2000 5 workqueue_execute_start work=0x500 function=0x1\n" WAKE("2200", "0"),
	      "work '' by=0@1300/irq:eth0 then=5@2000 < 5");
	/* The same item is executed again: it was queued once. */
	check(false,
	      "1 1300 9 workqueue_queue_work work=0x500 function=0x1\n"
	      "0 1900 5 workqueue_execute_start work=0x500 function=0x1\n"
	      "0 1950 5 workqueue_execute_end work=0x500 function=0x1\n"
	      "0 2000 5 workqueue_execute_start work=0x500 function=0x1\n" WAKE("2200", "0"),
	      "work '' then=5@2000 < 5");
}
