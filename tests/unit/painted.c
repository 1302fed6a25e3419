// SPDX-License-Identifier: GPL-2.0-only
#include "formats/painted.h"

#include <stdio.h>
#include <string.h>

#include "formats/cut_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

/* The text without the escape sequences for colours. */
static void strip(const struct buf *text, struct buf *ret)
{
	const char *at = text->data, *end = at + text->len;

	while (at < end) {
		if (*at == '\033') {
			while (at < end && *at++ != 'm')
				continue;
			continue;
		}
		CHECK(buf_add(ret, at++, 1));
	}
}

TEST(painted_text_is_the_kernels_text_between_the_colours)
{
	static const char *const names[] = {
		"6.12-events-sched",    "6.12-function_graph",   "6.12-function", "6.12-event-stacktrace",
		"6.12-events-syscalls", "6.1-rt-function_graph", "6.12-hwlat",
	};

	for (size_t i = 0; i < array_size(names); i++) {
		cleanup_buf struct buf want = BUF_INIT, painted = BUF_INIT, got = BUF_INIT;
		struct trace *trace = NULL;
		char path[128];

		snprintf(path, sizeof(path), "tests/fixtures/golden/%s.txt", names[i]);
		REQUIRE(!tracing_read_path(path, &want, NULL));
		snprintf(path, sizeof(path), "tests/fixtures/golden/%s.dat", names[i]);
		REQUIRE(!trace_open(path, &trace, NULL));
		CHECK(!printed_trace(trace, &(struct printed){ .format = "ftrace", .color = true }, &painted, NULL));
		strip(&painted, &got);
		CHECK(painted.len > got.len);
		if (!CHECK(!strcmp(buf_str(&got), buf_str(&want))))
			fprintf(stderr, "%s\n", names[i]);
		trace_free(trace);
	}
}

#define NONE "\033[0m"
#define DIM "\033[2m"
#define RED "\033[31m"
#define REVERSE "\033[7m"

static bool paints(struct loom *loom, const char *script, const char *want)
{
	cleanup_buf struct buf got = BUF_INIT;
	struct trace *trace;
	bool ok;

	loom_play(loom, script);
	trace = loom_trace(loom);
	ok = CHECK(trace &&
		   !printed_trace(trace, &(struct printed){ .format = "ftrace", .color = true }, &got, NULL)) &&
	     CHECK(strstr(buf_str(&got), want));
	if (!ok)
		fprintf(stderr, "painted: %s\n", buf_str(&got));
	trace_free(trace);
	return ok;
}

TEST(painted_lines_show_losses_and_errors)
{
	struct loom loom;

	loom_init(&loom);
	loom_type(&loom, "loom", "shot", "int ret", "\"ret=%d\", REC->ret");
	loom_task(&loom, 7, "sh");
	paints(&loom, "0 1000000 7 shot ret=1\n", DIM "# tracer: nop" NONE "\n");
	paints(&loom, "0 1001000 7 shot ret=-22\n", RED "ret=-22" NONE "\n");
	paints(&loom, "0 lost 5\n0 1002000 7 shot ret=0\n", REVERSE "CPU:0 [LOST 5 EVENTS]" NONE "\n");
	/* Events in an interrupt, and with interrupts off. */
	paints(&loom, "0 1003000 7 shot ret=0 common_flags=8\n", "\033[35m..h.." NONE);
	paints(&loom, "0 1004000 7 shot ret=0 common_flags=1\n", "\033[33md...." NONE);
	paints(&loom, "0 1005000 7 shot ret=0\n", DIM "....." NONE);
	loom_release(&loom);
}

static bool cuts(const char *text, unsigned width, const char *want)
{
	struct out in, out;
	bool ok;

	if (!CHECK(out_init(&in, 0)))
		return false;
	if (!CHECK(out_init(&out, 0))) {
		out_release(&in);
		return false;
	}
	out_str(&in, text);
	cut_lines(&in, width, &out);
	ok = CHECK_MEM(out.start, out_len(&out), want, strlen(want));
	out_release(&in);
	out_release(&out);
	return ok;
}

TEST(cut_lines_are_as_wide_as_the_terminal)
{
	cuts("short\nexactly ten\n", 11, "short\nexactly ten\n");
	cuts("exactly ten\n", 10, "exactly t>\n");
	cuts("a\n\nlonger\nb", 4, "a\n\nlon>\nb");
	/* A character of several bytes has one column. A colour has none and ends with the line. */
	cuts("\303\244\303\266\303\274\303\237\n", 4, "\303\244\303\266\303\274\303\237\n");
	cuts("\303\244\303\266\303\274\303\237!\n", 4, "\303\244\303\266\303\274>\n");
	cuts("\033[31mred\033[0m!\n", 4, "\033[31mred\033[0m!\n");
	cuts("\033[31mredder\n", 4, "\033[31mred>\033[0m\n");
}
