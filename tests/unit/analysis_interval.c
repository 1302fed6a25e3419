// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of functions that are open where a table begins or ends: at the start of a file, and at the ends of an
 * interval.
 */
#include "lib/analysis/graph.h"
#include "lib/base/buf.h"
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

TEST(graph_of_an_interval_knows_no_parts_of_a_call_that_was_open_at_its_begin)
{
	static const uint64_t begins[] = { 2000, 3000 }; /* while the task runs, and while it sleeps */
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, NULL, types, open_script))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xa", "total", "4300") &&
	      analysed_is(&analysed, "functions", "0xa", "self", "4300") &&
	      analysed_is(&analysed, "functions", "0xa", "off-cpu", "2000"));
	analysed_end(&analysed);
	/* The call's end has its duration, but not what the call did meanwhile. */
	for (size_t i = 0; i < array_size(begins); i++) {
		if (!analysed_from(&analysed, &graph_analysis, types, open_script, begins[i]))
			return;
		CHECK(analysed_is(&analysed, "functions", "0xa", "calls", "2") &&
		      analysed_is(&analysed, "functions", "0xa", "total", "4200"));
		CHECK(analysed_is(&analysed, "functions", "0xa", "self", "200") &&
		      analysed_is(&analysed, "functions", "0xa", "irq", "0") &&
		      analysed_is(&analysed, "functions", "0xa", "off-cpu", "0"));
		CHECK_STR(buf_str(&analysed.findings.cut), "1 call entered before the start");
		analysed_end(&analysed);
	}
}
