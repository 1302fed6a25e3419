// SPDX-License-Identifier: GPL-2.0-only
/* An alarm tells of long times between two events, as the kernel's synthetic events do, and counts nothing. */
#include "lib/answers/tally/tally.h"

#include <inttypes.h>
#include <string.h>

#include "lib/answers/tally/tally_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

struct told {
	struct buf text;
	size_t held; /* first events that are kept at the end */
};

static void note(void *arg, const struct event *event, uint64_t lat, const char *fields)
{
	CHECK(buf_addf(&((struct told *)arg)->text, "%" PRIu64 "@%u: %" PRIu64 "%s\n", event->ts, event->cpu, lat,
		       fields));
}

/* A long time is one of more than 1000. */
static void watch(const char *script, struct tally_wanted wanted, struct told *told, struct fail *fail)
{
	const struct tally_alarm alarm = { .longer = 1000, .told = note, .arg = told };
	struct tally *tally = NULL;
	struct reader reader;
	struct trace *trace;
	struct loom loom;

	*told = (struct told){ .text = BUF_INIT };
	wanted.alarm = &alarm;
	wanted.ns = true;
	loom_init(&loom);
	loom_type(&loom, "raw_syscalls", "sys_enter", "long id", "\"\"");
	loom_type(&loom, "raw_syscalls", "sys_exit", "long id; long ret", "\"\"");
	loom_type(&loom, "block", "block_rq_issue", "u32 dev; u64 sector", "\"\"");
	loom_type(&loom, "block", "block_rq_complete", "u32 dev; u64 sector", "\"\"");
	loom_setting(&loom, "weft/mode", "record\n");
	loom_task(&loom, 7, "seven");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	reader_init(&reader);
	if (CHECK(trace && !reader_add_trace(&reader, trace, fail) &&
		  !reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail)) &&
	    !tally_new(&reader, &wanted, &tally, fail))
		CHECK(!reader_run(&reader, &(struct reader_consumer){ tally_see, tally }, 1, fail));
	told->held = tally ? tally->begun.nr : 0;
	tally_free(tally);
	reader_release(&reader);
	trace_free(trace);
	loom_release(&loom);
}

static void tells(const char *script, struct tally_wanted wanted, const char *text)
{
	struct fail fail = FAIL_INIT;
	struct told told;

	watch(script, wanted, &told, &fail);
	CHECK_STR(fail.text, "");
	CHECK_STR(buf_str(&told.text), text);
	buf_release(&told.text);
}

static const struct tally_wanted wakeups = { .event = "sched:sched_waking",
					     .second = "sched:sched_switch",
					     .match = "pid=next_pid",
					     .keys = "next_comm,next_prio,lat.log2" };
static const struct tally_wanted calls = { .event = "raw_syscalls:sys_enter",
					   .second = "raw_syscalls:sys_exit",
					   .match = "common_pid",
					   .keys = "id,lat.log2" };
static const struct tally_wanted requests = { .event = "block:block_rq_issue",
					      .second = "block:block_rq_complete",
					      .match = "dev,sector",
					      .keys = "dev,sector,lat.log2" };

TEST(tally_alarm_tells_of_each_long_time_with_its_fields)
{
	tells("0 1000 8 sched_waking comm=late pid=7 prio=-2 target_cpu=1\n"
	      "1 2000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=late next_pid=7 next_prio=-2\n"
	      "0 3000 8 sched_waking comm=late pid=7 prio=-2 target_cpu=1\n"
	      "1 4001 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=late next_pid=7 next_prio=-2\n"
	      "1 9000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=late next_pid=7 next_prio=-2\n",
	      wakeups, "4001@1: 1001 next_comm=late next_prio=-2\n");
}

/* Task 7 runs when it is woken at 1000. It is preempted at 2000, and gets its CPU again at 9000. */
TEST(tally_alarm_takes_no_wait_of_a_preempted_task_for_a_wakeup)
{
	tells("0 1000 8 sched_waking comm=late pid=7 prio=1 target_cpu=1\n"
	      "1 2000 7 sched_switch prev_comm=late prev_pid=7 prev_state=256 next_comm=nine next_pid=9\n"
	      "1 9000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=late next_pid=7 next_prio=1\n",
	      wakeups, "");
}

/* Task 7 is preempted on its way to sleep, at 1000; at 2000 it is told to stay, while it is still in the queue. */
TEST(tally_alarm_takes_no_wait_of_a_task_that_was_in_the_queue_for_a_wakeup)
{
	tells("1 1000 7 sched_switch prev_comm=late prev_pid=7 prev_state=256 next_comm=nine next_pid=9\n"
	      "0 2000 8 sched_waking comm=late pid=7 prio=1 target_cpu=1\n"
	      "1 9000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=late next_pid=7 next_prio=1\n",
	      wakeups, "");
}

TEST(tally_alarm_tells_of_a_wakeup_after_a_task_that_was_in_the_queue_has_run)
{
	tells("1 1000 7 sched_switch prev_comm=late prev_pid=7 prev_state=0 next_comm=nine next_pid=9\n"
	      "1 2000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=late next_pid=7 next_prio=1\n"
	      "1 3000 7 sched_switch prev_comm=late prev_pid=7 prev_state=1 next_comm=nine next_pid=9\n"
	      "0 4000 8 sched_waking comm=late pid=7 prio=1 target_cpu=1\n"
	      "1 9000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=late next_pid=7 next_prio=1\n",
	      wakeups, "9000@1: 5000 next_comm=late next_prio=1\n");
}

/* It is woken at 1000, while it goes to sleep. */
TEST(tally_alarm_tells_of_a_wakeup_that_came_before_the_task_had_left_its_cpu)
{
	tells("0 1000 8 sched_waking comm=late pid=7 prio=1 target_cpu=1\n"
	      "1 1200 7 sched_switch prev_comm=late prev_pid=7 prev_state=1 next_comm=nine next_pid=9\n"
	      "1 5000 9 sched_switch prev_comm=nine prev_pid=9 prev_state=1 next_comm=late next_pid=7 next_prio=1\n",
	      wakeups, "5000@1: 4000 next_comm=late next_prio=1\n");
}

TEST(tally_alarm_asks_its_filter_about_long_times)
{
	static const char script[] = "0 1000 7 sys_enter id=61\n"
				     "1 1500 8 sys_enter id=61\n"
				     "0 1600 7 sys_exit id=61 ret=0\n"
				     "0 2000 7 sys_enter id=0\n"
				     "1 5500 8 sys_exit id=61 ret=-10\n"
				     "0 6000 7 sys_exit id=0 ret=1\n";
	struct tally_wanted wanted = calls;

	wanted.filter = "comm == \"seven\"";
	tells(script, wanted, "6000@0: 4000 id=0\n");
	wanted.filter = "CPU == 1 && id != 0";
	tells(script, wanted, "5500@1: 4000 id=61\n");
}

TEST(tally_alarm_forgets_what_had_begun_where_events_were_lost)
{
	tells("0 1000 7 sys_enter id=0\n"
	      "1 2000 8 sys_enter id=1\n"
	      "1 lost 3\n"
	      "1 4000 9 sys_enter id=2\n"
	      "0 5000 7 sys_exit id=0 ret=1\n"
	      "1 6000 8 sys_exit id=1 ret=1\n"
	      "1 7000 9 sys_exit id=2 ret=1\n",
	      calls, "7000@1: 3000 id=2\n");
}

TEST(tally_alarm_takes_no_time_below_zero_for_a_long_one)
{
	tells("1 5000 7 sys_enter id=0\n"
	      "1 5000 7 sys_exit id=0 ret=1\n"
	      "1 6000 7 sys_exit id=0 ret=1\n",
	      calls, "");
}

TEST(tally_alarm_takes_the_same_sector_of_two_disks_for_two_requests)
{
	tells("0 1000 7 block_rq_issue dev=1 sector=64\n"
	      "0 3000 7 block_rq_issue dev=2 sector=64\n"
	      "1 4000 0 block_rq_complete dev=1 sector=64\n"
	      "1 4500 0 block_rq_complete dev=2 sector=64\n",
	      requests, "4000@1: 3000 dev=1 sector=64\n4500@1: 1500 dev=2 sector=64\n");
}

TEST(tally_alarm_refuses_more_fields_than_the_kernel_pairs_by)
{
	struct tally_wanted wanted = requests;
	struct fail fail = FAIL_INIT;
	struct told told;

	wanted.match = "dev,sector,dev,sector";
	watch("0 1000 7 block_rq_issue dev=1 sector=64\n", wanted, &told, &fail);
	CHECK(strstr(fail.text, "Events are paired by at most three fields"));
	buf_release(&told.text);
}

/* Those that have ended give their place. */
TEST(tally_alarm_has_room_for_ever_new_keys)
{
	cleanup_buf struct buf script = BUF_INIT;
	struct fail fail = FAIL_INIT;
	struct told told;
	unsigned nr = 0;

	for (unsigned i = 0; i < 10000; i++)
		CHECK(buf_addf(&script,
			       "0 %u 7 block_rq_issue dev=1 sector=%u\n0 %u 7 block_rq_complete dev=1 sector=%u\n",
			       4000 * (i + 1), i, 4000 * (i + 1) + 2000, i));
	watch(buf_str(&script), requests, &told, &fail);
	for (const char *at = buf_str(&told.text); (at = strchr(at, '\n')); at++)
		nr++;
	CHECK(nr == 10000 && told.held < 5000);
	CHECK(strstr(buf_str(&told.text), ": 2000 dev=1 sector=9999\n") != NULL);
	buf_release(&told.text);
}

static bool is(const struct tally_row *row, uint64_t number)
{
	return row->sums[0] == number;
}

TEST(tally_map_drops_rows_and_finds_the_others)
{
	struct tally_map map;

	tally_map_init(&map, 1000, 1, 0);
	for (uint16_t i = 0; i < 300; i++) {
		struct tally_row *row = tally_map_add(&map, (const uint8_t *)&i, sizeof(i));

		REQUIRE(row);
		row->sums[0] = i % 3;
	}
	tally_map_drop(&map, is, 2);
	CHECK(map.nr == 200);
	for (uint16_t i = 0; i < 300; i++) {
		const struct tally_row *row = tally_map_find(&map, (const uint8_t *)&i, sizeof(i));

		CHECK(!row == (i % 3 == 2));
		CHECK(!row || row->sums[0] == i % 3);
	}
	CHECK(tally_map_add(&map, (const uint8_t *)&(uint16_t){ 2 }, 2) != NULL);
	tally_map_release(&map);
}

TEST(tally_alarm_says_where_its_filter_is_wrong)
{
	struct tally_wanted wanted = wakeups;
	struct fail fail = FAIL_INIT;
	struct told told;

	wanted.filter = "next_pio < 3";
	watch("0 1000 8 sched_waking comm=late pid=7 prio=-2 target_cpu=1\n", wanted, &told, &fail);
	CHECK_STR(fail.text, "its filter: Field not found\n  next_pio < 3\n  ^");
	buf_release(&told.text);
}
