// SPDX-License-Identifier: GPL-2.0-only
#include "lib/screen/view/picture_internal.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/reader/query.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

/*
 * Task 1 has CPU 0 for a long time. On CPU 1, tasks 10 and 11 take turns of 1 ms for 2 s; task 11 waits 40 ms once, at
 * 1.5 s. CPU 1 loses events at 1 s.
 */
static struct trace *two_tasks(void)
{
	struct buf script = BUF_INIT;
	struct trace *trace;
	struct loom loom;
	uint64_t ts = 1000000000;

	loom_init(&loom);
	CHECK(buf_addf(&script,
		       "0 %" PRIu64 " 2 sched_switch prev_comm=b prev_pid=2 prev_state=1 next_comm=long "
		       "next_pid=1\n",
		       ts));
	for (int i = 0; i < 2000; i++) {
		int next = 10 + (i & 1), last = 11 - (i & 1);

		ts += 1000000;
		if (i == 1000)
			CHECK(buf_addf(&script, "1 lost 5\n"));
		CHECK(buf_addf(&script, "1 %" PRIu64 " %d sched_waking comm=t%d pid=%d prio=120 target_cpu=1\n",
			       ts - 100, last, next, next));
		if (i == 1501)
			ts += 40000000;
		CHECK(buf_addf(&script,
			       "1 %" PRIu64 " %d sched_switch prev_comm=t%d prev_pid=%d prev_state=1 next_comm=t%d "
			       "next_pid=%d\n",
			       ts, last, last, last, next, next));
	}
	CHECK(buf_addf(&script, "0 %" PRIu64 " 1 sched_waking comm=b pid=2 prio=120 target_cpu=0\n", ts));
	loom_play(&loom, buf_str(&script));
	trace = loom_trace(&loom);
	loom_release(&loom);
	buf_release(&script);
	return trace;
}

/* Of columns: 50 ms and 20 us. */
enum { LONG = 50000000, SHORT = 20000 };

static bool looked(struct picture *picture, uint64_t length, uint64_t first, size_t nr)
{
	struct fail fail = FAIL_INIT;
	bool good =
		!picture_look(picture, length, first, nr, &fail) && !picture_arrange(picture, PICTURE_BY_RUN, &fail);

	while (good && !picture_settled(picture))
		sched_yield();
	return good && !picture_arrange(picture, PICTURE_BY_RUN, &fail);
}

static size_t row_named(const struct picture *picture, const char *name)
{
	for (size_t i = 0; i < picture_rows(picture); i++)
		if (!strcmp(picture_row(picture, i)->name, name))
			return i;
	CHECK(!name);
	return 0;
}

TEST(picture_shows_the_whole_and_a_part)
{
	struct query query = QUERY_INIT;
	struct picture *picture = NULL;
	struct picture_mark marks[64];
	struct picture_facts facts;
	struct fail fail = FAIL_INIT;
	struct trace *trace = two_tasks();
	uint64_t from, to, events, number, ts, before;
	unsigned percent, lost = 0, waits = 0;

	REQUIRE(trace && !picture_new(trace, &query, &(struct picture_options){ .host = NULL }, &picture, &fail));
	picture_span(picture, &from, &to);
	CHECK(from == 1000000000 && to > 3000000000);
	REQUIRE(looked(picture, LONG, from / LONG, 64));
	while (!picture_progress(picture, &percent, &events))
		sched_yield();
	CHECK(percent == 100 && events == 4002);
	REQUIRE(looked(picture, LONG, from / LONG, 64));
	CHECK(!strcmp(picture_row(picture, 0)->name, "events") && !strcmp(picture_row(picture, 1)->name, "CPU 0"));
	CHECK(row_named(picture, "long-1") == 3);
	picture_marks(picture, 1, marks);
	CHECK(marks[1].state == PICTURE_RUN && marks[1].level == 8 && marks[2].goes_on);
	CHECK(!strcmp(picture_name(picture, marks[1].name), "long"));
	picture_marks(picture, row_named(picture, "CPU 1"), marks);
	for (size_t i = 0; i < 64; i++)
		lost += marks[i].lost;
	CHECK(lost == 1 && marks[2001000000 / LONG - from / LONG].lost);
	picture_marks(picture, row_named(picture, "t11-11"), marks);
	for (size_t i = 0; i < 64; i++)
		waits += marks[i].state == PICTURE_WAIT;
	/* The one long wait is not hidden by 500 short runs. */
	CHECK(waits == 1 || waits == 2);
	CHECK(picture_row(picture, row_named(picture, "t11-11"))->worst == 40000100);

	CHECK(picture_number(picture, 1500000000, &ts, &number) && number > 900 && number <= 1000 && ts <= 1500000000);
	CHECK(picture_numbered(picture, 2000, &ts, &before) && before <= 2000 && ts > 1900000000 && ts < 2100000000);

	/* The survey of the whole has longer columns. */
	CHECK(picture_grain(picture) > SHORT && LONG % picture_grain(picture) == 0);
	ts = picture_row(picture, row_named(picture, "t11-11"))->worst_at;
	REQUIRE(looked(picture, SHORT, ts / SHORT, 64));
	picture_marks(picture, row_named(picture, "t11-11"), marks);
	CHECK(marks[1].state == PICTURE_WAIT && marks[1].level == 8 && marks[2].goes_on);
	facts = picture_facts(picture, row_named(picture, "t11-11"), 1);
	CHECK(facts.exact && facts.waited == SHORT && facts.start == ts && facts.to - facts.from == SHORT);
	/* What CPU 0 does is known only from afar. */
	picture_marks(picture, 1, marks);
	CHECK(marks[1].state == PICTURE_RUN && !strcmp(picture_name(picture, marks[1].name), "long"));
	picture_free(picture);
	trace_free(trace);
	query_release(&query);
}

TEST(picture_shows_nothing_where_a_task_is_not_alive)
{
	static const char script[] =
		"0 1000 7 sched_switch prev_comm=a prev_pid=7 prev_state=1 next_comm=b next_pid=8\n"
		"0 3000 8 sched_wakeup_new comm=c pid=9 prio=120 target_cpu=0\n"
		"0 4000 8 sched_switch prev_comm=b prev_pid=8 prev_state=1 next_comm=c next_pid=9\n"
		"0 5000 9 sched_switch prev_comm=c prev_pid=9 prev_state=16 next_comm=d next_pid=10\n"
		"0 8000 10 sched_waking comm=a pid=7 prio=120 target_cpu=0\n";
	static const uint8_t born[] = { PICTURE_OUTSIDE, PICTURE_GONE, PICTURE_GONE, PICTURE_WAIT,
					PICTURE_RUN,     PICTURE_GONE, PICTURE_GONE, PICTURE_GONE };
	struct query query = QUERY_INIT;
	struct picture *picture = NULL;
	struct picture_mark marks[8];
	struct fail fail = FAIL_INIT;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	loom_type(&loom, "sched", "sched_wakeup_new", "char comm[16]; pid_t pid; int prio; int target_cpu", "\"\"");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	loom_release(&loom);
	REQUIRE(trace && !picture_new(trace, &query, &(struct picture_options){ .host = NULL }, &picture, &fail));
	REQUIRE(looked(picture, 1000, 0, 8));
	picture_marks(picture, row_named(picture, "c-9"), marks);
	for (size_t i = 0; i < array_size(born); i++)
		CHECK(marks[i].state == born[i]);
	/* Nothing says that it was there before it ran. */
	picture_marks(picture, row_named(picture, "d-10"), marks);
	CHECK(marks[1].state == PICTURE_BEFORE && marks[5].state == PICTURE_RUN);
	picture_free(picture);
	trace_free(trace);
	query_release(&query);
}
