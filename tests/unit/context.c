// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/event/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/meaning/event/cpu_stats.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

static bool counts(const char *clock)
{
	struct context *context = NULL;
	struct trace *trace;
	struct loom loom;
	bool ret;

	loom_init(&loom);
	loom.clock = clock;
	trace = loom_trace(&loom);
	ret = CHECK(trace && !context_new(trace, 0, &context, NULL)) && context->unit == CLOCK_UNIT_COUNT;
	context_free(context);
	trace_free(trace);
	loom_release(&loom);
	return ret;
}

/* trace_clocks[] of kernel/trace/trace.c and ARCH_TRACE_CLOCKS of each architecture: their in_ns. */
TEST(context_knows_the_clocks_that_count_no_nanoseconds)
{
	static const char *const ticks[] = { "counter", "uptime", "x86-tsc", "ppc-tb", "s390-tod" };
	static const char *const times[] = { "local", "global", "perf", "mono", "mono_raw", "boot", "tai" };

	for (size_t i = 0; i < sizeof(ticks) / sizeof(*ticks); i++)
		CHECK(counts(ticks[i]));
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		CHECK(!counts(times[i]));
}

/* Loom's pages are those of a 64-bit kernel. Under setarch (PER_LINUX32) uname -m names a 32-bit machine. */
TEST(context_takes_the_machine_of_uname_for_that_of_the_kernel)
{
	static const char *const names[][2] = {
		{ "x86_64", "x86_64" },  { "aarch64", "aarch64" }, { "i686", "x86_64" },
		{ "armv8l", "aarch64" }, { "s390", "s390x" },      { "loongarch64", "loongarch64" },
		{ "armv7l", "armv7l" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct context *context = NULL;
		struct trace *trace;
		struct loom loom;
		char uname[64];

		loom_init(&loom);
		snprintf(uname, sizeof(uname), "Linux loom 6.12.0 #1 SMP %s", names[i][0]);
		loom.uname = uname;
		trace = loom_trace(&loom);
		if (CHECK(trace && !context_new(trace, 0, &context, NULL)))
			CHECK_STR(context->machine, names[i][1]);
		context_free(context);
		trace_free(trace);
		loom_release(&loom);
	}
}

/* Puts a text behind another one in the format of a type. */
static bool insert(struct buf *format, const char *behind, const char *text)
{
	cleanup_buf struct buf made = BUF_INIT;
	const char *all = buf_str(format), *at = strstr(all, behind);
	size_t head = at ? (size_t)(at - all) + strlen(behind) : 0;
	bool ok = at && buf_add(&made, all, head) && buf_add_str(&made, text) && buf_add_str(&made, all + head);

	if (ok) {
		buf_clear(format);
		ok = buf_add(format, made.data, made.len);
	}
	return ok;
}

/*
 * lib/vsprintf.c before 4.15 printed the address for %p. Without a release the formats tell: common_padding was before
 * 3.10, decimal states of sched_switch before 4.14.
 */
TEST(context_of_a_file_without_a_release_tells_by_its_formats_whether_pointers_are_hashed)
{
	static const struct {
		const char *uname, *behind, *text;
		bool hashes;
	} rows[] = {
		{ "", "signed:1;\n", "\tfield:int common_padding;\toffset:8;\tsize:4;\tsigned:1;\n", false },
		{ "", "signed:1;\n", "\tfield:int common_lock_depth;\toffset:8;\tsize:4;\tsigned:1;\n", false },
		{ "", "signed:1;\n", "\tfield:unsigned short common_padding;\toffset:8;\tsize:2;\tsigned:0;\n", true },
		{ "", "print fmt: \"", "%s\", __print_flags(REC->prev_state, \"|\", { 1, \"S\" }, { 1024, \"N\" })",
		  false },
		{ "", "print fmt: \"", "%s\", __print_flags(REC->prev_state, \"|\", { 0x01, \"S\" }, { 0x02, \"D\" })",
		  true },
		{ "Linux loom 6.12.0", "signed:1;\n", "\tfield:int common_padding;\toffset:8;\tsize:4;\tsigned:1;\n",
		  true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct context *context = NULL;
		struct trace *trace;
		struct loom loom;

		loom_init(&loom);
		loom.uname = rows[i].uname;
		REQUIRE(!strcmp(loom.types[0].name, "sched_switch"));
		CHECK(insert(&loom.types[0].format, rows[i].behind, rows[i].text));
		trace = loom_trace(&loom);
		if (CHECK(trace && !context_new(trace, 0, &context, NULL)) &&
		    !CHECK(context_hashes_pointers(context) == rows[i].hashes))
			fprintf(stderr, "%s %s\n", rows[i].uname, rows[i].text);
		context_free(context);
		trace_free(trace);
		loom_release(&loom);
	}
}

/* kernel/trace/trace.c: tracing_stats_read() */
TEST(cpu_stats_are_those_of_each_cpu_s_part_of_the_text)
{
	static const char text[] = "entries: 9\nCPU: 3\nentries: 12\noverrun: 2\ncommit overrun: 1\nbytes: 900\n"
				   "oldest event ts: 1.5\nnow ts: 2.5\ndropped events: 4\nread events: 5\n\n"
				   "CPU: 10\nentries: \noverrun: 18446744073709551615\nsome overrun: 7\nCPU: ";
	struct cpu_stats_list list = { .at = NULL };

	cpu_stats_of_text(&list, (struct trace_text){ NULL, 0 });
	CHECK(!list.nr);
	cpu_stats_of_text(&list, (struct trace_text){ text, sizeof(text) - 1 });
	REQUIRE(list.nr == 2 && !list.starved);
	CHECK(list.at[0].cpu == 3 && list.at[0].entries == 12 && list.at[0].overrun == 2);
	CHECK(list.at[0].commit_overrun == 1 && list.at[0].dropped == 4 && list.at[0].read == 5);
	CHECK(list.at[1].cpu == 10 && !list.at[1].entries && list.at[1].overrun == UINT64_MAX && !list.at[1].read);
	free(list.at);
}

static bool read_stats(const struct loom_setting *settings, struct cpu_stats_list *ret)
{
	struct trace *trace;
	struct loom loom;

	*ret = (struct cpu_stats_list){ .at = NULL };
	loom_init(&loom);
	for (; settings->name; settings++)
		loom_setting(&loom, settings->name, settings->text);
	loom_play(&loom, "0 100 7 sched_waking pid=8\n");
	trace = loom_trace(&loom);
	if (trace)
		cpu_stats_read(ret, trace, 0);
	trace_free(trace);
	loom_release(&loom);
	return trace;
}

TEST(cpu_stats_are_those_of_the_buffer_that_is_in_the_file)
{
	static const struct loom_setting cpus[] = { { "per_cpu/cpu0/stats", "entries: 12\noverrun: 3\n" },
						    { "per_cpu/cpu11/stats", "entries: 2\n" },
						    { "per_cpu/cpu12/stats.old", "entries: 2\n" },
						    { "per_cpu/cpux/stats", "entries: 2\n" },
						    { "weft/entries", "5/9" },
						    { NULL, NULL } },
					 sum[] = { { "weft/entries", "5/9" }, { NULL, NULL } },
					 odd[] = { { "weft/entries", "9/5" }, { NULL, NULL } },
					 section[] = { { "per_cpu/cpu0/stats", "entries: 12\noverrun: 3\n" },
						       { "weft/section", "" },
						       { "weft/entries", "5/9" },
						       { NULL, NULL } };
	struct cpu_stats_list list;

	REQUIRE(read_stats(cpus, &list) && list.nr == 2);
	CHECK(list.at[0].cpu == 0 && list.at[0].entries == 12 && list.at[0].overrun == 3);
	CHECK(list.at[1].cpu == 11 && list.at[1].entries == 2);
	free(list.at);
	REQUIRE(read_stats(sum, &list) && list.nr == 1);
	CHECK(list.at[0].cpu == 0 && list.at[0].entries == 5 && list.at[0].overrun == 4);
	free(list.at);
	CHECK(read_stats(odd, &list) && !list.nr);
	REQUIRE(read_stats(section, &list) && list.nr == 1);
	CHECK(list.at[0].entries == 5 && list.at[0].overrun == 4);
	free(list.at);
}

/* A tick is as long as the kernel that recorded it says; without that, nobody knows. */
TEST(context_knows_how_long_a_tick_of_the_recorded_kernel_is)
{
	static const char *const rows[][2] = { { "250\n", "2000" }, { "1000\n", "500" }, { "100\n", "5000" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup_buf struct buf got = BUF_INIT;
		struct trace *trace;
		struct loom loom;
		char want[32];

		loom_init(&loom);
		loom_type(&loom, "timer", "wait", "u32 n", "\"%u\", jiffies_to_msecs(REC->n)");
		loom_setting(&loom, "weft/hz", rows[i][0]);
		loom_play(&loom, "0 1000 7 wait n=500\n");
		trace = loom_trace(&loom);
		if (CHECK(trace) &&
		    CHECK(!printed_trace(trace, &(struct printed){ .format = "ftrace", .option = "nocontext-info" },
					 &got, NULL))) {
			snprintf(want, sizeof(want), "wait: %s\n", rows[i][1]);
			CHECK_STR(printed_body(&got), want);
		}
		trace_free(trace);
		loom_release(&loom);
	}
}
