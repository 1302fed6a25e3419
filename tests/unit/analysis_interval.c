// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is open where a table begins or ends, at the start of a file and at the ends of an interval; and the tables of
 * intervals, which are shown when their analysis is gone.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/intervals.h"
#include "lib/answers/graph/graph.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/reader/extent.h"
#include "lib/pages/trace/trace.h"
#include "lib/screen/term/key.h"
#include "lib/screen/view/table_pane_model.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_graph(loom);
}

TEST(graph_counts_no_wait_before_a_call_as_off_the_cpu)
{
	struct analysed analysed;

	/* Task 7 waits from 1000 to 1500. During its call the first sched_switch is on another CPU. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "1 1000 9 sched_waking comm=sh pid=7 target_cpu=0\n"
			    "0 1500 7 funcgraph_entry func=0xa depth=0\n"
			    "1 1600 9 sched_switch prev_comm=x prev_pid=9 prev_state=1 next_comm=ls next_pid=8\n"
			    "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1500 rettime=2000\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xa", "total", "500") &&
	      analysed_is(&analysed, "functions", "0xa", "off-cpu", "0"));
	analysed_end(&analysed);
}

TEST(graph_takes_no_time_off_the_cpu_from_an_earlier_task_of_the_pid)
{
	struct analysed analysed;

	/* The first task 7 had been off the CPU for 300 when it called 0xa, in which it ended. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1000 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=ls next_pid=8\n"
			    "0 1300 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=sh next_pid=7\n"
			    "0 1400 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1600 7 sched_switch prev_comm=sh prev_pid=7 prev_state=16 next_comm=ls next_pid=8\n"
			    "0 1700 8 sched_process_fork parent_comm=ls parent_pid=8 child_comm=ls child_pid=7\n"
			    "0 1800 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=ls next_pid=7\n"
			    "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1900 rettime=2000\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xa", "total", "100") &&
	      analysed_is(&analysed, "functions", "0xa", "off-cpu", "0"));
	analysed_end(&analysed);
}

static const char open_script[] =
	/* A call of 0xa that sleeps from 2500 to 4500, and two calls before and behind it that do not sleep. */
	"0 1000 7 funcgraph_entry func=0xa depth=0\n"
	"0 1100 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=1100\n"
	"0 1200 7 funcgraph_entry func=0xa depth=0\n"
	"0 2500 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=ls next_pid=8\n"
	"0 4500 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=sh next_pid=7\n"
	"0 5200 7 funcgraph_exit func=0xa depth=0 calltime=1200 rettime=5200\n"
	"0 5300 7 funcgraph_entry func=0xa depth=0\n"
	"0 5500 7 funcgraph_exit func=0xa depth=0 calltime=5300 rettime=5500\n";

TEST(graph_of_an_interval_counts_a_call_that_was_open_at_its_begin_where_it_returns)
{
	static const uint64_t begins[] = { 2000, 3000 }; /* while the task runs, and while it sleeps */
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, NULL, types, open_script))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xa", "total", "4300") &&
	      analysed_is(&analysed, "functions", "0xa", "self", "4300") &&
	      analysed_is(&analysed, "functions", "0xa", "off-cpu", "2000"));
	analysed_end(&analysed);
	for (size_t i = 0; i < array_size(begins); i++) {
		if (!analysed_from(&analysed, &graph_analysis, types, open_script, begins[i]))
			return;
		CHECK(analysed_is(&analysed, "functions", "0xa", "calls", "2") &&
		      analysed_is(&analysed, "functions", "0xa", "total", "4200"));
		CHECK(analysed_is(&analysed, "functions", "0xa", "self", "4200") &&
		      analysed_is(&analysed, "functions", "0xa", "irq", "0") &&
		      analysed_is(&analysed, "functions", "0xa", "off-cpu", "2000"));
		CHECK_STR(buf_str(&analysed.findings.cut), "");
		analysed_end(&analysed);
	}
}

/* A set of findings, with what they said while their analysis was there. */
struct kept {
	struct findings findings;
	struct buf said;
};

struct keeping {
	const struct analysis_ops *ops;
	struct kept *kept;
	size_t nr;
	struct table_pane_model *model;
};

static bool say(struct findings *findings, struct buf *into)
{
	struct out out;
	bool ok = out_init(&out, 1 << 12);

	for (int format = TABLE_AS_TEXT; ok && format <= TABLE_AS_CSV; format++) {
		const struct findings_options options = { .format = (enum table_format)format, .top = UINT64_MAX };

		ok = findings_write(findings, &options, &out);
	}
	ok = ok && buf_add(into, out.start, out_len(&out));
	out_release(&out);
	return ok;
}

static int keep(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail)
{
	struct keeping *keeping = arg;
	struct kept *kept = vec_push(keeping->kept, keeping->nr);

	(void)span;
	(void)fail;
	if (!CHECK(kept && say(findings, &kept->said)))
		return -ENOMEM;
	kept->findings = *findings;
	findings_init(findings);
	return 0;
}

/* Shows each interval to a board, whose keys choose each of its tables and columns in turn. */
static int show(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail)
{
	struct keeping *keeping = arg;
	struct key keys[] = { { .kind = KEY_TAB }, { .kind = KEY_RIGHT } };
	struct out out;

	(void)fail;
	if (!CHECK(out_init(&out, 1 << 12)))
		return -ENOMEM;
	for (size_t i = 0; i < 5; i++) {
		if (!i)
			table_pane_model_take(keeping->model, findings, span, "12.345");
		table_pane_model_draw(keeping->model, 100, 40, &out);
		(void)table_pane_model_key(keeping->model, &keys[i % 2]);
	}
	out_release(&out);
	return 0;
}

/* Runs an analysis over a file in ten intervals. */
static void run_intervals(const char *path, struct keeping *keeping,
			  int (*found)(void *arg, struct findings *findings, const struct findings_span *span,
				       struct fail *fail))
{
	struct intervals intervals = { .ops = keeping->ops, .every_ns = 1, .found = found, .arg = keeping };
	struct fail fail = FAIL_INIT;
	struct extent extent = { .first = 0 };
	struct trace *trace = NULL;
	struct reader reader;
	int r;

	reader_init(&reader);
	r = trace_open(path, &trace, &fail);
	if (!r)
		r = reader_add_trace(&reader, trace, &fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail);
	if (!r)
		r = extent_find(reader.buffers[0].context, &extent, &fail);
	intervals.every_ns += (extent.last - extent.first) / 10;
	if (!r)
		r = intervals_run(&intervals, &reader, &(struct pass_filter){ .nr_pids = 0 }, &fail);
	/* The file may have no event of the analysis. */
	if (!CHECK(!r || r == -ENODATA))
		printf("%s of %s: %s\n", keeping->ops->name, path, fail.text);
	intervals_release(&intervals);
	reader_release(&reader);
	trace_free(trace);
}

static const char *const files[] = {
	"tests/fixtures/demo.dat",
	"tests/fixtures/golden/6.12-events-syscalls.dat",
	"tests/fixtures/golden/6.12-events-irq-timer.dat",
	"tests/fixtures/golden/6.12-function_graph.dat",
	"tests/fixtures/golden/6.12-blk.dat",
	"tests/fixtures/golden/6.12-osnoise.dat",
	"tests/fixtures/golden/6.12-event-stacktrace.dat",
};

/* Live tables and a viewer show the findings of an interval when its analysis has begun the next one. */
TEST(findings_of_an_interval_stay_the_same_when_their_analysis_is_gone)
{
	const struct analysis_ops *ops;
	size_t tables = 0;

	for (size_t i = 0; (ops = analysis_at(i)); i++) {
		for (size_t j = 0; j < array_size(files); j++) {
			struct keeping keeping = { .ops = ops };

			run_intervals(files[j], &keeping, keep);
			CHECK(keeping.nr >= 2);
			for (size_t k = 0; k < keeping.nr; k++) {
				struct kept *kept = &keeping.kept[k];
				cleanup_buf struct buf now = BUF_INIT;

				tables += kept->findings.nr;
				CHECK(say(&kept->findings, &now));
				if (!CHECK(now.len == kept->said.len && !memcmp(now.data, kept->said.data, now.len)))
					printf("%s of %s\n", ops->name, files[j]);
				findings_release(&kept->findings);
				buf_release(&kept->said);
			}
			free(keeping.kept);
		}
	}
	CHECK(tables > 300);
}

TEST(board_shows_the_tables_of_each_analysis_though_not_each_interval_has_them)
{
	const struct analysis_ops *ops;

	for (size_t i = 0; (ops = analysis_at(i)); i++) {
		for (size_t j = 0; j < array_size(files); j++) {
			const struct table_pane_model_options options = { .name = ops->name };
			struct keeping keeping = { .ops = ops };
			struct fail fail = FAIL_INIT;

			REQUIRE(!table_pane_model_new(&options, &keeping.model, &fail));
			run_intervals(files[j], &keeping, show);
			table_pane_model_free(keeping.model);
		}
	}
}
