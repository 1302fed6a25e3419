// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/sliced_sums.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/run.h"
#include "lib/answers/graph/graph.h"
#include "lib/answers/tally/tally.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/reader/parallel_sum.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/slices.h"

/* The time from one event to another. */
static const struct {
	const char *what;
	struct tally_wanted wanted;
} pairs[] = {
	{ "pair syscalls", { .event = "raw_syscalls:sys_enter", .second = "raw_syscalls:sys_exit" } },
	{ "pair wakeups",
	  { .event = "sched:sched_waking",
	    .second = "sched:sched_switch",
	    .match = "pid=next_pid",
	    .keys = "next_pid,target_cpu",
	    .values = "lat.p50,lat.max,prio",
	    .filter = "lat > 1",
	    .ns = true } },
	{ "pair switches",
	  { .event = "sched:sched_switch",
	    .second = "sched:sched_switch",
	    .match = "next_pid=prev_pid",
	    .keys = "prev_comm,lat.log2" } },
	{ "pair functions",
	  { .event = "ftrace:funcgraph_entry", .second = "ftrace:funcgraph_exit", .match = "func", .size = 16 } },
};

static struct tally_wanted wishes(const char *what)
{
	for (size_t i = 0; i < array_size(pairs); i++)
		if (!strcmp(pairs[i].what, what))
			return pairs[i].wanted;
	return (struct tally_wanted){ .event = what + strlen("hist "),
				      .keys = "common_pid.execname,common_cpu",
				      .values = "common_pid,common_timestamp.min,common_timestamp.p50" };
}

static int put(struct tally *tally, struct buf *ret, struct fail *fail)
{
	int r = tally_text(tally, ret, fail);

	if (!r && !buf_addf(ret, "%" PRIu64 " %" PRIu64 "\n", tally_span(tally), tally_losses(tally)))
		r = fail_memory(fail);
	return r;
}

static int tally_order(struct reader *reader, const char *what, struct buf *ret, struct fail *fail)
{
	const struct tally_wanted wanted = wishes(what);
	struct tally *tally = NULL;
	int r = tally_new(reader, &wanted, &tally, fail);

	if (!r)
		r = reader_run(reader, &(struct reader_consumer){ tally_see, tally }, 1, fail);
	if (!r)
		r = put(tally, ret, fail);
	tally_free(tally);
	return r;
}

/* All cells of all tables, and what is said about them. */
static int put_findings(struct findings *findings, struct buf *ret, struct fail *fail)
{
	const struct findings_options options = { .format = TABLE_AS_JSON, .top = UINT64_MAX };
	struct out out = { .start = NULL };
	int r = findings_arrange(findings, &options, fail);

	if (!r && !out_init(&out, 1 << 16))
		r = fail_memory(fail);
	if (!r && (!findings_write(findings, &options, &out) || !buf_add(ret, out.start, out_len(&out))))
		r = fail_memory(fail);
	out_release(&out);
	return r;
}

static struct row_options graph_wishes(const char *what)
{
	return (struct row_options){ .by = strcmp(what, "graph") != 0 ? GRAPH_BY_ERRNO : GRAPH_BY_FUNCTION };
}

/* Also where there are no functions, what then is said. */
static int put_graph(struct analysis_run *run, int r, struct buf *ret, struct fail *fail)
{
	if (!r)
		r = put_findings(&run->findings, ret, fail);
	else if (r == -ENODATA)
		r = buf_add_str(ret, fail->text) ? 0 : fail_memory(fail);
	findings_release(&run->findings);
	return r;
}

static int graph_order(struct reader *reader, const char *what, struct buf *ret, struct fail *fail)
{
	const struct row_options options = graph_wishes(what);
	const struct pass_filter filter = { .self = false };
	struct analysis_run run = { .ops = &graph_analysis, .options = &options };
	struct pass pass;
	int r = analyses_run(&pass, reader, &filter, &run, 1, NULL, NULL, fail);

	r = put_graph(&run, r, ret, fail);
	pass_release(&pass);
	return r;
}

/* What analysis_share() is to share by: it passes on no argument. */
static _Thread_local struct {
	const struct slices *slices;
	struct pool *pool;
} sharing;

static int share(const struct reader *reader, const struct parallel_sum_ops *ops, void *arg)
{
	(void)reader;
	return parallel_sum_run(sharing.slices, sharing.pool, ops, arg);
}

static int graph_slices(const struct slices *slices, const char *what, struct pool *pool, struct buf *ret,
			struct fail *fail)
{
	const struct row_options options = graph_wishes(what);
	const struct pass_filter filter = { .self = false };
	struct analysis_run run = { .ops = &graph_analysis, .options = &options };
	struct pass pass;
	int r;

	sharing.slices = slices;
	sharing.pool = pool;
	r = analysis_share(&pass, (struct reader *)(uintptr_t)slices->reader, &filter, &run, share, fail);
	r = put_graph(&run, r, ret, fail);
	pass_release(&pass);
	return r;
}

static int tally_slices(const struct slices *slices, const char *what, struct pool *pool, struct buf *ret,
			struct fail *fail)
{
	const struct tally_wanted wanted = wishes(what);
	struct tally_sum sum = { .wanted = &wanted };
	int r = tally_new(slices->reader, &wanted, &sum.tally, fail);

	if (!r)
		r = tally_can_join(sum.tally) ? parallel_sum_run(slices, pool, &tally_shares, &sum) : -EAGAIN;
	if (!r)
		r = put(sum.tally, ret, fail);
	tally_free(sum.tally);
	return r;
}

static bool is_graph(const char *what)
{
	return !strncmp(what, "graph", strlen("graph"));
}

int sliced_sums_order(struct trace *trace, const char *what, struct buf *ret, struct fail *fail)
{
	struct reader reader;
	int r;

	reader_init(&reader);
	r = reader_add(&reader, trace, 0, fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	if (!r)
		r = is_graph(what) ? graph_order(&reader, what, ret, fail) : tally_order(&reader, what, ret, fail);
	reader_release(&reader);
	return r;
}

int sliced_sums(const struct slices *slices, const char *what, struct pool *pool, struct buf *ret, struct fail *fail)
{
	return is_graph(what) ? graph_slices(slices, what, pool, ret, fail) :
				tally_slices(slices, what, pool, ret, fail);
}
