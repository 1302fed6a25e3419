// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "lib/answers/graph/graph.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/table.h"
#include "tests/unit/analysed.h"
#include "tests/unit/test.h"

static void types(struct loom *loom)
{
	loom_graph(loom);
}

/* 0xa calls 0xb, 0xc and 0xb again; meanwhile another task is in 0xd. The end of 0xe is not in the trace. */
static const char script[] = "0 1000 7 funcgraph_entry func=0xa depth=0\n"
			     "0 1100 7 funcgraph_entry func=0xb depth=1\n"
			     "1 1150 8 funcgraph_entry func=0xd depth=0\n"
			     "0 1200 7 funcgraph_exit func=0xb depth=1 calltime=1100 rettime=1200\n"
			     "0 1300 7 funcgraph_entry func=0xc depth=1\n"
			     "0 1310 7 funcgraph_entry func=0xb depth=2\n"
			     "1 1500 8 funcgraph_exit func=0xd depth=0 calltime=1150 rettime=1500\n"
			     "0 1610 7 funcgraph_exit func=0xb depth=2 calltime=1310 rettime=1610\n"
			     "0 1700 7 funcgraph_exit func=0xc depth=1 calltime=1300 rettime=1700\n"
			     "0 2000 7 funcgraph_exit func=0xa depth=0 calltime=1000 rettime=2000\n"
			     "0 2100 7 funcgraph_entry func=0xe depth=0\n";

/* Checks the columns LASTED, SELF, PID, DEPTH and FUNCTION of all rows. */
static void check_rows(uint64_t longer, size_t most, const char *want, const char *notes)
{
	const struct graph_longer_options options = { .longer = longer, .most = most };
	cleanup_buf struct buf got = BUF_INIT;
	struct analysed analysed;
	struct out out;

	if (!analysed_begin(&analysed, &graph_longer_analysis, &options, types, script))
		return;
	if (CHECK(out_init(&out, 1 << 12))) {
		CHECK(table_put_csv(&analysed.findings.items[0].table, &out));
		out_char(&out, '\0');
		for (char *line = strchr(out.start, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
			char lasted[16], self[16], pid[16], depth[16], name[16];

			if (CHECK(sscanf(line + 1, "%*[^,],%15[^,],%15[^,],,%*[^,],%15[^,],%*[^,],%15[^,],%15[^\n]",
					 lasted, self, pid, depth, name) == 5))
				CHECK(buf_addf(&got, "%s %s %s %s %s\n", lasted, self, pid, depth, name));
			else
				fprintf(stderr, "%s\n", line);
		}
		out_release(&out);
	}
	CHECK_STR(buf_str(&got), want);
	CHECK_STR(buf_str(&analysed.findings.notes), notes);
	analysed_end(&analysed);
}

TEST(graph_longer_has_the_callers_of_each_long_call)
{
	check_rows(250, 100,
		   "1000 500 7 0 0xa\n"
		   "400 100 7 1 0xc\n"
		   "300 300 7 2 0xb\n"
		   "350 350 8 0 0xd\n",
		   "longer than 250 ns: 4 of 5 calls\n");
	check_rows(99, 100,
		   "1000 500 7 0 0xa\n"
		   "100 100 7 1 0xb\n"
		   "400 100 7 1 0xc\n"
		   "300 300 7 2 0xb\n"
		   "350 350 8 0 0xd\n",
		   "longer than 99 ns: 5 of 5 calls\n");
	check_rows(1000, 100, "", "longer than 1.0 us: 0 of 5 calls\n");
}

TEST(graph_longer_keeps_the_longest)
{
	check_rows(50, 2,
		   "1000 500 7 0 0xa\n"
		   "400 100 7 1 0xc\n",
		   "longer than 50 ns: 5 of 5 calls; the table has the longest\n");
	check_rows(50, 3,
		   "1000 500 7 0 0xa\n"
		   "400 100 7 1 0xc\n"
		   "350 350 8 0 0xd\n",
		   "longer than 50 ns: 5 of 5 calls; the table has the longest\n");
}
