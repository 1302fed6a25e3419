// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_type(loom, "ftrace", "funcgraph_entry", "long func; int depth", "\"\"");
	loom_type(loom, "ftrace", "funcgraph_exit", "long func; int depth; u64 calltime; u64 rettime; long retval",
		  "\"\"");
}

static const char call_script[] =
	/* 0xa calls 0xb twice, for 100 and 300 ns; the second is hit by an interrupt's 0xc for 50 ns. */
	"0 1000 7 funcgraph_entry func=0xa depth=0\n"
	"0 1100 7 funcgraph_entry func=0xb depth=1\n"
	"0 1200 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1200\n"
	"0 1300 7 funcgraph_entry func=0xb depth=1\n"
	"0 1400 7 funcgraph_entry func=0xc depth=2 common_flags=8\n"
	"0 1450 7 funcgraph_exit func=0xc depth=2 calltime=1400 rettime=1450 common_flags=8\n"
	"0 1600 7 funcgraph_exit func=0xb depth=1 calltime=1300 rettime=1600 retval=0xfffffffe\n"
	"0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000 retval=-13\n";

TEST(graph_tells_total_self_interrupts_and_errors)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, NULL, types, call_script))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xa", "calls", "1") &&
	      analysed_is(&analysed, "functions", "0xa", "total", "1000"));
	CHECK(analysed_is(&analysed, "functions", "0xa", "self", "600") &&
	      analysed_is(&analysed, "functions", "0xa", "irq", "50"));
	CHECK(analysed_is(&analysed, "functions", "0xb", "calls", "2") &&
	      analysed_is(&analysed, "functions", "0xb", "total", "400"));
	CHECK(analysed_is(&analysed, "functions", "0xb", "self", "350") &&
	      analysed_is(&analysed, "functions", "0xb", "irq", "50"));
	CHECK(analysed_is(&analysed, "functions", "0xb", "max", "300") &&
	      analysed_is(&analysed, "functions", "0xb", "p50", "100"));
	CHECK(analysed_is(&analysed, "functions", "0xc", "self", "50"));
	CHECK(analysed_is(&analysed, "functions", "0xa", "errors", "1") &&
	      analysed_is(&analysed, "functions", "0xc", "errors", "0"));
	CHECK(analysed_is(&analysed, "errors", "0xa", "returned", "-13") &&
	      analysed_is(&analysed, "errors", "0xb", "returned", "-2"));
	analysed_end(&analysed);
}

TEST(graph_counts_recursion_once_and_what_is_off_the_cpu)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1100 7 funcgraph_entry func=0xa depth=1\n"
			    "0 1200 7 sched_switch prev_comm=sh prev_pid=7 prev_state=1 next_comm=ls next_pid=8\n"
			    "0 1500 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=sh next_pid=7\n"
			    "0 1600 7 funcgraph_exit func=0xa depth=1 calltime=1100 rettime=1600\n"
			    "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xa", "calls", "2") &&
	      analysed_is(&analysed, "functions", "0xa", "recursive", "1"));
	CHECK(analysed_is(&analysed, "functions", "0xa", "total", "1000") &&
	      analysed_is(&analysed, "functions", "0xa", "self", "1000"));
	CHECK(analysed_is(&analysed, "functions", "0xa", "off-cpu", "300"));
	analysed_end(&analysed);
}

TEST(graph_counts_what_the_start_the_end_and_lost_events_hide)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1000 7 funcgraph_entry func=0xd depth=0\n"
			    "0 1100 8 funcgraph_exit func=0xa depth=0 calltime=500 rettime=1100\n"
			    "0 lost 3\n"
			    "0 1500 7 funcgraph_exit func=0xd depth=0 calltime=1000 rettime=1500\n"
			    "0 1600 7 funcgraph_entry func=0xe depth=0\n"))
		return;
	/* The records of both tell how long they lasted; what they called is not known. */
	CHECK(analysed_is(&analysed, "functions", "0xa", "total", "600") &&
	      analysed_is(&analysed, "functions", "0xa", "self", "-"));
	CHECK(analysed_is(&analysed, "functions", "0xd", "total", "500") &&
	      analysed_is(&analysed, "functions", "0xd", "self", "-"));
	CHECK_STR(buf_str(&analysed.findings.cut), "1 call entered before the start, 1 call open at the end");
	CHECK_STR(buf_str(&analysed.findings.broken), "1 call without their entry, 1 call without their end, 1 gap");
	analysed_end(&analysed);
}
