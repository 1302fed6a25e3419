// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/answers/graph/graph.h"
#include "lib/answers/graph/graph_tree_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/table.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_graph(loom);
}

static const char call_script[] =
	/* 0xa calls 0xb twice, for 100 and 300 ns. An interrupt's function 0xc hits the second call for 50 ns. */
	"0 1000 7 funcgraph_entry func=0xa depth=0\n"
	"0 1100 7 funcgraph_entry func=0xb depth=1\n"
	"0 1200 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1200\n"
	"0 1300 7 funcgraph_entry func=0xb depth=1\n"
	"0 1400 7 funcgraph_entry func=0xc depth=2 common_flags=8\n"
	"0 1450 7 funcgraph_exit func=0xc depth=2 calltime=1400 rettime=1450 common_flags=8\n"
	"0 1600 7 funcgraph_exit func=0xb depth=1 calltime=1300 rettime=1600 retval=0xfffffffe\n"
	"0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000 retval=-13\n";

static void types_and_symbols(struct loom *loom)
{
	loom_graph(loom);
	loom->kallsyms = "ffffffff81000100 T lock\nffffffff81000200 T unlock\nffffffff81000300 T next\n";
}

static void repeats_and_symbols(struct loom *loom)
{
	types_and_symbols(loom);
	loom_type(loom, "ftrace", "function", "u64 ip; u64 parent_ip", "\"\"");
	loom_type(loom, "ftrace", "func_repeats",
		  "u64 ip; u64 parent_ip; u16 count; u16 top_delta_ts; u32 bottom_delta_ts", "\"\"");
}

/* The tracers irqsoff and preemptoff write places inside of functions (__trace_graph_function()). */
TEST(graph_has_one_row_for_a_function_whatever_place_of_it_is_told)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, NULL, types_and_symbols,
			    "0 1000 7 funcgraph_entry func=0xffffffff81000100 depth=0\n"
			    "0 1200 7 funcgraph_exit func=0xffffffff81000100 depth=0 calltime=1000 rettime=1200\n"
			    "0 2000 7 funcgraph_entry func=0xffffffff81000110 depth=0\n"
			    "0 2000 7 funcgraph_exit func=0xffffffff81000110 depth=0 calltime=2000 rettime=2000\n"
			    "0 3000 7 funcgraph_entry func=0xffffffff81000200 depth=0\n"
			    "0 3100 7 funcgraph_exit func=0xffffffff81000200 depth=0 calltime=3000 rettime=3100\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "lock", "calls", "2") &&
	      analysed_is(&analysed, "functions", "lock", "total", "200"));
	CHECK(analysed_is(&analysed, "functions", "unlock", "calls", "1"));
	analysed_end(&analysed);
}

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

TEST(graph_gives_what_context_switch_calls_to_the_task_that_leaves)
{
	struct analysed analysed;

	/* 0xa is in the middle of sched_switch, 0xb follows it, both with the PID and the interrupts of the switch. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1000 7 funcgraph_entry func=0xf depth=0 common_flags=1\n"
			    "0 1100 7 funcgraph_entry func=0xa depth=1 common_flags=1\n"
			    "0 1200 7 sched_switch common_flags=1 prev_comm=sh prev_pid=7 "
			    "prev_state=1 next_comm=ls next_pid=8\n"
			    "0 1210 7 funcgraph_exit func=0xa depth=1 calltime=1100 rettime=1210 common_flags=1\n"
			    "0 1220 7 funcgraph_entry func=0xb depth=1 common_flags=1\n"
			    "0 1250 7 funcgraph_exit func=0xb depth=1 calltime=1220 rettime=1250 common_flags=1\n"
			    "0 9000 8 sched_switch common_flags=1 prev_comm=ls prev_pid=8 "
			    "prev_state=1 next_comm=sh next_pid=7\n"
			    "0 9100 7 funcgraph_exit func=0xf depth=0 calltime=1000 rettime=9100 common_flags=1\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xa", "total", "110") &&
	      analysed_is(&analysed, "functions", "0xa", "off-cpu", "0"));
	CHECK(analysed_is(&analysed, "functions", "0xb", "total", "30") &&
	      analysed_is(&analysed, "functions", "0xb", "off-cpu", "0"));
	CHECK(analysed_is(&analysed, "functions", "0xb", "max_comm", "sh"));
	CHECK(analysed_is(&analysed, "functions", "0xf", "self", "7960") &&
	      analysed_is(&analysed, "functions", "0xf", "off-cpu", "7800"));
	CHECK(analysed.pass.state.breaks == 0);
	analysed_end(&analysed);
}

TEST(graph_gives_an_interrupt_at_the_end_of_a_function_to_the_function)
{
	struct analysed analysed;

	/*
	 * The tracer has lowered the depth for the end of 0xb when the interrupt comes. The first function of the
	 * interrupt has its flag only at its exit. Afterwards 0xb is called again, and its end is missing.
	 */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1100 7 funcgraph_entry func=0xb depth=1\n"
			    "0 1150 7 funcgraph_entry func=0xd depth=2\n"
			    "0 1170 7 funcgraph_exit func=0xd depth=2 calltime=1150 rettime=1170\n"
			    "0 1200 7 funcgraph_entry func=0xc depth=1\n"
			    "0 1250 7 funcgraph_exit func=0xc depth=1 calltime=1200 rettime=1250 common_flags=8\n"
			    "0 1300 7 funcgraph_entry func=0xe depth=1 common_flags=8\n"
			    "0 1330 7 funcgraph_exit func=0xe depth=1 calltime=1300 rettime=1330 common_flags=8\n"
			    "0 1400 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1400\n"
			    "0 1500 7 funcgraph_entry func=0xb depth=1\n"
			    "0 1600 7 funcgraph_entry func=0xe depth=1\n"
			    "0 1650 7 funcgraph_exit func=0xe depth=1 calltime=1600 rettime=1650\n"
			    "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xb", "calls", "1") &&
	      analysed_is(&analysed, "functions", "0xb", "total", "300"));
	CHECK(analysed_is(&analysed, "functions", "0xb", "self", "200") &&
	      analysed_is(&analysed, "functions", "0xb", "irq", "80"));
	CHECK(analysed_is(&analysed, "functions", "0xa", "self", "650") &&
	      analysed_is(&analysed, "functions", "0xa", "irq", "80"));
	CHECK(strstr(buf_str(&analysed.findings.notes), "1 call left out: the trace continues in the caller"));
	analysed_end(&analysed);
}

TEST(graph_leaves_out_what_came_before_the_tracer_took_the_time)
{
	struct analysed analysed;

	/* An interrupt and a switch come between the entry of 0xa and the clock that its record has. */
	if (!analysed_begin(&analysed, &graph_analysis, NULL, types,
			    "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1100 7 funcgraph_entry func=0xc depth=1 common_flags=8\n"
			    "0 1500 7 funcgraph_exit func=0xc depth=1 calltime=1100 rettime=1500 common_flags=8\n"
			    "0 1600 7 sched_switch prev_comm=sh prev_pid=7 prev_state=0 next_comm=ls next_pid=8\n"
			    "0 2600 8 sched_switch prev_comm=ls prev_pid=8 prev_state=1 next_comm=sh next_pid=7\n"
			    "0 2800 7 funcgraph_exit func=0xa depth=0 calltime=2700 rettime=2800\n"))
		return;
	CHECK(analysed_is(&analysed, "functions", "0xa", "total", "100") &&
	      analysed_is(&analysed, "functions", "0xa", "self", "100"));
	CHECK(analysed_is(&analysed, "functions", "0xa", "irq", "0") &&
	      analysed_is(&analysed, "functions", "0xa", "off-cpu", "0"));
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
	/* The records of both functions have their durations; the functions that they called are unknown. */
	CHECK(analysed_is(&analysed, "functions", "0xa", "total", "600") &&
	      analysed_is(&analysed, "functions", "0xa", "self", "-"));
	CHECK(analysed_is(&analysed, "functions", "0xd", "total", "500") &&
	      analysed_is(&analysed, "functions", "0xd", "self", "-"));
	CHECK_STR(buf_str(&analysed.findings.cut), "1 call entered before the start, 1 call open at the end");
	CHECK_STR(buf_str(&analysed.findings.broken), "1 call without their entry, 1 call without their end, 1 gap");
	analysed_end(&analysed);
}

/*
 * 0xa is called by 0xf and, once, by no function. It calls 0xb, which calls 0xd. An interrupt's function 0xc hits it.
 */
static const char tree_script[] = "0 1000 7 funcgraph_entry func=0xf depth=0\n"
				  "0 1100 7 funcgraph_entry func=0xa depth=1\n"
				  "0 1200 7 funcgraph_entry func=0xb depth=2\n"
				  "0 1250 7 funcgraph_entry func=0xd depth=3\n"
				  "0 1300 7 funcgraph_exit func=0xd depth=3 calltime=1250 rettime=1300\n"
				  "0 1400 7 funcgraph_exit func=0xb depth=2 calltime=1200 rettime=1400\n"
				  "0 1500 7 funcgraph_entry func=0xc depth=2 common_flags=8\n"
				  "0 1530 7 funcgraph_exit func=0xc depth=2 calltime=1500 rettime=1530 common_flags=8\n"
				  "0 2000 7 funcgraph_exit func=0xa depth=1 calltime=1100 rettime=2000\n"
				  "0 2100 7 funcgraph_exit func=0xf depth=0 calltime=1000 rettime=2100\n"
				  /* The time of a recursive function counts once. */
				  "0 3000 7 funcgraph_entry func=0xa depth=0\n"
				  "0 3100 7 funcgraph_entry func=0xa depth=1\n"
				  "0 3200 7 funcgraph_exit func=0xa depth=1 calltime=3100 rettime=3200 retval=-2\n"
				  "0 3300 7 funcgraph_exit func=0xa depth=0 calltime=3000 rettime=3300 retval=-5\n";

/* The depth, calls, total and own time of the first row of a function. */
static bool node_is(struct analysed *analysed, const char *table, const char *function, const char *csv)
{
	const char *line;
	char want[64];
	struct out out;
	bool ok = false;

	snprintf(want, sizeof(want), "%s,%s\n", csv, function);
	for (size_t i = 0; i < analysed->findings.nr; i++) {
		const struct finding *finding = &analysed->findings.items[i];

		if (strcmp(finding->name, table) || !out_init(&out, 1 << 12) || !table_put_csv(&finding->table, &out))
			continue;
		out_char(&out, '\0');
		line = strstr(out.start, want);
		ok = line;
		if (!ok)
			printf("%s: no '%s' in\n%s", table, want, out.start);
		out_release(&out);
	}
	return ok;
}

TEST(graph_tree_merges_what_a_function_called_and_who_called_it)
{
	struct graph_tree_options options = { .function = "0xa" };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_tree_analysis, &options, types, tree_script))
		return;
	/* Columns: calls, interrupts, total, self, percent, depth. */
	CHECK(node_is(&analysed, "callees", "0xa", "2,0,1200,870,100.0,0") &&
	      node_is(&analysed, "callees", "0xb", "1,0,200,150,16.7,1"));
	CHECK(node_is(&analysed, "callees", "0xd", "1,0,50,50,4.2,2") &&
	      node_is(&analysed, "callees", "0xc", "1,1,30,30,2.5,1"));
	CHECK(node_is(&analysed, "callees", "0xa", "1,0,100,100,8.3,1"));
	CHECK(node_is(&analysed, "callers", "0xa", "2,0,1200,870,100.0,0") &&
	      node_is(&analysed, "callers", "0xf", "1,0,900,670,75.0,1"));
	CHECK_STR(buf_str(&analysed.findings.notes),
		  "1 call of 0xa inside another one of it: in the tree of that one\n");
	analysed_end(&analysed);
}

TEST(graph_slowest_tells_the_longest_calls_with_their_parts)
{
	struct graph_tree_options options = { .function = "0xa", .slowest = 1 };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_tree_analysis, &options, types, tree_script))
		return;
	CHECK(analysed_is(&analysed, "calls", "1", "lasted", "900") &&
	      analysed_is(&analysed, "calls", "1", "self", "670"));
	CHECK(analysed_is(&analysed, "calls", "1", "irq", "30") && analysed_is(&analysed, "calls", "1", "pid", "7"));
	CHECK(node_is(&analysed, "split", "0xb", "1,0,200,150,22.2,1") &&
	      node_is(&analysed, "split", "0xc", "1,1,30,30,3.3,1"));
	if (CHECK(analysed.findings.nr_worst == 1))
		CHECK(analysed.findings.worst[0].from == 1100 && analysed.findings.worst[0].to == 2000);
	analysed_end(&analysed);
}

TEST(graph_tree_counts_only_calls_that_are_whole)
{
	struct graph_tree_options options = { .function = "0xa" };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_tree_analysis, &options, types,
			    "0 500 8 funcgraph_exit func=0xa depth=0 calltime=100 rettime=500\n"
			    "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1100 7 funcgraph_entry func=0xb depth=1\n"
			    "0 1200 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1200\n"
			    "0 lost 3\n"
			    "0 1500 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=1500\n"
			    /* 0xb has no exit: only the functions that it called are known. */
			    "0 2000 7 funcgraph_entry func=0xa depth=2\n"
			    "0 2100 7 funcgraph_entry func=0xb depth=3\n"
			    "0 2200 7 funcgraph_entry func=0xd depth=4\n"
			    "0 2300 7 funcgraph_exit func=0xd depth=4 calltime=2200 rettime=2300\n"
			    "0 2500 7 funcgraph_exit func=0xa depth=2 calltime=2000 rettime=2500\n"
			    "0 2600 7 funcgraph_entry func=0xa depth=0\n"))
		return;
	CHECK(node_is(&analysed, "callees", "0xa", "1,0,500,400,100.0,0") &&
	      node_is(&analysed, "callees", "0xb", "0,0,100,0,20.0,1"));
	CHECK(node_is(&analysed, "callees", "0xd", "1,0,100,100,20.0,2"));
	CHECK(node_is(&analysed, "callers", "[entered before the start]", "1,0,500,400,100.0,1"));
	CHECK_STR(buf_str(&analysed.findings.notes), "2 calls of 0xa without an entry in the file: in no tree\n");
	analysed_end(&analysed);
}

TEST(graph_by_errno_sums_up_the_errors_of_all_functions)
{
	struct row_options options = { .by = GRAPH_BY_ERRNO };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, &options, types,
			    "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1100 7 funcgraph_entry func=0xb depth=1\n"
			    "0 1300 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1300 retval=-2\n"
			    "0 1400 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=1400 retval=-2\n"
			    "0 1500 7 funcgraph_entry func=0xa depth=0\n"
			    "0 1600 7 funcgraph_exit func=0xa depth=0 calltime=1500 rettime=1600 retval=-13\n"))
		return;
	CHECK(analysed_is(&analysed, "errnos", "ENOENT", "calls", "2") &&
	      analysed_is(&analysed, "errnos", "ENOENT", "functions", "2"));
	CHECK(analysed_is(&analysed, "errnos", "ENOENT", "total", "600") &&
	      analysed_is(&analysed, "errnos", "ENOENT", "max", "400"));
	CHECK(analysed_is(&analysed, "errnos", "EACCES", "calls", "1") &&
	      analysed_is(&analysed, "errnos", "EACCES", "of", "0xa"));
	analysed_end(&analysed);
}

static void with_modules(struct loom *loom)
{
	loom->kallsyms = "ffffffff81000000 T _stext\nffffffff81000100 T vfs_read\nffffffff81000200 T _end\n"
			 "ffffffffa0000000 t ext4_read\t[ext4]\nffffffffa0000100 t ext4_map\t[ext4]\n"
			 "ffffffffa0010000 t crc\t[crc32c]\n";
	types(loom);
	loom_type(loom, "ftrace", "function", "u64 ip; u64 parent_ip", "\"\"");
}

TEST(graph_by_module_sums_up_the_functions_of_each_module_and_their_own_times)
{
	struct row_options options = { .by = GRAPH_BY_MODULE };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, &options, with_modules,
			    "0 1000 7 funcgraph_entry func=0xffffffff81000100 depth=0\n"
			    "0 1100 7 funcgraph_entry func=0xffffffffa0000000 depth=1\n"
			    "0 1200 7 funcgraph_entry func=0xffffffffa0000100 depth=2\n"
			    "0 1300 7 funcgraph_exit func=0xffffffffa0000100 depth=2 calltime=1200 rettime=1300\n"
			    "0 1400 7 funcgraph_entry func=0xffffffffa0010000 depth=2\n"
			    "0 1450 7 funcgraph_exit func=0xffffffffa0010000 depth=2 calltime=1400 rettime=1450\n"
			    "0 1600 7 funcgraph_exit func=0xffffffffa0000000 depth=1 calltime=1100 rettime=1600\n"
			    "0 2000 7 funcgraph_exit func=0xffffffff81000100 depth=0 calltime=1000 rettime=2000\n"
			    "0 3000 7 funcgraph_entry func=0x10 depth=0\n"
			    "0 3050 7 funcgraph_exit func=0x10 depth=0 calltime=3000 rettime=3050\n"))
		return;
	CHECK(analysed_is(&analysed, "modules", "kernel", "calls", "1") &&
	      analysed_is(&analysed, "modules", "kernel", "self", "500"));
	CHECK(analysed_is(&analysed, "modules", "ext4", "functions", "2") &&
	      analysed_is(&analysed, "modules", "ext4", "calls", "2") &&
	      analysed_is(&analysed, "modules", "ext4", "self", "450"));
	CHECK(analysed_is(&analysed, "modules", "ext4", "max", "500") &&
	      analysed_is(&analysed, "modules", "ext4", "of", "ext4_read [ext4]") &&
	      analysed_is(&analysed, "modules", "ext4", "self_percent", "42.86"));
	CHECK(analysed_is(&analysed, "modules", "crc32c", "self", "50") &&
	      analysed_is(&analysed, "modules", "unknown", "self", "50"));
	analysed_end(&analysed);
}

TEST(graph_by_module_counts_hits_too)
{
	struct row_options options = { .by = GRAPH_BY_MODULE };
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, &options, with_modules,
			    "0 1000 7 function ip=0xffffffffa0000000 parent_ip=0\n"
			    "0 1100 7 function ip=0xffffffffa0000100 parent_ip=0\n"
			    "0 1200 7 function ip=0xffffffffa0000100 parent_ip=0\n"
			    "0 1300 7 function ip=0xffffffff81000100 parent_ip=0\n"))
		return;
	CHECK(analysed.findings.nr == 1 && analysed_is(&analysed, "hits", "ext4", "hits", "3") &&
	      analysed_is(&analysed, "hits", "ext4", "functions", "2") &&
	      analysed_is(&analysed, "hits", "kernel", "hits", "1"));
	analysed_end(&analysed);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Entries and exits in mostly impossible orders. */
static void add_random_calls(struct buf *script, uint64_t seed)
{
	CHECK(buf_addf(script, "0 500 1 funcgraph_entry func=0xa depth=0\n"
			       "0 600 1 funcgraph_exit func=0xa depth=0 calltime=500 rettime=600\n"));
	for (uint64_t i = 0, ts = 1000; i < 2000; i++, ts += 10) {
		unsigned cpu = (unsigned)(next_random(&seed) % LOOM_CPUS), pid = (unsigned)(next_random(&seed) % 3);
		unsigned func = 0xa + (unsigned)(next_random(&seed) % 3), depth = (unsigned)(next_random(&seed) % 5);
		unsigned flags = (unsigned)(next_random(&seed) % 16), kind = (unsigned)(next_random(&seed) % 64);

		if (!kind)
			CHECK(buf_addf(script, "%u lost 3\n", cpu));
		else if (kind == 1)
			CHECK(buf_addf(script, "%u %" PRIu64 " %u funcgraph_entry func=0xa depth=2000\n", cpu, ts,
				       pid));
		else if (kind % 2)
			CHECK(buf_addf(script, "%u %" PRIu64 " %u funcgraph_entry func=%#x depth=%u common_flags=%u\n",
				       cpu, ts, pid, func, depth, flags));
		else
			CHECK(buf_addf(script,
				       "%u %" PRIu64 " %u funcgraph_exit func=%#x depth=%u calltime=%" PRIu64
				       " rettime=%" PRIu64 " common_flags=%u\n",
				       cpu, ts, pid, func, depth, ts - 10 * (next_random(&seed) % 60), ts, flags));
	}
}

TEST(graph_tree_adds_up_whatever_the_order_of_events)
{
	size_t most = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct graph_tree_options options = { .function = "0xa", .slowest = seed % 2 ? 3 : 0 };
		const struct findings_options print = { .format = TABLE_AS_TEXT, .top = 5, .input = "f" };
		struct buf script = { .data = NULL };
		struct analysed analysed;
		struct fail fail = FAIL_INIT;
		struct out out;

		add_random_calls(&script, seed * 0x9e3779b97f4a7c15u);
		if (analysed_begin(&analysed, &graph_tree_analysis, &options, types, buf_str(&script))) {
			const struct graph_tree_analysis *analysis = analysed.pass.items[0].analysis;
			const struct call_tree *tree = &analysis->below;
			uint64_t self = 0;

			for (size_t i = 0; i < tree->nr; i++)
				self += tree->nodes[i].self;
			CHECK(self == tree->nodes[0].total);
			most = tree->nr > most ? tree->nr : most;
			CHECK(!findings_arrange(&analysed.findings, &print, &fail) && out_init(&out, 1 << 12) &&
			      findings_write(&analysed.findings, &print, &out));
			out_release(&out);
			analysed_end(&analysed);
		}
		buf_release(&script);
	}
	CHECK(most > 10);
}

/* trace_func_repeats_print(): "a <-b (repeats: 3)" stands for three more calls. */
TEST(graph_counts_the_calls_that_the_kernel_did_not_write_one_by_one)
{
	struct analysed analysed;

	if (!analysed_begin(&analysed, &graph_analysis, NULL, repeats_and_symbols,
			    "0 1000 7 function ip=0xffffffff81000100 parent_ip=0xffffffff81000200\n"
			    "0 1900 7 func_repeats ip=0xffffffff81000100 parent_ip=0xffffffff81000200 count=3 "
			    "bottom_delta_ts=100\n"
			    "0 2000 7 function ip=0xffffffff81000100 parent_ip=0xffffffff81000300\n"))
		return;
	CHECK(analysed_is(&analysed, "hits", "lock", "hits", "5"));
	analysed_end(&analysed);
}
