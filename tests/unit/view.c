// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/buffer/view.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

static bool view_fake_new(struct fake *fake)
{
	if (!fake_new(fake))
		return false;
	fake_mkdir(fake, "per_cpu/cpu0");
	fake_mkdir(fake, "options");
	return true;
}

/* Collects the whole text shown for a file. */
static bool shown(const struct fake *fake, const char *file, struct buf *text, bool *ret_cut)
{
	struct view view = VIEW_INIT;
	int r = view_open(&view, &fake->top, file, false, NULL);

	while (!r && (r = view_read(&view, text, NULL)) > 0)
		r = 0;
	*ret_cut = view.cut;
	view_close(&view);
	return !r;
}

static bool is_refused(const struct fake *fake, const char *file, const char *why)
{
	struct view view = VIEW_INIT;
	struct fail fail = FAIL_INIT;
	int err = view_open(&view, &fake->top, file, false, &fail);

	view_close(&view);
	return err < 0 && strstr(fail.text, why);
}

static const char trace[] = "# tracer: nop\n#\n"
			    "  a-1 [000] .....  1000.000001: one: 1.5: two\n"
			    " => a\n"
			    "  b 1-2 [000] .....  1000.500000: two\n"
			    "  c-3 [000] .....  1000.500001: three\n"
			    "  d-4 [000] .....  1000.600000: four\n";

TEST(view_ends_where_the_call_began_while_tracing_goes_on)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fake fake;
	bool cut;

	REQUIRE(view_fake_new(&fake));
	fake_write(&fake, "tracing_on", "1\n");
	fake_write(&fake, "per_cpu/cpu0/stats", "entries: 9\noverrun: 0\nnow ts:  1000.500000\nread events: 0\n");
	fake_write(&fake, "trace", trace);
	CHECK(shown(&fake, "trace", &text, &cut));
	CHECK(cut);
	CHECK_MEM(text.data, text.len, trace, (size_t)(strstr(trace, "  c-3") - trace));
	fake_free(&fake);
}

TEST(view_shows_all_of_a_buffer_that_stands_still)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fake fake;
	bool cut;

	REQUIRE(view_fake_new(&fake));
	fake_write(&fake, "tracing_on", "0\n");
	fake_write(&fake, "per_cpu/cpu0/stats", "entries: 9\nnow ts:  1.000000\n");
	fake_write(&fake, "trace", trace);
	CHECK(shown(&fake, "trace", &text, &cut));
	CHECK(!cut);
	CHECK_MEM(text.data, text.len, trace, sizeof(trace) - 1);
	fake_free(&fake);
}

/* Each of these has its own clock, and top's is far behind. */
static const struct {
	const char *of, *on, *stats, *shows;
	bool cut;
} named[] = {
	{ "instances/box/", "1\n", "entries: 9\nnow ts:  1000.500000\n", "  c-3", true },
	{ "instances/box/per_cpu/cpu0/", "1\n", "entries: 9\nnow ts:  1000.500000\n", "  c-3", true },
	{ "instances/box/", "0\n", "entries: 9\nnow ts:  1000.500000\n", NULL, false },
	/* A remote of Linux 7.1 has no stats. */
	{ "remotes/test/", "1\n", NULL, NULL, false },
	{ "remotes/test/per_cpu/cpu0/", "1\n", NULL, NULL, false },
};

TEST(view_ends_by_the_clock_of_the_buffer_that_the_file_belongs_to)
{
	for (size_t i = 0; i < array_size(named); i++) {
		cleanup_buf struct buf text = BUF_INIT;
		int len = (int)strcspn(named[i].of, "/") + 1;
		char file[64];
		struct fake fake;
		bool cut;

		REQUIRE(view_fake_new(&fake));
		fake_write(&fake, "tracing_on", "1\n");
		fake_write(&fake, "per_cpu/cpu0/stats", "entries: 9\nnow ts:  1.000000\n");
		len += (int)strcspn(named[i].of + len, "/") + 1;
		snprintf(file, sizeof(file), "%.*stracing_on", len, named[i].of);
		fake_write(&fake, file, named[i].on);
		snprintf(file, sizeof(file), "%.*sper_cpu/cpu0/stats", len, named[i].of);
		if (named[i].stats)
			fake_write(&fake, file, named[i].stats);
		snprintf(file, sizeof(file), "%strace", named[i].of);
		fake_write(&fake, file, trace);
		CHECK(shown(&fake, file, &text, &cut));
		CHECK(cut == named[i].cut);
		CHECK_MEM(text.data, text.len, trace,
			  named[i].shows ? (size_t)(strstr(trace, named[i].shows) - trace) : sizeof(trace) - 1);
		fake_free(&fake);
	}
}

TEST(view_counts_lines_that_have_no_time)
{
	cleanup_buf struct buf text = BUF_INIT, all = BUF_INIT;
	struct fake fake;
	bool cut;

	for (unsigned i = 0; i < 1000; i++)
		buf_addf(&all, " 0)   0.%u us    |  foo();\n", i);
	REQUIRE(view_fake_new(&fake));
	fake_write(&fake, "tracing_on", "1\n");
	fake_write(&fake, "per_cpu/cpu0/stats", "entries: 10\nnow ts: 12345\n");
	fake_write(&fake, "trace", buf_str(&all));
	CHECK(shown(&fake, "trace", &text, &cut));
	CHECK(cut);
	CHECK(text.len && text.len < all.len / 2 && text.data[text.len - 1] == '\n');
	fake_free(&fake);
}

TEST(view_shows_all_that_it_took_out_of_a_pipe)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fake fake;
	bool cut;

	REQUIRE(view_fake_new(&fake));
	fake_write(&fake, "tracing_on", "1\n");
	fake_write(&fake, "per_cpu/cpu0/stats", "entries: 1\nnow ts:  1000.000001\n");
	fake_write(&fake, "trace_pipe", trace);
	CHECK(shown(&fake, "trace_pipe", &text, &cut));
	CHECK(!cut);
	CHECK_MEM(text.data, text.len, trace, sizeof(trace) - 1);
	fake_free(&fake);
}

TEST(view_refuses_what_must_not_be_opened_and_names_what_was_meant)
{
	char path[FAKE_PATH];
	struct fake fake;

	REQUIRE(view_fake_new(&fake));
	fake_write(&fake, "current_tracer", "nop\n");
	fake_write(&fake, "free_buffer", "");
	fake_path(&fake, "free_buffer", path);
	CHECK(!chmod(path, 0200));
	fake_write(&fake, "per_cpu/cpu0/trace_pipe_raw", "");
	CHECK(is_refused(&fake, "curent_tracer", "did you mean 'current_tracer'?"));
	CHECK(is_refused(&fake, "free_buffer", "write-only"));
	CHECK(is_refused(&fake, "per_cpu/cpu0/trace_pipe_raw", "raw pages"));
	CHECK(is_refused(&fake, "options", "is a directory"));
	CHECK(is_refused(&fake, "../x", "not a name below"));
	CHECK(is_refused(&fake, "options/../../x", "not a name below"));
	CHECK(is_refused(&fake, "/etc/passwd", "not a name below"));
	CHECK(is_refused(&fake, "", "not a name below"));
	fake_free(&fake);
}

static bool has_time(const char *line, uint64_t want)
{
	uint64_t us = 0;

	return view_line_time(line, strlen(line), &us) && us == want;
}

TEST(view_finds_the_time_of_a_line)
{
	uint64_t us;

	CHECK(has_time("  sh-1 [000] d..2. 12.345678: sched_switch: x=1.000000: y", 12345678));
	CHECK(has_time("  a.b 1.5-1 [000] 0.000001: x", 1));
	CHECK(!view_line_time(" 0)   0.123 us    |  foo();", 27, &us));
	CHECK(!view_line_time("  sh-1 [000] 12.34567", 21, &us));
	CHECK(!view_line_time("", 0, &us));
}
