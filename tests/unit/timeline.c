// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/timeline/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/state.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/* The slices of a script, one in each line: "NAME FROM-TO". */
struct told {
	struct timeline *timeline;
	const struct reader *reader;
	char text[1024];
	size_t len;
	bool in_call; /* task 7, at the end */
	uint64_t unbegun;
};

static void tell(void *arg, const struct timeline_slice *slice)
{
	struct told *told = arg;
	char text[TIMELINE_NAME];
	size_t len;
	const char *name = timeline_name(told->timeline, slice, text, &len);

	told->len += (size_t)snprintf(told->text + told->len, sizeof(told->text) - told->len,
				      "%.*s %" PRIu64 "-%" PRIu64 "%s\n", (int)len, name, slice->start, slice->to,
				      slice->end == RUNS_LOST ? " lost" :
				      slice->end == RUNS_OPEN ? " open" :
								"");
}

static void see(void *arg, const struct event *event)
{
	struct told *told = arg;

	(void)timeline_take(told->timeline, event, reader_shows(told->reader, event));
}

/* The slices that are left of those of the script. */
static void play_chosen(struct told *told, uint32_t wanted, const struct query *query, const char *script)
{
	const struct query_manner manner = { .gives = QUERY_GIVES_TASKS };
	struct timeline_calls calls = { .arg = told, .wanted = wanted, .slice = tell };
	struct fail fail = FAIL_INIT;
	struct reader reader;
	struct trace *trace;
	struct loom loom;
	uint64_t dropped;

	*told = (struct told){ .reader = &reader };
	loom_init(&loom);
	loom_type(&loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(&loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(&loom, "irq_vectors", "local_timer_entry", "int vector", "\"\"");
	loom_type(&loom, "irq_vectors", "local_timer_exit", "int vector", "\"\"");
	loom_type(&loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(&loom, "raw_syscalls", "sys_exit", "long id", "\"\"");
	loom_type(&loom, "power", "cpu_frequency", "u32 state; u32 cpu_id", "\"\"");
	loom_type(&loom, "ftrace", "print", "u64 ip; char buf[32]", "\"\"");
	loom_type(&loom, "gpu", "mark", "u8 letter; int process; char name[16]",
		  "\"%c|%d|%s\", REC->letter, REC->process, REC->name");
	loom_type(&loom, "task", "task_rename", "pid_t pid; char oldcomm[16]; char newcomm[16]", "\"\"");
	loom_type(&loom, "block", "block_rq_issue", "u32 dev; u64 sector", "\"\"");
	loom_type(&loom, "block", "block_rq_complete", "u32 dev; u64 sector", "\"\"");
	loom_type(&loom, "compaction", "mm_compaction_begin", "int x", "\"\"");
	loom_type(&loom, "compaction", "mm_compaction_end", "int x", "\"\"");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	reader_init(&reader);
	REQUIRE(trace && !query_add(query, &manner, trace, &reader, &fail));
	REQUIRE(!reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail));
	told->timeline = timeline_new(&calls, false);
	REQUIRE(told->timeline && timeline_add(told->timeline, 0, reader.buffers[0].context));
	timeline_choose(told->timeline, 0, reader.buffers[0].shown);
	REQUIRE(!reader_run(&reader, &(struct reader_consumer){ see, told }, 1, &fail));
	told->in_call = timeline_in_call(told->timeline, 0, 7);
	timeline_end(told->timeline, 0);
	timeline_count_marks(told->timeline, &told->unbegun, &dropped);
	CHECK(!timeline_starved(told->timeline));
	timeline_free(told->timeline);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
}

static void play(struct told *told, uint32_t wanted, const char *script)
{
	play_chosen(told, wanted, &(struct query)QUERY_INIT, script);
}

enum { INTERRUPTS = 1 << TIMELINE_IRQ | 1 << TIMELINE_SOFTIRQ | 1 << TIMELINE_VECTOR };

TEST(timeline_has_interrupts_of_their_cpu_with_their_names)
{
	struct told told;

	play(&told, INTERRUPTS,
	     "0 1000 7 softirq_entry vec=3\n"
	     "1 1100 8 softirq_entry vec=1\n"
	     "0 1150 7 local_timer_entry vector=236\n"
	     "0 1200 7 local_timer_exit vector=236\n"
	     "0 1300 7 softirq_exit vec=3\n"
	     "1 1400 8 softirq_exit vec=1\n");
	CHECK_STR(told.text, "local_timer 1150-1200\nsoftirq NET_RX 1000-1300\nsoftirq TIMER 1100-1400\n");
}

TEST(timeline_pairs_interrupts_inside_one_another_like_brackets)
{
	struct told told;

	play(&told, INTERRUPTS,
	     "0 1000 7 irq_handler_entry irq=5 name=disk\n"
	     "0 2000 7 softirq_entry vec=3\n"
	     "0 3000 7 irq_handler_entry irq=6 name=eth\n"
	     "0 3400 7 irq_handler_exit irq=6\n"
	     "0 5000 7 softirq_exit vec=3\n"
	     "0 9000 7 irq_handler_exit irq=5\n");
	CHECK_STR(told.text, "irq 6 eth 3000-3400\nsoftirq NET_RX 2000-5000\nirq 5 disk 1000-9000\n");
}

TEST(timeline_ends_only_the_interrupts_of_the_cpu_that_lost_events)
{
	struct told told;

	play(&told, INTERRUPTS | 1 << TIMELINE_LOSS,
	     "0 1000 7 softirq_entry vec=3\n"
	     "1 1100 8 softirq_entry vec=1\n"
	     "0 lost 5\n"
	     "0 1300 7 softirq_exit vec=3\n"
	     "1 1400 8 softirq_exit vec=1\n");
	CHECK_STR(told.text, "lost events 1300-1300\nsoftirq TIMER 1100-1400\n");
}

TEST(timeline_gives_only_what_is_wanted)
{
	struct told told;

	play(&told, 1 << TIMELINE_COUNTER,
	     "0 1000 7 softirq_entry vec=3\n"
	     "0 1100 7 cpu_frequency state=1800000 cpu_id=5\n"
	     "0 1300 7 softirq_exit vec=3\n");
	CHECK_STR(told.text, "cpu_frequency 1100-1100\n");
}

TEST(timeline_has_runs_until_the_switch_and_the_end)
{
	struct told told;

	play(&told, 1 << TIMELINE_RUN,
	     "0 1000 7 sched_switch prev_pid=7 prev_state=1 next_pid=8\n"
	     "0 1300 8 sched_switch prev_pid=8 prev_state=1 next_pid=7\n"
	     "0 1500 7 softirq_entry vec=3\n");
	CHECK(strstr(told.text, " 1000-1300\n") && strstr(told.text, " 1300-1500 open\n"));
}

TEST(timeline_knows_who_is_in_a_call_at_the_end)
{
	struct told told;

	play(&told, 1 << TIMELINE_CALL, "0 1000 7 sys_enter id=0\n");
	CHECK(told.in_call && !told.len);
	play(&told, 1 << TIMELINE_CALL,
	     "0 1000 7 sys_enter id=0\n"
	     "0 1100 7 sys_exit id=0\n");
	CHECK(!told.in_call);
	CHECK_STR(told.text, "sys_0 1000-1100\n");
}

TEST(timeline_knows_no_call_at_the_end_of_a_task_that_a_loss_hides)
{
	struct told told;

	play(&told, 1 << TIMELINE_CALL,
	     "0 1000 7 sys_enter id=0\n"
	     "0 1100 7 sched_switch prev_pid=7 prev_state=1 next_pid=8\n"
	     "0 lost 5\n"
	     "0 1300 8 sched_switch prev_pid=8 prev_state=1 next_pid=9\n");
	CHECK(!told.in_call);
	play(&told, 1 << TIMELINE_CALL,
	     "0 900 8 sched_switch prev_pid=8 prev_state=1 next_pid=7\n"
	     "1 950 9 sched_switch prev_pid=9 prev_state=1 next_pid=10\n"
	     "0 1000 7 sys_enter id=0\n"
	     "1 lost 5\n"
	     "1 1200 10 sched_switch prev_pid=10 prev_state=1 next_pid=9\n"
	     "0 1300 7 softirq_entry vec=3\n");
	CHECK(told.in_call);
}

TEST(timeline_tells_waits_for_a_cpu_from_other_waits)
{
	CHECK(runs_off(TASK_PREEMPTED) == RUNS_WAITS && runs_off(TASK_WAKING) == RUNS_WAITS &&
	      runs_off(TASK_QUEUED) == RUNS_WAITS);
	CHECK(runs_off(TASK_SLEEPING) == RUNS_BLOCKED && runs_off(TASK_BLOCKED) == RUNS_BLOCKED &&
	      runs_off(TASK_STOPPED) == RUNS_BLOCKED);
	CHECK(runs_off(TASK_RUNNING) == RUNS_NOT_OFF && runs_off(TASK_UNKNOWN) == RUNS_NOT_OFF &&
	      runs_off(TASK_DEAD) == RUNS_NOT_OFF);
}

enum { MARKS = 1 << TIMELINE_MARK | 1 << TIMELINE_ASYNC | 1 << TIMELINE_INSTANT | 1 << TIMELINE_COUNTER };

TEST(timeline_has_the_marks_of_a_thread_like_brackets)
{
	struct told told;

	play(&told, MARKS,
	     "0 1000 7 print buf=B|6|outer\n"
	     "1 1050 8 print buf=B|6|other\n"
	     "0 1100 7 print buf=B|6|inner\n"
	     "0 1150 7 print buf=C|6|queue|3\n"
	     "0 1200 7 print buf=E|6\n"
	     "0 1250 7 print buf=I|6|tick\n"
	     "1 1300 7 print buf=E|6\n"
	     "1 1400 8 print buf=E|6\n"
	     "1 1500 8 print buf=E|6\n"
	     "1 1600 8 print buf=B|6|never\n");
	CHECK_STR(told.text, "queue 1150-1150\ninner 1100-1200\ntick 1250-1250\nouter 1000-1300\nother 1050-1400\n"
			     "never 1600-1600 open\n");
	CHECK(told.unbegun == 1);
}

TEST(timeline_ends_marks_of_a_process_by_their_cookie_in_any_thread)
{
	struct told told;

	play(&told, MARKS,
	     "0 1000 7 print buf=S|6|req|1\n"
	     "0 1010 7 print buf=S|6|req|2\n"
	     "0 1020 7 print buf=S|5|req|1\n"
	     "0 1030 7 print buf=G|6|trk|job|1\n"
	     "1 1100 8 print buf=F|6|req|2\n"
	     "1 1200 8 print buf=F|6|req|1\n"
	     "1 1300 8 print buf=H|6|trk|1\n"
	     "1 1400 9 print buf=F|5|req|1\n"
	     "1 1500 9 print buf=F|6|req|1\n");
	CHECK_STR(told.text, "req 1010-1100\nreq 1000-1200\njob 1030-1300\nreq 1020-1400\n");
	CHECK(told.unbegun == 1);
}

TEST(timeline_has_marks_of_drivers_and_pairs_of_other_events)
{
	struct told told;

	play(&told, MARKS | 1 << TIMELINE_PAIR,
	     "0 1000 7 mark letter=66 process=6 name=upload\n"
	     "0 1010 7 mm_compaction_begin x=0\n"
	     "1 1020 8 mm_compaction_begin x=0\n"
	     "1 1030 7 mm_compaction_end x=0\n"
	     "1 1040 7 mark letter=69 process=6 name=upload\n"
	     "1 1050 8 mm_compaction_end x=0\n");
	CHECK_STR(told.text, "mm_compaction 1010-1030\nupload 1000-1040\nmm_compaction 1020-1050\n");
}

TEST(timeline_ends_marks_at_a_loss_unless_the_thread_was_elsewhere)
{
	struct told told;

	/* No switches: nobody knows where a thread was. */
	play(&told, MARKS,
	     "0 1000 7 print buf=B|6|outer\n"
	     "0 1100 7 print buf=S|6|req|1\n"
	     "1 1150 8 print buf=B|6|other\n"
	     "0 lost 5\n"
	     "0 1300 7 print buf=E|6\n"
	     "0 1400 7 print buf=B|6|inner\n"
	     "0 1500 7 print buf=E|6\n"
	     "0 1550 7 print buf=F|6|req|1\n"
	     "1 1600 8 print buf=E|6\n");
	CHECK_STR(told.text, "outer 1000-1100 lost\ninner 1400-1500\nreq 1100-1100 lost\nother 1150-1150 lost\n");
	/* Task 8 ran on CPU 1 all the time. */
	play(&told, MARKS,
	     "0 900 9 sched_switch prev_pid=9 next_pid=7\n"
	     "1 900 9 sched_switch prev_pid=9 next_pid=8\n"
	     "0 1000 7 print buf=B|6|outer\n"
	     "1 1150 8 print buf=B|6|other\n"
	     "0 lost 5\n"
	     "0 1300 7 print buf=E|6\n"
	     "1 1600 8 print buf=E|6\n");
	CHECK_STR(told.text, "outer 1000-1000 lost\nother 1150-1600\n");
}

TEST(timeline_gives_a_new_task_none_of_the_marks_of_the_one_before)
{
	struct told told;

	play(&told, MARKS,
	     "0 1000 7 print buf=B|6|outer\n"
	     "0 1200 3 sched_process_fork parent_pid=3 child_pid=7\n"
	     "0 1300 7 print buf=E|6\n");
	CHECK_STR(told.text, "outer 1000-1200 lost\n");
}

/* What task 7 did, woken by 8, which has the CPU before and after it. */
static const char wakes[] = "1 1000 8 sched_waking comm=sh pid=7 target_cpu=0\n"
			    "0 1200 9 sched_switch prev_comm=cc prev_pid=9 prev_state=1 next_comm=sh next_pid=7\n"
			    "0 1250 7 sys_enter id=59\n"
			    "1 1300 8 sys_enter id=39\n"
			    "0 1400 7 softirq_entry vec=1\n"
			    "1 1410 8 softirq_entry vec=3\n"
			    "1 1450 8 softirq_exit vec=3\n"
			    "0 1490 7 softirq_exit vec=1\n"
			    "0 1500 7 task_rename pid=7 oldcomm=sh newcomm=ls\n"
			    "1 1550 8 sys_exit id=39\n"
			    "0 1600 7 sys_exit id=59\n"
			    "0 1650 7 block_rq_issue dev=8 sector=64\n"
			    "1 1660 8 block_rq_issue dev=8 sector=128\n"
			    "0 1700 7 sched_switch prev_comm=ls prev_pid=7 prev_state=1 next_comm=cc next_pid=9\n"
			    "0 1800 9 block_rq_complete dev=8 sector=64\n"
			    "0 1900 9 block_rq_complete dev=8 sector=128\n"
			    "1 1950 8 sched_waking comm=ls pid=7 target_cpu=0\n"
			    "0 2000 9 sched_switch prev_comm=cc prev_pid=9 prev_state=1 next_comm=ls next_pid=7\n";

enum {
	OF_TASKS = 1 << TIMELINE_RUN | 1 << TIMELINE_STATE | 1 << TIMELINE_CALL | 1 << TIMELINE_SOFTIRQ |
		   1 << TIMELINE_PAIR
};

TEST(timeline_of_a_chosen_task_has_what_the_events_of_others_did_to_it)
{
	struct query query = QUERY_INIT;
	struct told told;

	REQUIRE(!query_add_pids(&query, "7", NULL));
	play_chosen(&told, OF_TASKS, &query, wakes);
	CHECK_STR(told.text, "sh 1000-1200\n"
			     "softirq TIMER 1400-1490\n"
			     "sys_59 1250-1600\n"
			     "sh 1200-1700\n"
			     "sh 1200-1700\n"
			     "block_rq 1650-1800\n"
			     "ls 1700-1950\n"
			     "ls 1950-2000\n");
	query_release(&query);
}

TEST(timeline_of_a_name_cuts_runs_where_the_task_takes_it)
{
	struct query query = QUERY_INIT;
	struct told told;

	REQUIRE(!query_add_word(&query.comms, "ls", NULL));
	play_chosen(&told, OF_TASKS, &query, wakes);
	CHECK_STR(told.text, "sys_59 1250-1600\n"
			     "ls 1500-1700\n"
			     "ls 1500-1700\n"
			     "block_rq 1650-1800\n"
			     "ls 1700-1950\n"
			     "ls 1950-2000\n");
	query_release(&query);
}

TEST(timeline_shows_a_wait_no_longer_than_it_is_known_where_a_switch_is_missing)
{
	struct told told;

	play(&told, 1 << TIMELINE_STATE,
	     "0 1000 7 sched_switch prev_pid=7 prev_state=0 next_pid=8\n"
	     "0 2000 8 sched_waking pid=5 target_cpu=0\n"
	     "0 6000 7 sched_waking pid=4 target_cpu=1\n"
	     "0 6500 7 sched_switch prev_pid=7 prev_state=1 next_pid=8\n"
	     "0 7000 5 sched_switch prev_pid=5 prev_state=1 next_pid=8\n");
	/* 7 and 8; 7 again; and 5, which is back by the switch from it. */
	CHECK_STR(told.text, "<...> 1000-2000 lost\n<...> 1000-2000 lost\n<...> 6000-6500\n<...> 2000-6500 lost\n"
			     "<...> 6500-7000 open\n<...> 6000-7000 open\n");
}
