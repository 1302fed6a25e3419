// SPDX-License-Identifier: GPL-2.0-only
/* Lines of the function graph, with any of its columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/graph_text_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/imported.h"
#include "tests/unit/test.h"

static bool parse(const char *line, struct graph_text *ret)
{
	return graph_text_parse(line, strlen(line), true, ret);
}

static bool is_named(const struct graph_text *text, const char *name)
{
	return text->name_len == strlen(name) && (!text->name_len || !memcmp(text->name, name, text->name_len));
}

TEST(import_reads_the_columns_of_a_graph)
{
	struct graph_text text;

	REQUIRE(parse(" 1) ! 402.542 us  |    irq_enter_rcu();", &text));
	CHECK(text.what == GRAPH_TEXT_LEAF && text.has_cpu && text.head.cpu == 1 && text.depth == 1);
	CHECK(text.has_duration && text.has_mark && text.duration == 402542 && is_named(&text, "irq_enter_rcu"));
	CHECK(!text.has_time && !text.has_task && text.has_column && !text.has_retval);
	REQUIRE(parse("   23.498724 |   0)   rcuc/0-19    |  d.h2. |               |  a() {", &text));
	CHECK(text.what == GRAPH_TEXT_ENTRY && text.has_time && text.head.ts == 23498724000 && text.has_task);
	CHECK(text.head.comm_len == 6 && !memcmp(text.head.comm, "rcuc/0", 6) && text.head.pid == 19);
	CHECK(text.head.has_flags && text.head.preempt_count == 2 && !text.has_duration && text.has_column);
	REQUIRE(parse("    4311 us |   0) $ 12345678 us |  } /* vfs_open ret=0x1f */", &text));
	CHECK(text.what == GRAPH_TEXT_EXIT && text.head.ts == 4311000 && text.duration == 12345678000);
	CHECK(is_named(&text, "vfs_open") && text.has_retval && text.retval == 0x1f && text.note_len);
	REQUIRE(parse(" 0)   1.5 us    |  } /* vfs_open = -22 */", &text));
	CHECK(is_named(&text, "vfs_open") && text.has_retval && text.retval == (uint64_t)-22 && !text.note_len);
	CHECK(text.duration == 1500);
	REQUIRE(parse(" 0)   0.100 us    |  ext4_sync_fs [ext4](); /* = 0x0 */", &text));
	CHECK(text.what == GRAPH_TEXT_LEAF && is_named(&text, "ext4_sync_fs [ext4]") && text.has_retval);
	REQUIRE(parse("  a();", &text));
	CHECK(text.what == GRAPH_TEXT_LEAF && !text.has_cpu && !text.has_column && is_named(&text, "a"));
	CHECK(text.depth == 1);
	REQUIRE(parse(" 0)               |  /* sched_switch: a=1 */", &text));
	CHECK(text.what == GRAPH_TEXT_COMMENT && is_named(&text, "sched_switch: a=1"));
	REQUIRE(parse(" 0)               |  /* one", &text));
	CHECK(text.what == GRAPH_TEXT_COMMENT && is_named(&text, "one"));
}

TEST(import_reads_the_lines_of_a_graph_that_are_no_calls)
{
	struct graph_text text;

	REQUIRE(parse(" 3)     sh-256     =>   rcuc/0-19   ", &text));
	CHECK(text.what == GRAPH_TEXT_SWITCH && text.head.cpu == 3 && text.head.pid == 256 && text.next.pid == 19);
	CHECK(text.next.comm_len == 6 && !memcmp(text.next.comm, "rcuc/0", 6));
	REQUIRE(parse(" (Overruns: 12)", &text));
	CHECK(text.what == GRAPH_TEXT_OVERRUN && text.overrun == 12);
	REQUIRE(parse(" ------------------------------------------", &text));
	CHECK(text.what == GRAPH_TEXT_NOTHING);
	REQUIRE(parse(" 0)   ==========> |", &text));
	CHECK(text.what == GRAPH_TEXT_NOTHING);
	REQUIRE(parse(" 0)   <========== |", &text));
	CHECK(text.what == GRAPH_TEXT_NOTHING);
}

TEST(import_takes_no_line_for_a_graph_that_is_none)
{
	static const char *const lines[] = {
		"",
		" ",
		"hello",
		" 0) ",
		" 0)               |  ",
		" 0)               |  a",
		" 0)               |  a(",
		" 0)               |  a()",
		" 0)               |  a();b",
		" 0)               |  a() {b",
		" 0)               |  ();",
		" 0)               |  a b();",
		" 0)               |  a [b c]();",
		" 0)               |  a{();",
		" 0)               |  }b",
		" 0)   -1.500 us    |  a();",
		" 0)   1.500 us",
		" 0)   1.500 ms    |  a();",
		" 0)   1234567890123456 us    |  a();",
		" 99999) 1.500 us    |  a();",
		" 123456) 1.500 us    |  a();",
		" -1)   1.500 us    |  a();",
		" 0)     sh-256     =>   rcuc",
		" 0)     sh-99999999999     =>   sh-1",
		" 0)     sh-2147483648     =>   sh-1",
		" 0)     a-name-that-is-too-long-1     =>   sh-1",
		" (Overruns: -1)",
		" (Overruns: 99999999999)",
		" (Overruns: 12",
		/* a duration would be invented */
		" 0)               |  }",
		" 0)               |  a();",
		" -----------------------------------------",
	};
	struct graph_text text;

	for (size_t i = 0; i < array_size(lines); i++)
		if (!CHECK(!parse(lines[i], &text)))
			fprintf(stderr, "line '%s'\n", lines[i]);
	/* Without columns, C code would look like a graph. */
	CHECK(!graph_text_parse("  a();", 6, false, &text));
}

TEST(import_bounds_the_depth_of_a_graph)
{
	char line[2000];
	struct graph_text text;

	snprintf(line, sizeof(line), " 0)   0.123 us    |  %1500sa();", "");
	REQUIRE(parse(line, &text));
	CHECK(text.depth == GRAPH_TEXT_DEPTH_MAX);
}

static void check_fields(const char *text, const char *fields, const char *want)
{
	char *got = imported_fields(text, fields);

	if (got)
		CHECK_STR(got, want);
	free(got);
}

TEST(import_gives_a_graph_without_times_and_tasks_those_that_fit)
{
	static const char text[] = "# tracer: function_graph\n#\n"
				   " 0)               |  a() {\n"
				   " 0)   1.500 us    |    b();\n"
				   " 0) + 12.000 us   |  }\n"
				   " 1) ! 100.001 us  |  c();\n";
	struct import_counts counts = comes_back(text);

	CHECK(counts.events == 6 && counts.guessed == 4 && counts.unknown == 6 && !unknown_lines_count(&counts.told));
	/* The closing brace is as long after its function as its duration says. */
	check_fields(text, "ts,cpu,event,pid,depth",
		     "1000,0,funcgraph_entry,4194304,0\n1001,0,funcgraph_entry,4194304,1\n"
		     "2501,0,funcgraph_exit,4194304,1\n13000,0,funcgraph_exit,4194304,0\n"
		     "13001,1,funcgraph_entry,4194305,0\n113002,1,funcgraph_exit,4194305,0\n");
}

TEST(import_finds_the_task_of_a_graph_where_another_one_follows)
{
	static const char text[] = "# tracer: function_graph\n#\n"
				   " 0)   1.500 us    |  b();\n"
				   " 1)   1.500 us    |  c();\n"
				   " ------------------------------------------\n"
				   " 0)     sh-256     =>    cat-70   \n"
				   " ------------------------------------------\n\n"
				   " 0)   1.500 us    |  d();\n";
	struct import_counts counts;
	struct trace *trace = NULL;

	/* Times follow the order of the lines, and both functions run at once. */
	check_fields(text, "cpu,event,pid,comm",
		     "0,funcgraph_entry,256,sh\n1,funcgraph_entry,4194305,<...>\n0,funcgraph_exit,256,sh\n"
		     "0,funcgraph_entry,70,cat\n1,funcgraph_exit,4194305,<...>\n0,funcgraph_exit,70,cat\n");
	REQUIRE(!imported(text, NULL, &trace, &counts, NULL));
	CHECK(counts.events == 6 && counts.guessed == 3 && counts.unknown == 2 && !unknown_lines_count(&counts.told));
	trace_free(trace);
}

static const char legend[] = "# tracer: function_graph\n#\n";

TEST(import_gives_a_graph_with_each_of_its_columns_back)
{
	static const char *const texts[] = {
		/* funcgraph-abstime and funcgraph-proc */
		"   23.498724 |   0)     sh-62      |               |  a() {\n"
		"   23.498730 |   0)     sh-62      |   1.500 us    |    b();\n"
		"   23.498740 |   0)     sh-62      | + 16.130 us   |  }\n",
		/* a function that began before the clock */
		"    0.000010 |   0)     sh-62      | ! 402.542 us  |  } /* a */\n",
		/* nofuncgraph-overhead */
		" 0)               |  a() {\n 0)   16.130 us   |    b();\n 0)   17.130 us   |  }\n",
		/* nofuncgraph-duration */
		" 0) a() {\n 0)   b();\n 0) }\n",
		/* funcgraph-tail */
		" 0)               |  a() {\n 0)   1.500 us    |    b();\n 0) + 16.130 us   |  } /* a */\n",
		/* funcgraph-retval, errors by number */
		" 0)   1.500 us    |  b(); /* = -22 */\n 0)   1.500 us    |  b(); /* = 0x1f */\n",
		/* funcgraph-retval-hex */
		" 0)   1.500 us    |  b(); /* = 0xffffffffffffffea */\n",
		/* a module's function after one of the kernel itself */
		" 0)   1.500 us    |  vfs_fsync();\n 0)   1.500 us    |  ext4_sync_fs [ext4]();\n"
		" 0)   1.500 us    |  ext4_sync_fs();\n 0)   1.500 us    |  xfs_sync [xfs]();\n",
		/* an event and a mark */
		" 0)               |  a() {\n"
		" 0)               |    b() {\n"
		" 0)               |      /* softirq_raise: vec=1 [action=TIMER] */\n"
		" 0)               |      /* a mark */\n"
		" 0) + 16.130 us   |    }\n"
		" 0) + 16.130 us   |  }\n",
		/* a brace whose function began before the text, and one that no line begins */
		" 0) + 16.130 us   |  } /* a */\n 0)               |  b() {\n",
	};

	for (size_t i = 0; i < array_size(texts); i++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct import_counts counts;

		REQUIRE(buf_addf(&text, "%s%s", legend, texts[i]));
		counts = comes_back(buf_str(&text));
		CHECK(!unknown_lines_count(&counts.told));
	}
}

TEST(import_keeps_overruns_and_return_values_of_a_graph)
{
	static const char text[] = "# tracer: function_graph\n#\n"
				   " 0)               |  a() {\n"
				   " 0) + 16.130 us   |  } /* a = -22 */\n"
				   " (Overruns: 12)\n"
				   " 0)   1.500 us    |  b(); /* = 0x1f */\n"
				   " (Overruns: 13)\n";

	/* The second one follows no closing brace. */
	check_fields(text, "event,depth,overrun,retval",
		     "funcgraph_entry,0,,\nfuncgraph_exit,0,12,18446744073709551594\n"
		     "funcgraph_entry,0,,\nfuncgraph_exit,0,0,31\n");
}

TEST(import_passes_a_call_whose_name_is_none)
{
	struct import_counts counts =
		imported_prints("# tracer: function_graph\n#\n 0)   1.500 us    |  b();\n 0)   1.500 us    |  a@b();\n",
				NULL, " 0)   1.500 us    |  b();\n");

	CHECK(counts.events == 2 && unknown_lines_count(&counts.told) == 1);
}

TEST(import_stops_the_clock_of_a_graph_before_it_overflows)
{
	static const char text[] = "# tracer: function_graph\n#\n"
				   " 0)               |  a() {\n"
				   " 0) $ 999999999999999 us |  b();\n"
				   " 0) $ 999999999999999 us |  b();\n"
				   " 0) $ 999999999999999 us |  b();\n"
				   " 0) $ 999999999999999 us |  }\n";
	struct import_counts counts;
	struct trace *trace = NULL;

	REQUIRE(!imported(text, NULL, &trace, &counts, NULL));
	CHECK(counts.events == 8);
	trace_free(trace);
	check_fields(text, "ts,event",
		     "1000,funcgraph_entry\n1001,funcgraph_entry\n"
		     "1000000000000000001,funcgraph_exit\n1000000000000000001,funcgraph_entry\n"
		     "1999999999999999001,funcgraph_exit\n1999999999999999001,funcgraph_entry\n"
		     "1999999999999999001,funcgraph_exit\n2305843009213693952,funcgraph_exit\n");
}

TEST(import_gives_up_on_a_task_that_no_line_names_for_long)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct import_counts counts;
	struct trace *trace = NULL;

	REQUIRE(buf_add_str(&text, legend));
	for (int i = 0; i < 20000; i++)
		REQUIRE(buf_add_str(&text, " 0)   1.500 us    |  b();\n"));
	REQUIRE(buf_add_str(&text, " 0)     sh-256     =>    cat-70   \n 0)   1.500 us    |  b();\n"));
	REQUIRE(!imported(buf_str(&text), NULL, &trace, &counts, NULL));
	CHECK(counts.events == 40002 && counts.unknown > 10000 && counts.unknown <= 40000);
	trace_free(trace);
}

/* print_graph_prologue() and print_graph_duration() print the columns of the legend in each line. */
TEST(import_takes_code_and_json_below_a_graph_for_text)
{
	static const char lines[] = " 2)               |  widget_open() {\n"
				    " 2)   0.420 us    |    widget_lock();\n"
				    " 2) # 3014.902 us |  }\n";
	static const char *const below[] = {
		"static int widget_open(struct inode *inode)\n{\n\twidget_lock(w);\n\treturn 0;\n}\n",
		"+\twidget_lock(w);\n-  widget_unlock(w);\n }\n",
		"{\n  \"speed\": 3,\n  \"modes\": {\n    \"a\": 1\n  }\n}\n",
		"\tif (x) {\n\t\twidget_lock();\n\t}\n",
	};
	static const char *const heads[] = { legend, "# tracer: function_graph\n#\n" };

	for (size_t i = 0; i < array_size(below); i++)
		for (size_t j = 0; j < array_size(heads); j++) {
			cleanup_buf struct buf text = BUF_INIT;
			struct import_counts counts;

			REQUIRE(buf_add_str(&text, heads[j]) && buf_add_str(&text, lines) &&
				buf_add_str(&text, "\nThe code:\n\n") && buf_add_str(&text, below[i]));
			counts = imported_prints(buf_str(&text), NULL, lines);
			CHECK_STR(counts.partial, "");
			CHECK(!unknown_lines_events(&counts.told));
		}
}

TEST(import_leaves_out_columns_that_only_some_lines_of_a_graph_have)
{
	struct import_counts counts =
		imported_prints("# tracer: function_graph\n#\n"
				"   23.498724 |   0)     sh-256     |  ....1 | ! 118.936 us  |  a();\n"
				" 0)   1.913 us    |  b();\n",
				NULL,
				" 0)     sh-256     | ! 118.936 us  |  a();\n"
				" 0)     sh-256     |   1.913 us    |  b();\n");

	CHECK_STR(counts.partial, "times, flags");
	CHECK(counts.guessed == 1);
	/* One time counts from the boot, the other one from the beginning of a latency. */
	counts = imported_prints("# tracer: function_graph\n#\n"
				 "   23.498724 |   0)   1.500 us    |  a();\n"
				 "       9 us |   0)   1.913 us    |  b();\n",
				 NULL, " 0)   1.500 us    |  a();\n 0)   1.913 us    |  b();\n");
	CHECK_STR(counts.partial, "times");
	counts = imported_prints("# tracer: function_graph\n#\n 0)   1.500 us    |  a();\n"
				 "# tracer: function_graph\n#\n  b();\n",
				 NULL, "a();\n  b();\n");
	CHECK_STR(counts.partial, "CPUs, durations");
	counts = imported_prints("# tracer: function_graph\n#\n 0)   1.500 us    |  a();\n", NULL,
				 " 0)   1.500 us    |  a();\n");
	CHECK_STR(counts.partial, "");
	/* The flags of a graph come with latency-format, which prints a time since the first event. */
	counts = imported_prints("# tracer: function_graph\n#\n"
				 "   23.498724 |   0)     sh-256     |  ....1. | ! 118.936 us  |  a();\n"
				 "              sh-256     [000] ....1.   24.000000: zz: a=1\n",
				 NULL,
				 "   23.498724 |   0)     sh-256     | ! 118.936 us  |  a();\n"
				 "   24.000000 |   0)     sh-256     |               |  /* zz: a=1 */\n");
	CHECK_STR(counts.partial, "flags");
	CHECK(!counts.mixed_times);
}
