// SPDX-License-Identifier: GPL-2.0-only
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/why/why_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom->version = 6;
	loom->uname = "Linux loom 6.12.0 #1 SMP x86_64 GNU/Linux";
	loom->kallsyms = "ffffffff81000100 t hrtimer_wakeup\nffffffff81000200 t timerfd_tmrproc\n"
			 "ffffffff81000300 t process_timeout\n";
	loom_type(loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_type(loom, "sched", "sched_wakeup_new", "char comm[16]; pid_t pid; int prio; int target_cpu", "\"\"");
	loom_type(loom, "sched", "sched_process_fork",
		  "char parent_comm[16]; pid_t parent_pid; char child_comm[16]; pid_t child_pid", "\"\"");
	loom_type(loom, "sched", "sched_process_exit", "char comm[16]; pid_t pid; int prio", "\"\"");
	loom_type(loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(loom, "irq", "softirq_raise", "int vec", "\"\"");
	loom_type(loom, "timer", "hrtimer_start", "u64 hrtimer; u64 function; u64 expires", "\"\"");
	loom_type(loom, "timer", "hrtimer_expire_entry", "u64 hrtimer; u64 now; u64 function", "\"\"");
	loom_type(loom, "timer", "hrtimer_expire_exit", "u64 hrtimer", "\"\"");
	loom_type(loom, "timer", "timer_start", "u64 timer; u64 function; u64 expires; u64 now", "\"\"");
	loom_type(loom, "timer", "timer_expire_entry", "u64 timer; u64 now; u64 function", "\"\"");
	loom_type(loom, "timer", "timer_expire_exit", "u64 timer", "\"\"");
	loom_type(loom, "block", "block_bio_queue", "u32 dev; u64 sector; int nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_issue", "u32 dev; u64 sector; int nr_sector; char rwbs[8]", "\"\"");
	loom_type(loom, "block", "block_rq_complete", "u32 dev; u64 sector; int nr_sector; char rwbs[8]", "\"\"");
}

#define SWITCH(cpu, at, out, out_pid, state, in, in_pid)                               \
#cpu " " #at " " #out_pid " sched_switch prev_comm=" out " prev_pid=" #out_pid \
	     " prev_prio=120 prev_state=" #state " next_comm=" in " next_pid=" #in_pid " next_prio=120\n"
#define WAKING(cpu, at, by, comm, pid, to) \
#cpu " " #at " " #by " sched_waking comm=" comm " pid=" #pid " prio=120 target_cpu=" #to "\n"

/* Whether these are the lines of the path: "STATE NS COMM CAUSE", one after the other, with / between them. */
static bool goes(struct analysed *analysed, const char *wanted)
{
	const struct why_analysis *why = analysed->pass.items[0].analysis;
	const struct why_found *found = &why->found[0][0];
	static const char *const states[WHY_STATES] = { "unknown", "ran",  "early", "waited", "hit",  "slept", "timer",
							"late",    "disk", "done",  "net",    "soft", "ipi",   "irq" };
	char got[2048] = "";
	size_t len = 0;

	for (size_t i = 0; why->nr[0] && i < found->path.nr && len < sizeof(got); i++) {
		const struct why_link *link = &found->path.links[i];

		len += (size_t)snprintf(got + len, sizeof(got) - len, "%s%s %lu %s%s%s", i ? "/" : "",
					states[link->state], (unsigned long)(link->to - link->from),
					why_log_text(&why->log, link->name), link->cause ? " " : "",
					why_log_text(&why->log, link->cause));
	}
	if (strcmp(got, wanted))
		printf("the path is  %s\nand not      %s\n", got, wanted);
	return !strcmp(got, wanted);
}

static bool explains_of(const struct why_options *options, const char *script, const char *wanted)
{
	struct analysed analysed;
	bool is;

	if (!analysed_begin(&analysed, &why_analysis, options, types, script))
		return false;
	is = goes(&analysed, wanted);
	analysed_end(&analysed);
	return is;
}

static bool explains(const char *script, const char *wanted)
{
	return explains_of(&(struct why_options){ .of = WHY_CALL, .name = "read" }, script, wanted);
}

/* clang-format off */

/* a reads from b, which was asleep until c had worked for it. Each did what it did while the others waited. */
TEST(why_follows_those_who_woke_each_other_and_divides_each_ns_once)
{
	/* c ran from the beginning of b's sleep on, until it woke b. */
	CHECK(explains("1 900 8 sys_enter id=9\n"
		       "2 900 9 sys_enter id=9\n"
		       "0 1000 7 sys_enter id=0\n"
		       SWITCH(0, 1100, "a", 7, 1, "swapper/0", 0)
		       SWITCH(1, 1200, "b", 8, 1, "swapper/1", 0)
		       WAKING(2, 3000, 9, "b", 8, 1)
		       SWITCH(1, 3500, "swapper/1", 0, 0, "b", 8)
		       WAKING(1, 5000, 8, "a", 7, 0)
		       SWITCH(0, 5600, "swapper/0", 0, 0, "a", 7)
		       "0 6000 7 sys_exit id=0\n",
		       "ran 100 a/ran 100 b/ran 1800 /waited 500 b an idle CPU/ran 1500 b/"
		       "waited 600 a an idle CPU/ran 400 a"));
}

/* The timer was due at 2000 by its own clock, and its function ran 300 later. */
TEST(why_tells_a_sleep_on_a_timer_from_the_time_that_it_was_late)
{
#define SLEEPS "0 1000 7 sys_enter id=0\n" \
	       "0 1050 7 hrtimer_start hrtimer=0x70 function=0xffffffff81000100 expires=502000\n" \
	       SWITCH(0, 1100, "a", 7, 1, "swapper/0", 0)
#define EXPIRES "0 2300 0 hrtimer_expire_entry common_flags=9 hrtimer=0x70 now=502300 function=0xffffffff81000100\n" \
		"0 2400 0 sched_waking common_flags=9 comm=a pid=7 prio=120 target_cpu=0\n" \
		"0 2450 0 hrtimer_expire_exit common_flags=9 hrtimer=0x70\n"
#define COMES_AT(at) SWITCH(0, at, "swapper/0", 0, 0, "a", 7) \
	"0 4000 7 sys_exit id=0\n"
#define COMES SWITCH(0, 2600, "swapper/0", 0, 0, "a", 7) "0 3000 7 sys_exit id=0\n"
	CHECK(explains(SLEEPS EXPIRES COMES,
		       "ran 100 a/slept 900 a its own timer/late 400 a its timer/waited 200 a an idle CPU/ran 400 a"));
	CHECK(explains(SLEEPS "0 2250 0 irq_handler_entry common_flags=9 irq=3 name=tick\n" EXPIRES
		       "0 2460 0 irq_handler_exit common_flags=9 irq=3 ret=1\n" COMES,
		       "ran 100 a/slept 900 a its own timer/late 400 a its timer/waited 60 a behind irq:tick/"
		       "waited 140 a an idle CPU/ran 400 a"));
}

/* Set at jiffy 100 for jiffy 103, and it expires at jiffy 105, 2500 after it was set: so it was due 1500 after. */
TEST(why_knows_when_a_timer_was_due_that_counts_jiffies)
{
	CHECK(explains("0 1000 7 sys_enter id=0\n"
		       "0 1050 7 timer_start timer=0x70 function=0xffffffff81000300 expires=103 now=100\n"
		       SWITCH(0, 1100, "a", 7, 1, "swapper/0", 0)
		       "0 3550 0 timer_expire_entry common_flags=16 timer=0x70 now=105 function=0xffffffff81000300\n"
		       "0 3600 0 sched_waking common_flags=16 comm=a pid=7 prio=120 target_cpu=0\n"
		       "0 3650 0 timer_expire_exit common_flags=16 timer=0x70\n" COMES_AT(3700),
		       "ran 100 a/slept 1450 a its own timer/late 1050 a its timer/"
		       "waited 100 a an idle CPU/ran 300 a"));
}

/* The timer of b raised a softirq, which woke a: it is not a's own, and nobody's. */
TEST(why_says_whose_timer_it_was_that_raised_a_softirq)
{
	CHECK(explains(SWITCH(1, 800, "swapper/1", 0, 0, "b", 8)
		       "1 900 8 timer_start timer=0x70 function=0xffffffff81000300 expires=103 now=100\n"
		       "0 1000 7 sys_enter id=0\n"
		       SWITCH(0, 1100, "a", 7, 1, "swapper/0", 0)
		       "0 3550 0 timer_expire_entry common_flags=16 timer=0x70 now=103 function=0xffffffff81000300\n"
		       "0 3570 0 softirq_raise common_flags=16 vec=9\n"
		       "0 3580 0 timer_expire_exit common_flags=16 timer=0x70\n"
		       "0 3590 0 softirq_entry common_flags=16 vec=9\n"
		       "0 3600 0 sched_waking common_flags=16 comm=a pid=7 prio=120 target_cpu=0\n"
		       "0 3650 0 softirq_exit common_flags=16 vec=9\n" COMES_AT(3700),
		       "ran 100 a/timer 2450  timer:process_timeout set by b/late 20  timer:process_timeout/"
		       "soft 30 a softirq:RCU/waited 50 a behind softirq:RCU/waited 50 a an idle CPU/ran 300 a"));
}

/* The same request, from when it was queued until it was completed. */
TEST(why_explains_a_request)
{
	static const struct why_options request = { .of = WHY_REQUEST };

	/* A bio at the same place was merged into a request before. */
	CHECK(explains_of(&request,
			  "0 300 7 block_bio_queue dev=0xfe00000 sector=72 nr_sector=8 rwbs=W\n"
			  "0 310 7 block_bio_queue dev=0xfe00000 sector=80 nr_sector=8 rwbs=W\n"
			  "0 320 7 block_rq_issue dev=0xfe00000 sector=72 nr_sector=16 rwbs=W\n"
			  "0 400 7 block_rq_complete common_flags=9 dev=0xfe00000 sector=72 nr_sector=16 rwbs=W\n"
			  "1 900 8 sys_enter id=9\n"
			  "0 1000 7 sys_enter id=0\n"
			  "0 1050 7 block_bio_queue dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
			  WAKING(0, 1060, 7, "w", 9, 1)
			  SWITCH(0, 1100, "a", 7, 2, "swapper/0", 0)
			  SWITCH(1, 1700, "b", 8, 0, "w", 9)
			  "1 1900 9 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
			  "0 2400 0 irq_handler_entry common_flags=9 irq=3 name=vda\n"
			  "0 2500 0 block_rq_complete common_flags=9 dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
			  "0 2600 0 irq_handler_exit common_flags=9 irq=3 ret=1\n",
			  "ran 10 a/waited 640 w behind b/ran 200 w/disk 600  disk 254:0 R"));
}

/* The recording ends when its command does, and may not have the last switch of that. */
TEST(why_knows_the_life_of_a_task_that_exited_and_still_has_its_cpu)
{
	static const struct why_options run = { .of = WHY_RUN, .name = "b" };

	CHECK(explains_of(&run,
			  SWITCH(0, 1000, "x", 3, 1, "a", 7)
			  "0 1100 7 sched_process_fork parent_comm=a parent_pid=7 child_comm=b child_pid=8\n"
			  WAKING(0, 1200, 7, "b", 8, 1)
			  SWITCH(1, 1500, "swapper/1", 0, 0, "b", 8)
			  "1 2500 8 sched_process_exit comm=b pid=8 prio=120\n"
			  "0 3000 7 sys_enter id=0\n",
			  "ran 100 a/waited 300 b an idle CPU/ran 1000 b"));
}

/* PREEMPT_RT: the interrupt of the device wakes a thread at 2400, which completes the request. */
TEST(why_knows_the_request_that_a_thread_of_an_interrupt_completes)
{
	CHECK(explains("0 1000 7 sys_enter id=0\n"
		       "0 1050 7 block_bio_queue dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
		       "0 1060 7 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
		       SWITCH(0, 1100, "a", 7, 2, "swapper/0", 0)
		       "0 2400 0 sched_waking common_flags=9 comm=irq/3-vda pid=9 prio=49 target_cpu=0\n"
		       SWITCH(0, 2450, "swapper/0", 0, 0, "irq/3-vda", 9)
		       "0 2500 9 block_rq_complete dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
		       WAKING(0, 2550, 9, "a", 7, 0)
		       SWITCH(0, 2700, "irq/3-vda", 9, 1, "a", 7)
		       "0 3000 7 sys_exit id=0\n",
		       "ran 100 a/disk 1300  disk 254:0 R/waited 50 irq/3-vda an idle CPU/ran 100 irq/3-vda/"
		       "waited 150 a behind irq/3-vda/ran 300 a"));
}

/* b gets the CPU as any task and leaves it as a real-time task; an interrupt comes in between. */
TEST(why_says_that_a_task_became_a_real_time_task_in_its_run)
{
	CHECK(explains("0 1000 1 sys_enter id=0\n"
		       SWITCH(0, 1100, "a", 1, 1, "b", 2)
		       WAKING(1, 1200, 9, "a", 1, 0)
		       "0 1250 2 irq_handler_entry irq=8 name=tick\n"
		       "0 1260 2 irq_handler_exit irq=8 ret=1\n"
		       "0 1500 2 sched_switch prev_comm=b prev_pid=2 prev_prio=89 prev_state=1 next_comm=a next_pid=1 "
		       "next_prio=120\n"
		       "0 1600 1 sys_exit id=0\n",
		       "ran 100 a/ran 100 /waited 50 a behind b (RT 10)/waited 10 a behind irq:tick/"
		       "waited 240 a behind b (RT 10)/ran 100 a"));
}

/* Queued at 1050, issued by w, which first waited behind b, at 1900; the device was done at 2500. */
TEST(why_goes_through_a_request_to_the_worker_that_issues_it)
{
	CHECK(explains("1 900 8 sys_enter id=9\n"
		       "0 1000 7 sys_enter id=0\n"
		       "0 1050 7 block_bio_queue dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
		       WAKING(0, 1060, 7, "w", 9, 1)
		       SWITCH(0, 1100, "a", 7, 2, "swapper/0", 0)
		       SWITCH(1, 1700, "b", 8, 0, "w", 9)
		       "1 1900 9 block_rq_issue dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
		       "0 2500 0 irq_handler_entry common_flags=9 irq=3 name=vda\n"
		       "0 2500 0 block_rq_complete common_flags=9 dev=0xfe00000 sector=80 nr_sector=8 rwbs=R\n"
		       "0 2550 0 sched_waking common_flags=9 comm=a pid=7 prio=120 target_cpu=0\n"
		       "0 2600 0 irq_handler_exit common_flags=9 irq=3 ret=1\n"
		       SWITCH(0, 2700, "swapper/0", 0, 0, "a", 7)
		       "0 3000 7 sys_exit id=0\n",
		       "ran 100 a/waited 600 w behind b/ran 200 w/disk 600  disk 254:0 R/done 50  disk 254:0 R/"
		       "waited 50 a behind irq:vda/waited 100 a an idle CPU/ran 300 a"));
}

/* A flush that w issues: what asked for it is completed with it, and has no issue of its own. */
TEST(why_knows_who_issued_the_flush_that_a_request_asked_for)
{
	CHECK(explains("1 900 8 sys_enter id=9\n"
		       "0 1000 7 sys_enter id=0\n"
		       "0 1050 7 block_bio_queue dev=0xfe00000 sector=0 nr_sector=0 rwbs=FWS\n"
		       WAKING(0, 1060, 7, "w", 9, 1)
		       SWITCH(0, 1100, "a", 7, 2, "swapper/0", 0)
		       SWITCH(1, 1700, "b", 8, 0, "w", 9)
		       "1 1900 9 block_rq_issue dev=0xfe00000 sector=0 nr_sector=0 rwbs=FF\n"
		       "0 2400 0 irq_handler_entry common_flags=9 irq=3 name=vda\n"
		       "0 2500 0 block_rq_complete common_flags=9 dev=0xfe00000 sector=-1 nr_sector=0 rwbs=FF\n"
		       "0 2520 0 block_rq_complete common_flags=9 dev=0xfe00000 sector=0 nr_sector=0 rwbs=WS\n"
		       "0 2550 0 sched_waking common_flags=9 comm=a pid=7 prio=120 target_cpu=0\n"
		       "0 2600 0 irq_handler_exit common_flags=9 irq=3 ret=1\n"
		       SWITCH(0, 2700, "swapper/0", 0, 0, "a", 7)
		       "0 3000 7 sys_exit id=0\n",
		       "ran 100 a/waited 600 w behind b/ran 200 w/disk 600  disk 254:0 WS/done 50  disk 254:0 WS/"
		       "waited 50 a behind irq:vda/waited 100 a an idle CPU/ran 300 a"));
}

/* The events of CPU 1 from 1200 to 5000 were lost, and with them what b did. */
TEST(why_says_what_lost_events_hide_and_still_adds_up)
{
	CHECK(explains(SWITCH(1, 900, "swapper/1", 0, 0, "b", 8)
		       "0 1000 7 sys_enter id=0\n"
		       SWITCH(0, 1100, "a", 7, 1, "swapper/0", 0)
		       "1 1200 8 sys_exit id=9\n"
		       "1 lost 4\n"
		       WAKING(1, 5000, 8, "a", 7, 0)
		       SWITCH(0, 5600, "swapper/0", 0, 0, "a", 7)
		       "0 6000 7 sys_exit id=0\n",
		       "ran 100 a/ran 100 b/unknown 3800 b/waited 600 a an idle CPU/ran 400 a"));
}

/* The events of h are not recorded, and so not that a got the CPU from it: until h came, a surely waited. */
TEST(why_knows_that_a_task_waited_until_the_event_that_is_missing)
{
#define HIDDEN "0 1000 7 sys_enter id=0\n" \
	       SWITCH(0, 1100, "a", 7, 0, "b", 8) \
	       SWITCH(0, 3000, "b", 8, 1, "h", 9)
	CHECK(explains(HIDDEN "0 4000 7 sys_exit id=0\n",
		       "ran 100 a/waited 1900 a behind b/unknown 1000 a"));
	CHECK(explains(HIDDEN WAKING(0, 4000, 7, "x", 3, 1)
		       "0 4500 7 sys_exit id=0\n",
		       "ran 100 a/waited 1900 a behind b/unknown 1000 a/ran 500 a"));
	/* Only its next switch shows that it ran. */
	CHECK(explains(HIDDEN SWITCH(0, 4000, "a", 7, 0, "b", 8)
		       SWITCH(0, 4200, "b", 8, 1, "a", 7)
		       "0 4500 7 sys_exit id=0\n",
		       "ran 100 a/waited 1900 a behind b/unknown 1000 a/waited 200 a behind b/ran 300 a"));
}

/* p forks c at 2000 and waits for it: before that, what counts is what p did. */
TEST(why_gives_the_time_before_a_fork_to_the_parent)
{
	CHECK(explains("1 900 8 sys_enter id=9\n"
		       "0 1000 7 sys_enter id=0\n"
		       SWITCH(0, 1100, "a", 7, 1, "swapper/0", 0)
		       "1 2000 8 sched_process_fork parent_comm=p parent_pid=8 child_comm=p child_pid=9\n"
		       "1 2100 8 sched_wakeup_new comm=p pid=9 prio=120 target_cpu=2\n"
		       SWITCH(2, 2400, "swapper/2", 0, 0, "p", 9)
		       WAKING(2, 4000, 9, "a", 7, 0)
		       SWITCH(0, 4600, "swapper/0", 0, 0, "a", 7)
		       "0 6000 7 sys_exit id=0\n",
		       "ran 100 a/ran 1000 /waited 300 p an idle CPU/ran 1600 p/waited 600 a an idle CPU/ran 1400 a"));
}

TEST(why_counts_no_time_before_the_fork_and_after_the_end_of_a_task)
{
	const struct why_options options = { .of = WHY_TASK, .name = "9" };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &why_analysis, &options, types,
			    SWITCH(0, 1000, "x", 3, 1, "p", 8)
			    "0 2000 8 sched_process_fork parent_comm=p parent_pid=8 child_comm=c child_pid=9\n"
			    "0 2100 8 sched_wakeup_new comm=c pid=9 prio=120 target_cpu=0\n"
			    SWITCH(0, 2400, "p", 8, 1, "c", 9)
			    SWITCH(0, 4000, "c", 9, 32, "x", 3)
			    SWITCH(0, 6000, "x", 3, 1, "p", 8)))
		return;
	REQUIRE(analysed.findings.nr_worst == 1);
	CHECK(analysed.findings.worst[0].from == 2000 && analysed.findings.worst[0].to == 4000 &&
	      analysed.findings.worst[0].lasted == 2000);
	analysed_end(&analysed);
}

/* b reads from others until 4000, and only then what a sent at 1000: what it ran before was not for a. */
TEST(why_tells_what_a_server_ran_before_it_received_anything)
{
#define SERVER(first) SWITCH(1, 800, "swapper/1", 0, 0, "b", 8) \
	       "1 900 8 sys_enter id=0\n" "1 950 8 sys_exit id=0\n" \
	       "0 1000 7 sys_enter id=1\n" "0 1010 7 sys_exit id=1\n" "0 1050 7 sys_enter id=0\n" \
	       SWITCH(0, 1100, "a", 7, 1, "swapper/0", 0) \
	       first \
	       WAKING(1, 5000, 8, "a", 7, 0) \
	       SWITCH(0, 5600, "swapper/0", 0, 0, "a", 7) \
	       "0 6000 7 sys_exit id=0\n"
	CHECK(explains(SERVER("1 3900 8 sys_enter id=0\n" "1 4000 8 sys_exit id=0\n"),
		       "ran 50 a/early 2900 b/ran 1000 b/waited 600 a an idle CPU/ran 400 a"));
	/* It received something when a was not yet asleep, and more later. */
	CHECK(explains(SERVER("1 3900 8 sys_enter id=0\n"), "ran 50 a/ran 3900 b/waited 600 a an idle CPU/ran 400 a"));
}

/* clang-format on */

/* Of 200 intervals two last 50,000, of which 40,000 behind another task; the others last 1,000 each. */
TEST(why_tells_what_the_slowest_intervals_do_that_the_others_do_not)
{
	struct why_link links[] = {
		{ .from = 0, .to = 600, .pid = 7, .name = 1, .state = WHY_RAN },
		{ .from = 600, .to = 1000, .pid = 7, .name = 1, .state = WHY_WAITED, .cause = 2 },
		{ .from = 1000, .to = 1000, .pid = 8, .name = 1, .state = WHY_WAITED, .cause = 3 },
		{ .from = 1000, .to = 1000, .pid = 9, .state = WHY_SLEPT },
	};
	const struct why_path path = { .links = links, .nr = array_size(links) };
	struct why_many many;
	struct why_groups groups;

	why_many_init(&many);
	for (size_t i = 0; i < 200; i++) {
		bool slow = i % 100 == 50;

		links[2].to = slow ? 41000 : 1000;
		links[3].from = links[2].to;
		links[3].to = slow ? 50000 : 1000;
		why_many_add(&many, &path, links[3].to);
	}
	/* One of them is more than half a percent, and both are in one bin. */
	CHECK(why_many_divide(&many, 5000, &groups));
	CHECK(groups.slow.nr == 2);
	CHECK(groups.slow.ns == 100000);
	CHECK(groups.others.nr == 198);
	CHECK(groups.others.ns == 198000);
	CHECK(groups.slow.sums.ns == 100000);
	CHECK(groups.slow.sums.nr == 3);
	CHECK(groups.others.sums.nr == 2);
	why_sums_sort(&groups.slow.sums);
	CHECK(groups.slow.sums.rows[0].part.ns == 80800);
	CHECK(groups.slow.sums.rows[0].nr_shares == 2);
	CHECK(groups.slow.sums.rows[0].shares[0].cause == 3);
	CHECK(groups.slow.sums.rows[0].shares[0].ns == 80000);
	CHECK(groups.slow.sums.rows[0].part.several);
	CHECK(groups.slow.sums.rows[1].part.ns == 18000);
	CHECK(groups.others.sums.rows[0].part.ns == 198 * 600);
	why_groups_release(&groups);
	why_many_release(&many);
}

/* However many names and causes a file claims, memory is bounded, and the sum is that of all. */
TEST(why_folds_parts_when_they_are_too_many)
{
	struct why_link link = { .to = 10, .pid = 7, .state = WHY_RAN };
	const struct why_path path = { .links = &link, .nr = 1 };
	struct why_many many;
	struct why_groups groups;

	why_many_init(&many);
	for (uint32_t i = 0; i < WHY_PARTS_MAX + 1000; i++) {
		link.name = i + 1;
		why_many_add(&many, &path, 10);
	}
	CHECK(many.folded == 1000);
	CHECK(many.nr_parts <= WHY_PARTS_MAX + WHY_STATES * REASONS);
	CHECK(why_many_divide(&many, 0, &groups));
	CHECK(groups.slow.sums.ns == (WHY_PARTS_MAX + 1000) * 10);
	why_groups_release(&groups);
	why_many_release(&many);
}

static uint64_t seed = 1;

static uint64_t dice(uint64_t sides)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return sides ? (seed >> 20) % sides : 0;
}

/* Walks random windows of random tasks. */
static size_t walk_windows(struct why_analysis *why, const char *path, size_t windows)
{
	const struct state *state = &why->pass->state;
	uint64_t span = state->now - state->start, deep = 0, wrong = 0;
	size_t links = 0;

	for (size_t i = 0; i < windows && state->nr_tasks && span; i++) {
		int32_t pid = state->tasks[dice(state->nr_tasks)].pid;
		uint64_t from = state->start + dice(span), to = from + 1 + dice(state->now - from);
		struct why_path walked;

		CHECK(why_walk(&why->log, pid, from, to, &walked));
		wrong += !why_path_adds_up(&walked, from, to);
		links += walked.nr;
		for (size_t k = 0; k < walked.nr; k++)
			deep += walked.links[k].state == WHY_UNKNOWN && walked.links[k].reason == REASON_DEEP;
		free(walked.links);
	}
	if (wrong || deep)
		printf("%s: %lu windows do not add up, %lu links are too deep\n", path, (unsigned long)wrong,
		       (unsigned long)deep);
	CHECK(!wrong && !deep);
	return links;
}

/* A part of the events of a file: those of a CPU between two times are lost. */
struct loss {
	uint16_t cpu;
	uint64_t from, to; /* 0: nothing is lost */
};

static bool see_all(struct analysed *analysed, const struct loss *loss)
{
	struct fail fail = FAIL_INIT;
	struct event event, gap;
	int64_t lost = 0;
	int r;

	while ((r = reader_next(&analysed->reader, &event, &fail)) > 0) {
		if (event.cpu == loss->cpu && event.ts >= loss->from && event.ts < loss->to) {
			lost++;
			continue;
		}
		if (lost && event.cpu == loss->cpu) {
			gap = event;
			gap.kind = EVENT_LOST;
			gap.type = NULL;
			gap.lost = lost;
			pass_see(&analysed->pass, &gap);
			lost = 0;
		}
		pass_see(&analysed->pass, &event);
	}
	return !r && !pass_end(&analysed->pass, &fail);
}

/* False: the file has no events in which tasks are woken and run, or its clock counts no time. read_end() is called. */
static bool read_begin(struct analysed *analysed, const char *path, const struct loss *loss)
{
	static const struct why_options options = { .of = WHY_WAKEUP };
	static const struct pass_filter filter = { .pids = NULL };
	struct fail fail = FAIL_INIT;

	analysed->trace = NULL;
	reader_init(&analysed->reader);
	findings_init(&analysed->findings);
	analysed->pass = (struct pass){ .reader = NULL };
	if (trace_open(path, &analysed->trace, &fail) || reader_add_trace(&analysed->reader, analysed->trace, &fail) ||
	    !analysed->reader.nr_buffers ||
	    reader_start(&analysed->reader, &(struct reader_options){ .pool = NULL }, &fail))
		return false;
	return !pass_init(&analysed->pass, &analysed->reader, &filter, &fail) &&
	       !pass_add(&analysed->pass, &why_analysis, &options, &fail) && see_all(analysed, loss);
}

static void read_end(struct analysed *analysed)
{
	if (analysed->pass.reader)
		pass_release(&analysed->pass);
	findings_release(&analysed->findings);
	reader_release(&analysed->reader);
	trace_free(analysed->trace);
}

static size_t walk_file(const char *path, size_t windows)
{
	struct analysed analysed;
	size_t links = 0;

	if (read_begin(&analysed, path, &(struct loss){ .to = 0 }))
		links = walk_windows(analysed.pass.items[0].analysis, path, windows);
	read_end(&analysed);
	return links;
}

/* How much of the time of windows is unknown because events were lost, and how much got another answer. */
struct lossy {
	uint64_t all, unknown, changed;
	size_t windows;
};

static void compare_paths(const struct why_log *log, const struct why_path *whole, const struct why_path *less,
			  struct lossy *lossy)
{
	for (size_t i = 0, k = 0; i < whole->nr && k < less->nr;) {
		const struct why_link *one = &whole->links[i], *other = &less->links[k];
		uint64_t from = one->from > other->from ? one->from : other->from;
		uint64_t to = one->to < other->to ? one->to : other->to;

		lossy->all += to - from;
		/* Of what was unknown before, nothing more can be lost. */
		if (other->state == WHY_UNKNOWN || !strncmp(why_log_text(log, other->cause), "behind ? ", 9))
			lossy->unknown += one->state == WHY_UNKNOWN ? 0 : to - from;
		else if (one->state != WHY_UNKNOWN && (one->pid != other->pid || one->state != other->state))
			lossy->changed += to - from;
		i += one->to == to;
		k += other->to == to;
	}
}

static void lose_once(const struct analysed *whole, const char *path, struct lossy *lossy)
{
	struct why_analysis *why = whole->pass.items[0].analysis;
	const struct state *state = &why->pass->state;
	uint64_t span = state->now - state->start, from = state->start + dice(span / 2), to = from + span / 2;
	int32_t pid = state->tasks[dice(state->nr_tasks)].pid;
	uint64_t at = from + dice((to - from) / 10 * 9);
	const struct loss loss = { .cpu = (uint16_t)dice(why->log.nr_cpus), .from = at, .to = at + (to - from) / 10 };
	struct analysed less;
	struct why_path one, other;

	if (read_begin(&less, path, &loss)) {
		struct why_analysis *lost = less.pass.items[0].analysis;

		CHECK(why_walk(&why->log, pid, from, to, &one) && why_walk(&lost->log, pid, from, to, &other));
		CHECK(why_path_adds_up(&one, from, to) && why_path_adds_up(&other, from, to));
		compare_paths(&lost->log, &one, &other, lossy);
		lossy->windows++;
		free(one.links);
		free(other.links);
	}
	read_end(&less);
}

TEST(why_says_what_is_unknown_where_the_events_of_a_cpu_were_lost)
{
	static const char *const files[] = { "tests/fixtures/session/why.dat", "tests/fixtures/session/late.dat",
					     "tests/fixtures/demo.dat", "tests/fixtures/golden/6.1-rt-events-sched.dat",
					     "tests/fixtures/golden/6.12-events-sched.dat" };
	struct lossy lossy = { .all = 0 };

	for (size_t i = 0; i < array_size(files); i++) {
		struct analysed whole;

		CHECK(read_begin(&whole, files[i], &(struct loss){ .to = 0 }));
		for (size_t k = 0; k < 100; k++)
			lose_once(&whole, files[i], &lossy);
		read_end(&whole);
	}
	printf("# %zu windows: %.1f %% unknown, %.2f %% changed\n", lossy.windows,
	       100.0 * (double)lossy.unknown / (double)lossy.all, 100.0 * (double)lossy.changed / (double)lossy.all);
	CHECK(lossy.windows == 500);
	CHECK(lossy.unknown * 100 <= lossy.all * 15);
	CHECK(lossy.changed * 1000 <= lossy.all);
}

TEST(why_tells_the_longest_call_and_wakeup_to_other_answers)
{
	struct analysed analysed;
	struct why_told told;

	CHECK(analysed_begin(&analysed, &why_analysis, NULL, types,
			     SWITCH(0, 1000, "x", 3, 1, "a", 7) "0 2000 7 sys_enter id=0\n" SWITCH(0, 3000, "a", 7, 1,
												   "b", 8)
				     WAKING(0, 9000, 8, "a", 7, 0)
					     SWITCH(0, 9500, "b", 8, 1, "a", 7) "0 10000 7 sys_exit id=0 ret=1\n"));
	CHECK(why_tell(analysed.pass.items[0].analysis, WHY_CALL, &told) == 1);
	CHECK(told.pid == 7 && told.from == 2000 && told.to == 10000 && !told.unknown);
	CHECK(!strcmp(told.what, "read") && !strcmp(told.comm, "a"));
	CHECK(!strcmp(told.sentence, "75 % of the 8.0 us: b-8 ran"));
	CHECK(why_tell(analysed.pass.items[0].analysis, WHY_WAKEUP, &told) == 1);
	CHECK(told.pid == 7 && told.from == 9000 && told.to == 9500 && !strcmp(told.what, "wakeup"));
	analysed_end(&analysed);
	CHECK(analysed_begin(&analysed, &why_analysis, NULL, types, SWITCH(0, 1000, "x", 3, 1, "a", 7)));
	CHECK(!why_tell(analysed.pass.items[0].analysis, WHY_CALL, &told));
	CHECK(!why_tell(analysed.pass.items[0].analysis, WHY_WAKEUP, &told));
	analysed_end(&analysed);
}

TEST(why_adds_up_in_random_windows_of_all_recordings)
{
	size_t links = 0;
	glob_t files;

	CHECK(!glob("tests/fixtures/golden/*.dat", 0, NULL, &files));
	(void)glob("build/captures/*/*/trace.dat", GLOB_APPEND, NULL, &files);
	for (size_t i = 0; i < files.gl_pathc; i++)
		links += walk_file(files.gl_pathv[i], 200);
	CHECK(links > 500);
	globfree(&files);
}
