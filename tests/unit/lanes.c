// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/timeline/lanes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/test.h"

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
	loom_graph(&loom);
	loom.kallsyms = "0000000000001000 T outer\n0000000000002000 T inner\n0000000000003000 T end\n";
	loom_type(&loom, "ftrace", "print", "u64 ip; char buf[24]", "\"%s\", REC->buf");
	loom_type(&loom, "syscalls", "sys_enter_read", "int __syscall_nr; u64 fd", "\"\"");
	loom_type(&loom, "syscalls", "sys_exit_read", "int __syscall_nr; u64 ret", "\"\"");
	loom_type(&loom, "irq", "softirq_entry", "u32 vec", "\"\"");
	loom_type(&loom, "irq", "softirq_exit", "u32 vec", "\"\"");
	loom_type(&loom, "power", "cpu_frequency", "u32 state; u32 cpu_id", "\"\"");
	loom_type(&loom, "sched", "sched_wakeup_new", "char comm[16]; pid_t pid; int prio; int target_cpu", "\"\"");
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

	REQUIRE(draw(&drawn, played(script),
		     &(struct lanes_options){ .length = 1000, .cells_max = 1024, .to = UINT64_MAX }));
	lane = find(&drawn, LANE_CPU, 0);
	REQUIRE(lane && lane->length == 1000);
	lane_columns(lane, 1000, 0, 4, cells);
	CHECK(!cells[0].nr);
	CHECK(!strcmp(lanes_label(drawn.lanes, cells[1].label), "c") && cells[1].longest == 600 &&
	      cells[1].start == 1400);
	CHECK(cells[1].busy == 1000 && cells[1].count == 3);
	CHECK(!strcmp(lanes_label(drawn.lanes, cells[2].label), "c") && cells[2].busy == 1000 && !cells[2].count);
	CHECK(!strcmp(lanes_label(drawn.lanes, cells[3].label), "c") && cells[3].longest == 200);
	lane = find(&drawn, LANE_TASK, 8);
	REQUIRE(lane);
	lane_columns(lane, 1000, 0, 4, cells);
	CHECK(cells[1].waited == 100 && cells[1].busy == 300 && cells[1].mode == TASK_RUNNING);
	CHECK(cells[1].modes == (1 << TASK_WAKING | 1 << TASK_RUNNING | 1 << TASK_SLEEPING));
	CHECK(cells[2].mode == TASK_SLEEPING && !cells[2].busy);
	CHECK(lane->waited == 100 && lane->longest == 100 && lane->longest_at == 1000);
	/* Columns of any multiple are made of whole ones. */
	lane_columns(lane, 3000, 0, 2, cells);
	CHECK(cells[0].waited == 100 && cells[0].busy == 300 && cells[0].count == 3 && cells[1].nr == 1);
	lane = find(&drawn, LANE_EVENTS, 0);
	REQUIRE(lane);
	lane_columns(lane, 1000, 0, 4, cells);
	CHECK(!cells[0].nr && cells[1].count == 5 && !cells[2].nr && cells[3].count == 2 && cells[3].lost);
	CHECK(lane->count == 7);
	lane = find(&drawn, LANE_COUNTER, 0);
	REQUIRE(lane);
	lane_columns(lane, 1000, 0, 4, cells);
	CHECK(cells[1].busy == 2000 && cells[1].start == 1500 && cells[1].count == 2 && lane->largest == 2000);
	CHECK(cells[1].longest == 1000 && lane->smallest == 1000);
	drawn_release(&drawn);
}

TEST(lanes_of_fields_are_found_by_their_names_and_have_values_below_0)
{
	static const char script[] = "0 1000 7 sched_waking comm=b pid=8 prio=-5 target_cpu=0\n"
				     "0 1100 7 sched_waking comm=b pid=9 prio=-7 target_cpu=0\n"
				     "0 2100 7 sched_waking comm=b pid=9 prio=-6 target_cpu=0\n";
	static const char *const counters[] = { "sched_waking:pid", "sched_waking:prio" };
	static const char *const turned[] = { "sched_waking:prio", "sched_waking:pid" };
	struct lanes_options options = {
		.length = 1000, .cells_max = 1024, .to = UINT64_MAX, .counters = counters, .nr_counters = 2
	};
	struct drawn drawn, other;
	const struct lane *lane, *same;
	struct lane_cell cells[3];

	REQUIRE(draw(&drawn, played(script), &options));
	options.counters = turned;
	REQUIRE(draw(&other, played(script), &options));
	lane = NULL;
	for (size_t i = 0; i < lanes_count(drawn.lanes); i++)
		if (!strcmp(lanes_label(drawn.lanes, lanes_at(drawn.lanes, i)->label), "sched_waking:prio"))
			lane = lanes_at(drawn.lanes, i);
	REQUIRE(lane && lane->kind == LANE_COUNTER && lane->largest == -5 && lane->smallest == -7);
	lane_columns(lane, 1000, 0, 3, cells);
	CHECK(!cells[0].nr && (int64_t)cells[1].busy == -5 && (int64_t)cells[1].longest == -7 && cells[1].count == 2);
	CHECK((int64_t)cells[2].busy == -6 && (int64_t)cells[2].longest == -6);
	same = lanes_find(other.lanes, lane, "sched_waking:prio");
	REQUIRE(same && same->largest == -5 && same->owner != lane->owner);
	CHECK(!lanes_find(other.lanes, lane, "sched_waking:nope"));
	drawn_release(&other);
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
	uint64_t length = b->length;
	enum { COLUMNS = 1024 };
	struct lane_cell left[COLUMNS], right[COLUMNS];
	uint64_t busy = 0, waited = 0, count = 0;
	unsigned wrong = 0;

	CHECK(a->kind == b->kind && a->owner == b->owner && a->busy == b->busy && a->waited == b->waited &&
	      a->count == b->count && a->longest == b->longest && a->longest_at == b->longest_at);
	for (uint64_t first = 0; first * length < 400000000; first += COLUMNS) {
		lane_columns(a, length, first, COLUMNS, left);
		lane_columns(b, length, first, COLUMNS, right);
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

	REQUIRE(draw(&fine, lively(),
		     &(struct lanes_options){ .length = 100, .cells_max = 1 << 22, .to = UINT64_MAX }));
	REQUIRE(draw(&folded, lively(), &(struct lanes_options){ .cells_max = 1024, .to = UINT64_MAX }));
	CHECK(lanes_at(fine.lanes, 0)->length == 100 && lanes_at(folded.lanes, 0)->length > 5000);
	CHECK(lanes_count(fine.lanes) == lanes_count(folded.lanes) && lanes_count(fine.lanes) >= 11);
	for (size_t i = 0; i < lanes_count(fine.lanes); i++)
		compare(lanes_at(fine.lanes, i), lanes_at(folded.lanes, i));
	drawn_release(&fine);
	drawn_release(&folded);
}

TEST(lanes_are_cut_to_a_window)
{
	struct lanes_options window = { .length = 20, .cells_max = 1 << 20, .from = 4005000, .to = 4030000 };
	struct lane_cell left[64], right[64];
	struct drawn whole, part;
	const struct lane *a, *b;
	unsigned wrong = 0, known = 0;

	REQUIRE(draw(&whole, lively(),
		     &(struct lanes_options){ .length = 20, .cells_max = 1 << 22, .to = UINT64_MAX }));
	REQUIRE(draw(&part, lively(), &window));
	a = find(&whole, LANE_TASK, 12);
	b = find(&part, LANE_TASK, 12);
	REQUIRE(a && b);
	CHECK(b->nr_cells < a->nr_cells);
	lane_columns(a, 200, 20030, 64, left);
	lane_columns(b, 200, 20030, 64, right);
	for (size_t i = 0; i < 64; i++) {
		wrong += left[i].nr != right[i].nr || left[i].busy != right[i].busy || left[i].mode != right[i].mode;
		known += right[i].nr;
	}
	CHECK(!wrong && known == 64);
	drawn_release(&whole);
	drawn_release(&part);
}

TEST(lanes_know_when_a_task_was_born_and_that_it_is_dead)
{
	static const char script[] =
		"0 1000 7 sched_switch prev_comm=a prev_pid=7 prev_state=1 next_comm=b next_pid=8\n"
		"0 2000 8 sched_wakeup_new comm=c pid=9 prio=120 target_cpu=0\n"
		"0 3000 8 sched_switch prev_comm=b prev_pid=8 prev_state=1 next_comm=c next_pid=9\n"
		"0 4000 9 sched_switch prev_comm=c prev_pid=9 prev_state=16 next_comm=b next_pid=8\n"
		"0 6000 8 sched_waking comm=a pid=7 prio=120 target_cpu=0\n";
	struct lane_cell cells[7];
	struct drawn drawn;
	const struct lane *lane;

	REQUIRE(draw(&drawn, played(script),
		     &(struct lanes_options){ .length = 1000, .cells_max = 1024, .to = UINT64_MAX }));
	lane = find(&drawn, LANE_TASK, 9);
	REQUIRE(lane && lane->born == 2000 && lane->died == 4000);
	lane_columns(lane, 1000, 0, 7, cells);
	CHECK(!cells[1].nr && cells[2].waited == 1000 && cells[3].mode == TASK_RUNNING);
	CHECK(!cells[4].nr && !cells[5].nr);
	lane = find(&drawn, LANE_TASK, 8);
	CHECK(lane && !lane->born && !lane->died);
	drawn_release(&drawn);
}

/* KIND OWNER DEPTH: LABEL of the first cell, COUNT, BUSY, the LONGEST and when it was. */
static const char *listed(const struct drawn *drawn, char *into, size_t size)
{
	static const char *const kinds[LANE_KINDS] = {
		[LANE_EVENTS] = "events",     [LANE_CPU] = "cpu",         [LANE_HARDIRQ] = "hardirq",
		[LANE_SOFTIRQ] = "softirq",   [LANE_TASK] = "task",       [LANE_CALLS] = "calls",
		[LANE_MARK] = "mark",         [LANE_ASYNC] = "async",     [LANE_PAIR] = "pair",
		[LANE_FUNCTION] = "function", [LANE_COUNTER] = "counter",
	};
	size_t len = 0;

	*into = '\0';
	for (size_t i = 0; i < lanes_count(drawn->lanes) && len < size; i++) {
		const struct lane *lane = lanes_at(drawn->lanes, i);

		if (lane->kind == LANE_EVENTS || lane->kind == LANE_CPU || lane->kind == LANE_TASK)
			continue;
		len += (size_t)snprintf(into + len, size - len, "%s %s%" PRIu32 " %u: ", kinds[lane->kind],
					lane->of_task ? "task " : "", lane->kind == LANE_COUNTER ? 0 : lane->owner,
					lane->depth);
		if (lane->kind == LANE_COUNTER)
			len += (size_t)snprintf(into + len, size - len,
						"%s %" PRIu64 ", from %" PRId64 " to %" PRId64 "\n",
						lanes_label(drawn->lanes, lane->label), lane->count, lane->smallest,
						lane->largest);
		else
			len += (size_t)snprintf(into + len, size - len,
						"%s %" PRIu64 ", busy %" PRIu64 ", longest %" PRIu64 " at %" PRIu64
						"\n",
						lanes_label(drawn->lanes, lane->cells[0].label), lane->count,
						lane->busy, lane->longest, lane->longest_at);
	}
	return into;
}

TEST(lanes_have_each_kind_of_slice_with_its_owner_name_and_sums)
{
	static const char script[] = "0 1000 7 funcgraph_entry func=0x1000 depth=0\n"
				     "0 1100 7 funcgraph_entry func=0x2000 depth=1\n"
				     "0 1200 7 irq_handler_entry irq=5 name=eth0\n"
				     "0 1250 7 irq_handler_exit irq=5 ret=1\n"
				     "0 1300 7 softirq_entry vec=3\n"
				     "0 1370 7 softirq_exit vec=3\n"
				     "0 2100 7 funcgraph_exit func=0x2000 depth=1 calltime=1100 rettime=2100\n"
				     "0 3000 7 funcgraph_exit func=0x1000 depth=0 calltime=1000 rettime=3000\n"
				     "0 4000 7 sys_enter_read __syscall_nr=0 fd=3\n"
				     "0 4500 7 sys_exit_read __syscall_nr=0 ret=1\n"
				     "0 5000 7 print buf=B|7|draw\n"
				     "0 5100 7 print buf=B|7|line\n"
				     "0 5200 7 print buf=E|7\n"
				     "0 5900 7 print buf=E|7\n"
				     "0 6000 7 print buf=S|7|job|1\n"
				     "0 6100 7 print buf=C|7|queue|-5\n"
				     "0 6200 7 print buf=C|7|queue|3\n"
				     "0 6300 7 print buf=F|7|job|1\n"
				     "1 7000 0 funcgraph_entry func=0x2000 depth=0\n"
				     "1 7050 0 funcgraph_exit func=0x2000 depth=0 calltime=7000 rettime=7050\n";
	struct drawn drawn;
	char got[1024];

	REQUIRE(draw(&drawn, played(script),
		     &(struct lanes_options){ .length = 1000, .cells_max = 1024, .to = UINT64_MAX }));
	CHECK_STR(listed(&drawn, got, sizeof(got)), "hardirq 0 0: irq 5 eth0 1, busy 50, longest 50 at 1200\n"
						    "softirq 0 0: softirq NET_RX 1, busy 70, longest 70 at 1300\n"
						    "function task 7 1: inner 1, busy 1000, longest 1000 at 1100\n"
						    "function task 7 0: outer 1, busy 2000, longest 2000 at 1000\n"
						    "calls task 7 0: read 1, busy 500, longest 500 at 4000\n"
						    "mark task 7 1: line 1, busy 100, longest 100 at 5100\n"
						    "mark task 7 0: draw 1, busy 900, longest 900 at 5000\n"
						    "counter 0 4: queue (7) 2, from -5 to 3\n"
						    "async task 7 0: job 1, busy 300, longest 300 at 6000\n"
						    "function 1 0: inner 1, busy 50, longest 50 at 7000\n");
	drawn_release(&drawn);
}

/* Spans of a process may lie across one another: what ends later may have begun before. */
TEST(lanes_show_what_ends_behind_what_began_later)
{
	static const char script[] = "0 1000 7 print buf=S|7|a|1\n"
				     "0 8000 7 print buf=S|7|b|2\n"
				     "0 8500 7 print buf=F|7|b|2\n"
				     "0 9000 7 print buf=F|7|a|1\n"
				     "0 9500 7 print buf=S|7|c|3\n"
				     "0 12000 7 print buf=S|7|d|4\n"
				     "0 20500 7 print buf=F|7|c|3\n"
				     "0 21000 7 print buf=F|7|d|4\n";
	static const uint64_t busy[] = { 0,    1000, 1000, 1000, 1000, 1000, 1000, 1000, 1500, 500,  1000,
					 1000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 2000, 1500, 0 };
	static const char labels[] = "-aaaaaaaacccccccccccd-";
	static const uint32_t counts[] = { 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	enum { COLUMNS = 22 };

	/* With columns of any length the sums are the same. */
	for (uint64_t coarser = 1; coarser <= 5; coarser++) {
		struct lane_cell cells[COLUMNS];
		const struct lane *lane;
		struct drawn drawn;

		REQUIRE(draw(&drawn, played(script),
			     &(struct lanes_options){ .length = 1000, .cells_max = 1024, .to = UINT64_MAX }));
		lane = find(&drawn, LANE_ASYNC, 7);
		REQUIRE(lane && lane->count == 4 && lane->busy == 8000 + 500 + 11000 + 9000 && lane->longest == 11000 &&
			lane->longest_at == 9500);
		lane_columns(lane, 1000 * coarser, 0, COLUMNS, cells);
		for (size_t i = 0; i < COLUMNS; i++) {
			uint64_t sum = 0;
			uint32_t count = 0;

			for (size_t k = i * coarser; k < (i + 1) * coarser && k < COLUMNS; k++) {
				sum += busy[k];
				count += counts[k];
			}
			CHECK(cells[i].busy == sum && cells[i].count == count && cells[i].nr == (sum > 0));
			if (coarser == 1 && sum && i < sizeof(labels))
				CHECK(lanes_label(drawn.lanes, cells[i].label)[0] == labels[i]);
		}
		drawn_release(&drawn);
	}
}
