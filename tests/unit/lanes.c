// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/lanes.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct drawn {
	struct trace *trace;
	struct reader reader;
	struct lanes *lanes;
};

static void see(void *arg, const struct event *event)
{
	lanes_see(arg, event);
}

static bool draw(struct drawn *drawn, struct trace *trace, const struct lanes_options *options)
{
	struct fail fail = FAIL_INIT;
	bool good;

	*drawn = (struct drawn){ .trace = trace };
	reader_init(&drawn->reader);
	good = trace && !reader_add_trace(&drawn->reader, trace, &fail) &&
	       !reader_start(&drawn->reader, &(struct reader_options){ .pool = NULL }, &fail) &&
	       !lanes_new(options, false, &drawn->lanes, &fail) &&
	       lanes_add_buffer(drawn->lanes, 0, drawn->reader.buffers[0].context) &&
	       !reader_run(&drawn->reader, &(struct reader_consumer){ see, drawn->lanes }, 1, &fail);
	if (good)
		lanes_end(drawn->lanes);
	return good && !lanes_starved(drawn->lanes);
}

static void drawn_release(struct drawn *drawn)
{
	lanes_free(drawn->lanes);
	reader_release(&drawn->reader);
	trace_free(drawn->trace);
}

static struct trace *played(const char *script)
{
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	loom_type(&loom, "power", "cpu_frequency", "u32 state; u32 cpu_id", "\"\"");
	loom_play(&loom, script);
	trace = loom_trace(&loom);
	loom_release(&loom);
	return trace;
}

static const struct lane *find(const struct drawn *drawn, enum lane_kind kind, uint32_t owner)
{
	for (size_t i = 0; i < lanes_count(drawn->lanes); i++)
		if (lanes_at(drawn->lanes, i)->kind == kind && lanes_at(drawn->lanes, i)->owner == owner)
			return lanes_at(drawn->lanes, i);
	return NULL;
}

TEST(lanes_show_the_longest_slice_of_each_column_and_sum_all)
{
	static const char script[] =
		"0 1000 7 sched_waking comm=b pid=8 prio=120 target_cpu=0\n"
		"0 1100 7 sched_switch prev_comm=a prev_pid=7 prev_state=1 next_comm=b next_pid=8\n"
		"0 1400 8 sched_switch prev_comm=b prev_pid=8 prev_state=1 next_comm=c next_pid=9\n"
		"0 1500 9 cpu_frequency state=2000 cpu_id=0\n"
		"0 1510 9 cpu_frequency state=1000 cpu_id=0\n"
		"0 3200 9 sched_switch prev_comm=c prev_pid=9 prev_state=1 next_comm=a next_pid=7\n"
		"0 lost 3\n"
		"0 3300 7 sched_waking comm=b pid=8 prio=120 target_cpu=0\n";
	struct lane_cell cells[4];
	struct drawn drawn;
	const struct lane *lane;

	/* Columns of 1,024 ns: 0, 1024, 2048, 3072. */
	REQUIRE(draw(&drawn, played(script),
		     &(struct lanes_options){ .shift = 10, .cells_max = 1024, .to = UINT64_MAX }));
	lane = find(&drawn, LANE_CPU, 0);
	REQUIRE(lane);
	lane_columns(lane, 10, 0, 4, cells);
	CHECK(!strcmp(lanes_label(drawn.lanes, cells[0].label), "a") && cells[0].busy == 24 && cells[0].count == 1);
	CHECK(!strcmp(lanes_label(drawn.lanes, cells[1].label), "c") && cells[1].longest == 648 &&
	      cells[1].start == 1400);
	CHECK(cells[1].busy == 1024 && cells[1].count == 2);
	CHECK(!strcmp(lanes_label(drawn.lanes, cells[2].label), "c") && cells[2].busy == 1024 && !cells[2].count);
	CHECK(!strcmp(lanes_label(drawn.lanes, cells[3].label), "c") && cells[3].longest == 128);
	lane = find(&drawn, LANE_TASK, 8);
	REQUIRE(lane);
	lane_columns(lane, 10, 0, 4, cells);
	CHECK(cells[0].waited == 24 && cells[0].mode == TASK_WAKING);
	CHECK(cells[1].waited == 76 && cells[1].busy == 300 && cells[1].mode == TASK_RUNNING);
	CHECK(cells[1].modes == (1 << TASK_WAKING | 1 << TASK_RUNNING | 1 << TASK_SLEEPING));
	CHECK(cells[2].mode == TASK_SLEEPING && !cells[2].busy);
	CHECK(lane->waited == 100 && lane->longest == 100 && lane->longest_at == 1000);
	lane = find(&drawn, LANE_EVENTS, 0);
	REQUIRE(lane);
	lane_columns(lane, 10, 0, 4, cells);
	CHECK(cells[0].count == 1 && cells[1].count == 4 && !cells[2].nr && cells[3].count == 2 && cells[3].lost);
	CHECK(lane->count == 7);
	lane = find(&drawn, LANE_COUNTER, 0);
	REQUIRE(lane);
	lane_columns(lane, 10, 0, 4, cells);
	CHECK(cells[1].busy == 2000 && cells[1].start == 1500 && cells[1].count == 2 && lane->largest == 2000);
	drawn_release(&drawn);
}

/* Four tasks on two CPUs, with long and short turns. */
static struct trace *lively(void)
{
	struct buf script = BUF_INIT;
	struct trace *trace;
	uint64_t ts = 1000000;
	int on[2] = { 10, 11 };

	for (unsigned i = 0; i < 6000; i++) {
		unsigned cpu = i * 7 % 5 < 2;
		int next = 10 + (int)(i * 13 % 7);

		ts += i % 97 == 0 ? 3000000 : 10 + i * 31 % 900;
		if (next == on[0] || next == on[1])
			continue;
		CHECK(buf_addf(&script, "%u %" PRIu64 " %d sched_waking comm=t%d pid=%d prio=120 target_cpu=%u\n", cpu,
			       ts, on[cpu], next, next, cpu));
		CHECK(buf_addf(&script,
			       "%u %" PRIu64 " %d sched_switch prev_comm=t%d prev_pid=%d prev_state=%d next_comm=t%d "
			       "next_pid=%d\n",
			       cpu, ts + 5, on[cpu], on[cpu], on[cpu], i % 3, next, next));
		on[cpu] = next;
	}
	trace = played(buf_str(&script));
	buf_release(&script);
	return trace;
}

/* Compares all columns of a lane that was folded with those of one that was not. */
static void compare(const struct lane *a, const struct lane *b)
{
	unsigned shift = b->shift;
	enum { COLUMNS = 1024 };
	struct lane_cell left[COLUMNS], right[COLUMNS];
	uint64_t busy = 0, waited = 0, count = 0;
	unsigned wrong = 0;

	CHECK(a->kind == b->kind && a->owner == b->owner && a->busy == b->busy && a->waited == b->waited &&
	      a->count == b->count && a->longest == b->longest && a->longest_at == b->longest_at);
	for (uint64_t first = 0; first << shift < 400000000; first += COLUMNS) {
		lane_columns(a, shift, first, COLUMNS, left);
		lane_columns(b, shift, first, COLUMNS, right);
		for (size_t i = 0; i < COLUMNS; i++) {
			const struct lane_cell *l = &left[i], *r = &right[i];

			wrong += l->nr != r->nr || l->busy != r->busy || l->waited != r->waited ||
				 l->count != r->count || l->modes != r->modes || l->rank != r->rank ||
				 l->longest > 4 * r->longest;
			busy += r->busy;
			waited += r->waited;
			count += r->count;
		}
	}
	CHECK(!wrong);
	CHECK(b->kind == LANE_COUNTER || (busy == b->busy && waited == b->waited && count == b->count));
}

TEST(lanes_that_were_folded_have_the_sums_of_those_that_were_not)
{
	struct drawn fine, folded;

	REQUIRE(draw(&fine, lively(), &(struct lanes_options){ .shift = 6, .cells_max = 1 << 22, .to = UINT64_MAX }));
	REQUIRE(draw(&folded, lively(), &(struct lanes_options){ .cells_max = 1024, .to = UINT64_MAX }));
	CHECK(lanes_at(fine.lanes, 0)->shift == 6 && lanes_at(folded.lanes, 0)->shift > 12);
	CHECK(lanes_count(fine.lanes) == lanes_count(folded.lanes) && lanes_count(fine.lanes) >= 11);
	for (size_t i = 0; i < lanes_count(fine.lanes); i++)
		compare(lanes_at(fine.lanes, i), lanes_at(folded.lanes, i));
	drawn_release(&fine);
	drawn_release(&folded);
}

TEST(lanes_are_cut_to_a_window)
{
	struct lanes_options window = { .shift = 4, .cells_max = 1 << 20, .from = 4005000, .to = 4030000 };
	struct lane_cell left[64], right[64];
	struct drawn whole, part;
	const struct lane *a, *b;
	unsigned wrong = 0, known = 0;

	REQUIRE(draw(&whole, lively(), &(struct lanes_options){ .shift = 4, .cells_max = 1 << 22, .to = UINT64_MAX }));
	REQUIRE(draw(&part, lively(), &window));
	a = find(&whole, LANE_TASK, 12);
	b = find(&part, LANE_TASK, 12);
	REQUIRE(a && b);
	CHECK(b->nr_cells < a->nr_cells);
	lane_columns(a, 8, 15648, 64, left);
	lane_columns(b, 8, 15648, 64, right);
	for (size_t i = 0; i < 64; i++) {
		wrong += left[i].nr != right[i].nr || left[i].busy != right[i].busy || left[i].mode != right[i].mode;
		known += right[i].nr;
	}
	CHECK(!wrong && known == 64);
	drawn_release(&whole);
	drawn_release(&part);
}
