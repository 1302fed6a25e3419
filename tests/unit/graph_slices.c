// SPDX-License-Identifier: GPL-2.0-only
/* weft graph in slices of time: of traces by chance, among them such as no kernel writes, cut by chance. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/run.h"
#include "lib/answers/graph/graph.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/sliced.h"
#include "tests/unit/sliced_sums.h"
#include "tests/unit/test.h"

enum { TASKS = 3, FUNCTIONS = 6, DEPTH_MAX = 5, EVENTS = 400, CUTS = 12, SEEDS = 24 };

struct chance {
	uint64_t seed;
};

static unsigned below(struct chance *chance, unsigned n)
{
	chance->seed = chance->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(chance->seed >> 33) % n;
}

struct walk {
	struct chance chance;
	uint64_t now;
	struct task {
		unsigned func[DEPTH_MAX], flags[DEPTH_MAX], depth, cpu;
		uint64_t since[DEPTH_MAX];
	} tasks[TASKS];
	unsigned odd; /* so many of 1000 events are not as a kernel writes them */
};

static bool is_odd(struct walk *walk)
{
	return below(&walk->chance, 1000) < walk->odd;
}

static void enter(struct walk *walk, unsigned pid, struct buf *script)
{
	struct task *task = &walk->tasks[pid];
	unsigned flags = task->depth ? task->flags[task->depth - 1] : 0;

	if (!below(&walk->chance, 8))
		flags = (const unsigned[]){ 0, 1, 8, 9 }[below(&walk->chance, 4)];
	task->func[task->depth] = 1 + below(&walk->chance, FUNCTIONS);
	task->flags[task->depth] = flags;
	task->since[task->depth] = walk->now;
	if (!is_odd(walk))
		CHECK(buf_addf(script, "%u %" PRIu64 " %u funcgraph_entry func=%u depth=%u common_flags=%u\n",
			       task->cpu, walk->now, pid, task->func[task->depth], task->depth, flags));
	task->depth++;
}

static void leave(struct walk *walk, unsigned pid, struct buf *script)
{
	struct task *task = &walk->tasks[pid];
	unsigned depth = --task->depth, retval = below(&walk->chance, 4);
	uint64_t since = task->since[depth] - (is_odd(walk) ? 3 : 0), until = walk->now - (is_odd(walk) ? 2 : 0);

	if (!is_odd(walk))
		CHECK(buf_addf(script,
			       "%u %" PRIu64 " %u funcgraph_exit func=%u depth=%u calltime=%" PRIu64 " rettime=%" PRIu64
			       " retval=-%u common_flags=%u\n",
			       task->cpu, walk->now, pid, task->func[depth], is_odd(walk) ? depth + 1 : depth, since,
			       until > since ? until : since, retval, task->flags[depth]));
}

static void play(struct walk *walk, struct buf *script)
{
	for (unsigned i = 0; i < EVENTS; i++) {
		unsigned pid = below(&walk->chance, TASKS);
		struct task *task = &walk->tasks[pid];

		walk->now += 1 + below(&walk->chance, 9);
		/* PID 0 has a task for each CPU. */
		if (pid && !below(&walk->chance, 20))
			task->cpu = below(&walk->chance, 2);
		if (!task->depth || (task->depth < DEPTH_MAX && !below(&walk->chance, 2)))
			enter(walk, pid, script);
		else
			leave(walk, pid, script);
	}
}

static struct trace *trace_by_chance(struct loom *loom, uint64_t seed)
{
	struct walk walk = { .chance = { seed }, .now = 1000, .odd = (unsigned)(seed % 3) * 15 };
	cleanup_buf struct buf script = BUF_INIT;

	loom_graph(loom);
	loom_task(loom, 1, "one");
	/* The trace begins inside of some functions. */
	for (unsigned pid = 0; pid < TASKS; pid++)
		for (unsigned i = below(&walk.chance, DEPTH_MAX); i; i--) {
			struct task *task = &walk.tasks[pid];

			task->func[task->depth] = 1 + below(&walk.chance, FUNCTIONS);
			task->since[task->depth++] = 500;
		}
	play(&walk, &script);
	loom_play(loom, buf_str(&script));
	return loom_trace(loom);
}

/* Returns whether all was made in slices; then it is the same. */
static bool is_made(struct trace *trace, const char *what, const uint64_t *times, size_t nr)
{
	const struct sliced_cuts cuts = { .times = times, .nr = nr, .threads = 2, .sums = what };
	cleanup_buf struct buf whole = BUF_INIT, text = BUF_INIT;
	bool all = false;

	CHECK(!sliced_sums_order(trace, what, &whole, NULL));
	CHECK(!sliced_print(trace, &cuts, &text, &all, NULL));
	if (all)
		CHECK_STR(buf_str(&text), buf_str(&whole));
	return all;
}

static int by_time(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static unsigned cut(struct trace *trace, struct chance *chance)
{
	uint64_t *times = NULL, chosen[CUTS];
	unsigned made = 0;
	size_t nr = 0;

	if (CHECK(!sliced_times(trace, &times, &nr, NULL) && nr)) {
		for (size_t some = 1; some <= CUTS; some++) {
			for (size_t i = 0; i < some; i++)
				chosen[i] = times[below(chance, (unsigned)nr)];
			qsort(chosen, some, sizeof(*chosen), by_time);
			made += is_made(trace, some % 4 ? "graph" : "graph errors", chosen, some);
		}
		made += is_made(trace, "graph", times, nr);
	}
	free(times);
	return made;
}

TEST(graph_slices_are_the_same_tables_wherever_they_are_cut)
{
	unsigned made = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct chance chance = { seed };
		struct trace *trace;
		struct loom loom;

		loom_init(&loom);
		trace = trace_by_chance(&loom, seed);
		if (CHECK(trace != NULL))
			made += cut(trace, &chance);
		trace_free(trace);
		loom_release(&loom);
	}
	/* What cannot be told in slices is rare. */
	CHECK(made > SEEDS * (CUTS + 1) * 9 / 10);
}

static _Thread_local unsigned shared;

static int count_share(const struct reader *reader, const struct parallel_sum_ops *ops, void *arg)
{
	(void)reader;
	(void)ops;
	(void)arg;
	shared++;
	return -EAGAIN;
}

/* Returns how often slices were planned. */
static unsigned plan(struct trace *trace, const struct pass_filter *filter)
{
	const struct row_options options = { .by = GRAPH_BY_FUNCTION };
	struct analysis_run run = { .ops = &graph_analysis, .options = &options };
	struct reader reader;
	struct pass pass;

	shared = 0;
	reader_init(&reader);
	CHECK(!reader_add(&reader, trace, 0, NULL));
	CHECK(analysis_share(&pass, &reader, filter, &run, count_share, NULL) == -EAGAIN);
	findings_release(&run.findings);
	pass_release(&pass);
	reader_release(&reader);
	return shared;
}

TEST(graph_slices_are_not_planned_for_tasks_that_the_user_chose)
{
	const int32_t pids[] = { 1 };
	const char *comms[] = { "ls" };
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	trace = trace_by_chance(&loom, 1);
	if (CHECK(trace != NULL)) {
		CHECK(plan(trace, &(struct pass_filter){ .self = false }) == 1);
		CHECK(plan(trace, &(struct pass_filter){ .pids = pids, .nr_pids = 1 }) == 0);
		CHECK(plan(trace, &(struct pass_filter){ .comms = comms, .nr_comms = 1 }) == 0);
	}
	trace_free(trace);
	loom_release(&loom);
}
