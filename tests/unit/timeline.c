// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/timeline.h"

#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/reader/reader.h"
#include "lib/state/state.h"
#include "lib/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The slices of a script, one in each line: "NAME FROM-TO". */
struct told {
	struct timeline *timeline;
	char text[1024];
	size_t len;
	bool in_call; /* task 7, at the end */
};

static void tell(void *arg, const struct timeline_slice *slice)
{
	struct told *told = arg;
	char text[TIMELINE_NAME];
	size_t len;
	const char *name = timeline_name(told->timeline, slice, text, &len);

	told->len += (size_t)snprintf(told->text + told->len, sizeof(told->text) - told->len,
				      "%.*s %" PRIu64 "-%" PRIu64 "%s\n", (int)len, name, slice->start, slice->to,
				      slice->end == TURNS_LOST ? " lost" :
				      slice->end == TURNS_OPEN ? " open" :
								 "");
}

static void see(void *arg, const struct event *event)
{
	struct told *told = arg;

	(void)timeline_see(told->timeline, event);
}

static void play(struct told *told, uint32_t wanted, const char *script)
{
	struct timeline_calls calls = { .arg = told, .wanted = wanted, .slice = tell };
	struct fail fail = FAIL_INIT;
	struct reader reader;
	struct trace *trace;
	struct loom loom;

	*told = (struct told){ .len = 0 };
	loom_init(&loom);
	loom_type(&loom, "irq", "softirq_entry", "int vec", "\"\"");
	loom_type(&loom, "irq", "softirq_exit", "int vec", "\"\"");
	loom_type(&loom, "irq_vectors", "local_timer_entry", "int vector", "\"\"");
	loom_type(&loom, "irq_vectors", "local_timer_exit", "int vector", "\"\"");
	loom_type(&loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(&loom, "raw_syscalls", "sys_exit", "long id", "\"\"");
	loom_type(&loom, "power", "cpu_frequency", "u32 state; u32 cpu_id", "\"\"");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	reader_init(&reader);
	REQUIRE(trace && !reader_add_trace(&reader, trace, &fail));
	REQUIRE(!reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail));
	told->timeline = timeline_new(&calls, false);
	REQUIRE(told->timeline && timeline_add(told->timeline, 0, reader.buffers[0].context));
	REQUIRE(!reader_run(&reader, &(struct reader_consumer){ see, told }, 1, &fail));
	told->in_call = timeline_in_call(told->timeline, 0, 7);
	timeline_end(told->timeline, 0);
	CHECK(!timeline_starved(told->timeline));
	timeline_free(told->timeline);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
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
	CHECK(turns_off(TASK_PREEMPTED) == TURNS_WAITS && turns_off(TASK_WAKING) == TURNS_WAITS &&
	      turns_off(TASK_QUEUED) == TURNS_WAITS);
	CHECK(turns_off(TASK_SLEEPING) == TURNS_BLOCKED && turns_off(TASK_BLOCKED) == TURNS_BLOCKED &&
	      turns_off(TASK_STOPPED) == TURNS_BLOCKED);
	CHECK(turns_off(TASK_RUNNING) == TURNS_NOT_OFF && turns_off(TASK_UNKNOWN) == TURNS_NOT_OFF &&
	      turns_off(TASK_DEAD) == TURNS_NOT_OFF);
}
