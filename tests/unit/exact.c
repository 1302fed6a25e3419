// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/kernel/tracefs/tracing.h"
#include "tests/unit/printed.h"
#include "tests/unit/starve.h"
#include "tests/unit/test.h"

/*
 * Recordings of tests/fixtures/golden: NAME.dat, and the kernel's own text of it as NAME.txt, with a trace option as
 * NAME.OPTION.txt.
 */
static const struct pair {
	const char *name, *option;
} pairs[] = {
	{ "6.12-blk", NULL },
	{ "6.12-blk", "blk_classic" },
	{ "6.12-blk", "hex" },
	{ "6.12-blk", "raw" },
	{ "6.12-branch", NULL },
	{ "6.12-branch", "fields" },
	{ "6.12-branch", "raw" },
	{ "6.12-function-stacktrace", NULL },
	{ "6.12-function-stacktrace", "hex" },
	{ "6.12-function-stacktrace", "raw" },
	{ "6.12-function_graph-event-stack", NULL },
	{ "6.12-function_graph-event-stack", "funcgraph-abstime" },
	{ "6.12-function_graph-event-stack", "funcgraph-proc" },
	{ "6.12-function_graph-event-stack", "funcgraph-tail" },
	{ "6.12-hwlat", NULL },
	{ "6.12-hwlat", "fields" },
	{ "6.12-hwlat", "hex" },
	{ "6.12-hwlat", "raw" },
	{ "6.12-hwlat", "verbose" },
	{ "6.12-markers", NULL },
	{ "6.12-markers", "hex" },
	{ "6.12-markers", "nocontext-info" },
	{ "6.12-markers", "noirq-info" },
	{ "6.12-markers", "raw" },
	{ "6.12-markers", "verbose" },
	{ "6.12-osnoise", NULL },
	{ "6.12-osnoise", "fields" },
	{ "6.12-osnoise", "hex" },
	{ "6.12-osnoise", "raw" },
	{ "6.12-synth-hist", NULL },
	{ "6.12-synth-hist", "fields" },
	{ "6.12-synth-hist", "hex" },
	{ "6.12-user_events", NULL },
	{ "6.12-user_events", "raw" },
	{ "6.12-userstacktrace", NULL },
	{ "6.12-events-sched", NULL },
	{ "6.12-events-syscalls", NULL },
	{ "6.12-function", NULL },
	{ "6.12-function_graph", NULL },
	{ "6.12-event-stacktrace", NULL },
	{ "6.1-rt-function_graph", NULL },
	{ "6.1-rt-events-syscalls", NULL },
	{ "6.1-rt-event-stacktrace", NULL },
	{ "5.10-rt-events-irq-signal", NULL },
	/* Behind its short records this kernel prints what is left of longer ones. */
	{ "6.1-mips64el-event-stacks", NULL },
	{ "6.1-mips64el-markers", NULL },
	{ "6.1-mips64el-markers", "raw" },
};

static bool is_exact(const struct pair *pair)
{
	cleanup_buf struct buf got = BUF_INIT, want = BUF_INIT;
	struct fail fail = FAIL_INIT;
	char path[128];

	snprintf(path, sizeof(path), "tests/fixtures/golden/%s%s%s.txt", pair->name, pair->option ? "." : "",
		 pair->option ? pair->option : "");
	if (!CHECK(!tracing_read_path(path, &want, NULL) && want.len))
		return false;
	snprintf(path, sizeof(path), "tests/fixtures/golden/%s.dat", pair->name);
	CHECK(!printed(path, "ftrace", pair->option, &got, &fail));
	CHECK_STR(fail.text, "");
	return CHECK(got.len == want.len && !memcmp(got.data, want.data, want.len));
}

TEST(report_prints_what_the_kernel_printed_of_each_tracer_and_option)
{
	for (size_t i = 0; i < array_size(pairs); i++)
		if (!is_exact(&pairs[i]))
			fprintf(stderr, "%s %s\n", pairs[i].name, pairs[i].option ? pairs[i].option : "");
}

/* Each allocation of the report fails in turn: the report must return an error, or have the same text. */
static void starve_report(const char *path, const char *format)
{
	cleanup_buf struct buf want = BUF_INIT;
	uint64_t nr;

	REQUIRE(!printed(path, format, NULL, &want, NULL));
	for (uint64_t at = 1;; at++) {
		cleanup_buf struct buf got = BUF_INIT;
		struct fail fail = FAIL_INIT;
		bool ok;
		int r;

		starve_begin(at);
		r = printed(path, format, NULL, &got, &fail);
		nr = starve_end();
		ok = r < 0 ? CHECK(*fail.text) : CHECK(got.len == want.len && !memcmp(got.data, want.data, want.len));
		if (!ok)
			fprintf(stderr, "%s of %s: allocation %llu of %llu\n", format, path, (unsigned long long)at,
				(unsigned long long)nr);
		if (nr < at || !ok)
			return;
	}
}

TEST(report_tells_each_lack_of_memory)
{
	static const char *const files[] = { "6.12-event-stacktrace", "6.12-function_graph",
					     "6.12-events-syscalls",  "6.12-blk",
					     "6.12-synth-hist",       "6.1-mips64el-markers" };
	char path[128];

	for (size_t i = 0; i < array_size(files); i++) {
		snprintf(path, sizeof(path), "tests/fixtures/golden/%s.dat", files[i]);
		starve_report(path, "ftrace");
	}
	starve_report("tests/fixtures/golden/6.12-function_graph.dat", "json");
	starve_report("tests/fixtures/golden/6.12-events-syscalls.dat", "pretty");
}
