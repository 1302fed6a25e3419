// SPDX-License-Identifier: GPL-2.0-only
#include "lib/answers/graph/graph.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

/* The own time of functions where the order of the records is not that of the calls. */

static void types(struct loom *loom)
{
	loom_graph(loom);
}

TEST(graph_takes_an_interrupt_behind_the_return_for_a_part_of_the_caller)
{
	struct analysed analysed;

	/* 0xb, which called 0xd, has returned at 1300; the interrupt comes before its record is written. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1100 7 funcgraph_entry func=0xb depth=1\n"
			    "0 1200 7 funcgraph_entry func=0xd depth=2\n"
			    "0 1250 7 funcgraph_exit func=0xd depth=2 calltime=1200 rettime=1250\n"
			    "0 1310 7 funcgraph_entry func=0xc depth=2 common_flags=8\n"
			    "0 1810 7 funcgraph_exit func=0xc depth=2 calltime=1310 rettime=1810 common_flags=8\n"
			    "0 1820 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1300\n"
			    "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xb", "self", "150") &&
	      analysed_is(&analysed, "functions", "0xb", "irq", "0"));
	CHECK(analysed_is(&analysed, "functions", "0xa", "self", "300") &&
	      analysed_is(&analysed, "functions", "0xa", "irq", "500"));
	analysed_end(&analysed);
}

TEST(graph_takes_an_interrupt_before_the_entry_is_written_for_a_part_of_the_call)
{
	struct analysed analysed;

	/* 0xb begins at 1100; the interrupt comes before its record is written. The tracer has counted its depth. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1110 7 funcgraph_entry func=0xc depth=2 common_flags=8\n"
			    "0 1610 7 funcgraph_exit func=0xc depth=2 calltime=1110 rettime=1610 common_flags=8\n"
			    "0 1620 7 funcgraph_entry func=0xb depth=1\n"
			    "0 1800 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1800\n"
			    "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xb", "self", "200") &&
	      analysed_is(&analysed, "functions", "0xb", "irq", "500"));
	CHECK(analysed_is(&analysed, "functions", "0xa", "self", "300") &&
	      analysed_is(&analysed, "functions", "0xa", "irq", "500"));
	analysed_end(&analysed);
}

TEST(graph_takes_calls_below_a_function_that_is_not_traced_off_the_caller)
{
	struct analysed analysed;

	/* The function of depth 1 is hidden the first time (--no-graph-function); the second time only its entry is. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1110 7 funcgraph_entry func=0xc depth=2\n"
			    "0 1210 7 funcgraph_exit func=0xc depth=2 calltime=1110 rettime=1210\n"
			    "0 1310 7 funcgraph_entry func=0xc depth=2\n"
			    "0 1410 7 funcgraph_exit func=0xc depth=2 calltime=1310 rettime=1410\n"
			    "0 1500 7 funcgraph_exit func=0xb depth=1 calltime=1300 rettime=1500\n"
			    "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xa", "self", "700"));
	analysed_end(&analysed);
}

TEST(graph_takes_an_interrupt_before_the_entry_for_a_part_of_a_call_without_a_traced_caller)
{
	struct analysed analysed;

	/* As with --max-graph-depth 1, or with filters: the first 0xb has no caller here, the second a distant one. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1110 7 funcgraph_entry func=0xc depth=1 common_flags=1\n"
			    "0 1610 7 funcgraph_exit func=0xc depth=1 calltime=1110 rettime=1610 common_flags=8\n"
			    "0 1620 7 funcgraph_entry func=0xb depth=0\n"
			    "0 1800 7 funcgraph_exit func=0xb depth=0 calltime=1100 rettime=1800\n"
			    "0 2000 7 funcgraph_entry func=0xa depth=0\n"
			    "0 2110 7 funcgraph_entry func=0xc depth=6 common_flags=1\n"
			    "0 2610 7 funcgraph_exit func=0xc depth=6 calltime=2110 rettime=2610 common_flags=8\n"
			    "0 2620 7 funcgraph_entry func=0xb depth=5\n"
			    "0 2800 7 funcgraph_exit func=0xb depth=5 calltime=2100 rettime=2800\n"
			    "0 3000 7 funcgraph_exit func=0xa depth=0 calltime=2000 rettime=3000\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xb", "self", "400") &&
	      analysed_is(&analysed, "functions", "0xb", "irq", "1000"));
	CHECK(analysed_is(&analysed, "functions", "0xa", "self", "300") &&
	      analysed_is(&analysed, "functions", "0xa", "irq", "500"));
	analysed_end(&analysed);
}

TEST(graph_takes_an_interrupt_that_ended_before_a_call_for_no_part_of_it)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1110 7 funcgraph_entry func=0xc depth=0 common_flags=1\n"
			    "0 1610 7 funcgraph_exit func=0xc depth=0 calltime=1110 rettime=1610 common_flags=8\n"
			    "0 2000 7 funcgraph_entry func=0xb depth=0\n"
			    "0 2300 7 funcgraph_exit func=0xb depth=0 calltime=2000 rettime=2300\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xb", "self", "300") &&
	      analysed_is(&analysed, "functions", "0xb", "irq", "0"));
	analysed_end(&analysed);
}

TEST(graph_takes_the_end_of_a_preemption_behind_the_return_for_a_part_of_the_caller)
{
	struct analysed analysed;

	/* 0xb returned at 1300. Before its record is written, the task is preempted: 0xf turns interrupts on again. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1100 7 funcgraph_entry func=0xb depth=1\n"
			    "0 1400 7 funcgraph_entry func=0xf depth=2 common_flags=1\n"
			    "0 1500 7 funcgraph_exit func=0xf depth=2 calltime=1400 rettime=1500\n"
			    "0 1620 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1300\n"
			    "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xb", "self", "200"));
	CHECK(analysed_is(&analysed, "functions", "0xa", "self", "700"));
	analysed_end(&analysed);
}

TEST(graph_takes_the_part_of_an_interrupt_at_its_depth_that_lies_in_a_call)
{
	struct analysed analysed;

	/* The tracer lowers the depth before it writes the end: 0xc lies in the time of 0xb, 0xd does not. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1100 7 funcgraph_entry func=0xb depth=0\n"
			    "0 1200 7 funcgraph_entry func=0xc depth=0 common_flags=1\n"
			    "0 1300 7 funcgraph_exit func=0xc depth=0 calltime=1200 rettime=1300 common_flags=8\n"
			    "0 1500 7 funcgraph_entry func=0xd depth=0 common_flags=9\n"
			    "0 1550 7 funcgraph_exit func=0xd depth=0 calltime=1500 rettime=1550 common_flags=8\n"
			    "0 1600 7 funcgraph_exit func=0xb depth=0 calltime=1100 rettime=1400\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xb", "self", "200") &&
	      analysed_is(&analysed, "functions", "0xb", "irq", "100"));
	analysed_end(&analysed);
}

TEST(graph_adds_a_call_behind_the_return_of_another_of_its_function)
{
	struct analysed analysed;

	/* The first 0xb has returned at 1300. Then an interrupt, and the preempted scheduler, call it twice. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1100 7 funcgraph_entry func=0xb depth=0\n"
			    "0 1110 7 funcgraph_entry func=0xc depth=1 common_flags=9\n"
			    "0 1120 7 funcgraph_entry func=0xb depth=2 common_flags=9\n"
			    "0 1140 7 funcgraph_exit func=0xb depth=2 calltime=1120 rettime=1140 common_flags=9\n"
			    "0 1150 7 funcgraph_exit func=0xc depth=1 calltime=1110 rettime=1150 common_flags=9\n"
			    "0 1400 7 funcgraph_entry func=0xc depth=1 common_flags=9\n"
			    "0 1410 7 funcgraph_entry func=0xb depth=2 common_flags=9\n"
			    "0 1411 7 funcgraph_entry func=0xb depth=3 common_flags=9\n"
			    "0 1412 7 funcgraph_exit func=0xb depth=3 calltime=1411 rettime=1412 common_flags=9\n"
			    "0 1430 7 funcgraph_exit func=0xb depth=2 calltime=1410 rettime=1430 common_flags=9\n"
			    "0 1440 7 funcgraph_exit func=0xc depth=1 calltime=1400 rettime=1440 common_flags=9\n"
			    "0 1500 7 funcgraph_entry func=0xb depth=1\n"
			    "0 1540 7 funcgraph_exit func=0xb depth=1 calltime=1500 rettime=1540\n"
			    "0 1600 7 funcgraph_exit func=0xb depth=0 calltime=1100 rettime=1300\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xb", "total", "260") &&
	      analysed_is(&analysed, "functions", "0xb", "calls", "5") &&
	      analysed_is(&analysed, "functions", "0xb", "recursive", "2"));
	analysed_end(&analysed);
}

TEST(graph_adds_no_call_in_the_time_of_another_whose_entry_comes_later)
{
	struct analysed analysed;

	/* The first interrupt is before the call, the second in its time. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1010 7 funcgraph_entry func=0xb depth=1 common_flags=9\n"
			    "0 1020 7 funcgraph_exit func=0xb depth=1 calltime=1010 rettime=1020 common_flags=9\n"
			    "0 1110 7 funcgraph_entry func=0xb depth=1 common_flags=9\n"
			    "0 1130 7 funcgraph_exit func=0xb depth=1 calltime=1110 rettime=1130 common_flags=9\n"
			    "0 1140 7 funcgraph_entry func=0xb depth=0\n"
			    "0 1300 7 funcgraph_exit func=0xb depth=0 calltime=1100 rettime=1300\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xb", "total", "210") &&
	      analysed_is(&analysed, "functions", "0xb", "recursive", "1"));
	analysed_end(&analysed);
}

TEST(graph_adds_no_call_in_the_time_of_another_that_ends_at_the_depth_of_an_interrupt)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1100 7 funcgraph_entry func=0xb depth=0\n"
			    "0 1200 7 funcgraph_entry func=0xc depth=0 common_flags=9\n"
			    "0 1210 7 funcgraph_entry func=0xb depth=1 common_flags=9\n"
			    "0 1220 7 funcgraph_exit func=0xb depth=1 calltime=1210 rettime=1220 common_flags=9\n"
			    "0 1230 7 funcgraph_exit func=0xc depth=0 calltime=1200 rettime=1230 common_flags=9\n"
			    "0 1600 7 funcgraph_exit func=0xb depth=0 calltime=1100 rettime=1400\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xb", "total", "300") &&
	      analysed_is(&analysed, "functions", "0xb", "recursive", "1") &&
	      analysed_is(&analysed, "functions", "0xb", "self", "280"));
	analysed_end(&analysed);
}
