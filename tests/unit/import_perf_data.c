// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of tests/corpora/perf were written by tests/cases/perf_data.py, by the description of the format, so what
 * they say is known without weft.
 */
#include "lib/files/import/perf.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

/* With 1 subtracted from the preempt counts. */
#define FIRST                                                                                           \
	"           first-100     [000] d....     0.001001: sched_switch: prev_comm=first prev_pid=100" \
	" ==> next_comm=second next_pid=200\n"
#define STACKS                                                                    \
	"           first-100     [000] d....     0.001001: <stack trace>\n"      \
	" => 0xffffffff81000010\n => 0xffffffff81000020\n"                        \
	"           first-100     [000] d....     0.001001: <user stack trace>\n" \
	" =>  <0000000000401000>\n =>  <0000000000402000>\n"
#define NAMED                                                                     \
	"           first-100     [000] d....     0.001001: <stack trace>\n"      \
	" => one\n => two\n"                                                      \
	"           first-100     [000] d....     0.001001: <user stack trace>\n" \
	" =>  <0000000000401000>\n =>  <0000000000402000>\n"
#define MIDDLE                                                                                            \
	"          <idle>-0       [001] d.s..     0.001002: sched_switch: prev_comm=swapper/1 prev_pid=0" \
	" ==> next_comm=other next_pid=400\n"                                                             \
	"          second-200     [000] d....     0.001002: sched_switch: prev_comm=second prev_pid=200"  \
	" ==> next_comm=first next_pid=300\n"
#define LAST                                                                                            \
	"           first-300     [000] dn.1.     0.001003: sched_switch: prev_comm=first prev_pid=300" \
	" ==> next_comm=second next_pid=200\n"

static const char kallsyms[] = "ffffffff81000000 T one\nffffffff81000018 T two\nffffffff81001000 T end\n";

/* Imports the file, or its first `len` bytes, and prints what became of it without the lines of the head. */
static int import_with(const char *name, off_t len, const char *symbols, bool samples, struct buf *text,
		       struct perf_import_counts *counts, struct fail *damage)
{
	const struct recast_options form = { .version = 7, .compress = true, .level = 1 };
	cleanup_fd int made = memfd_create("imported", MFD_CLOEXEC), fd = memfd_create("cut", MFD_CLOEXEC), whole = -1;
	cleanup_buf struct buf printed = BUF_INIT;
	struct perf_import *import = NULL;
	struct trace *trace = NULL;
	struct input input;
	uint64_t size;
	char path[128];
	int r;

	snprintf(path, sizeof(path), "tests/corpora/perf/%s", name);
	whole = open(path, O_RDONLY | O_CLOEXEC);
	if (!CHECK(made >= 0 && fd >= 0 && whole >= 0) || !CHECK(sendfile(fd, whole, NULL, 1 << 20) > 0) ||
	    (len >= 0 && !CHECK(!ftruncate(fd, len))) || !CHECK(!input_init(&input, fd, path, NULL)))
		return -1;
	r = perf_import_new(&input, 1, NULL, &form, &import, NULL);
	if (!r && symbols)
		perf_import_symbols(import, symbols, strlen(symbols));
	if (!r && samples)
		perf_import_samples(import);
	r = r ? r : perf_import_read(import, damage, NULL);
	r = r ? r : perf_import_write(import, made, &size, NULL);
	if (!r) {
		*counts = *perf_import_counts(import);
		r = trace_open_fd(made, "imported", &trace, NULL);
		r = r ? r : printed_trace(trace, &(struct printed){ .format = "ftrace" }, &printed, NULL);
	}
	for (const char *line = buf_str(&printed); !r && *line; line += strcspn(line, "\n") + 1)
		if (*line != '#')
			CHECK(buf_add(text, line, strcspn(line, "\n") + 1));
	trace_free(trace);
	perf_import_free(import);
	input_release(&input);
	return r;
}

static int import_and_print(const char *name, off_t len, const char *symbols, struct buf *text,
			    struct perf_import_counts *counts, struct fail *damage)
{
	return import_with(name, len, symbols, false, text, counts, damage);
}

TEST(import_reads_a_perf_data_in_each_of_its_forms)
{
	static const struct {
		const char *name, *symbols, *text;
		uint64_t stacks, lost, others, twice;
	} rows[] = {
		{ "plain", NULL, FIRST MIDDLE LAST, 0, 0, 0, 0 },
		{ "plain", kallsyms, FIRST MIDDLE LAST, 0, 0, 0, 0 },
		{ "plain-big", NULL, FIRST MIDDLE LAST, 0, 0, 0, 0 },
		{ "plain-noid", NULL, FIRST MIDDLE LAST, 0, 0, 0, 0 },
		{ "plain-mono", NULL, FIRST MIDDLE LAST, 0, 0, 0, 0 },
		{ "plain-pipe", NULL, FIRST MIDDLE LAST, 0, 0, 0, 0 },
		{ "plain-zstd", NULL, FIRST MIDDLE LAST, 0, 0, 0, 0 },
		{ "plain-pipe-zstd", NULL, FIRST MIDDLE LAST, 0, 0, 0, 0 },
		{ "plain-big-pipe-stack", NULL, FIRST STACKS MIDDLE LAST, 2, 0, 0, 0 },
		{ "plain-big-pipe-stack", kallsyms, FIRST NAMED MIDDLE LAST, 2, 0, 0, 0 },
		{ "plain-twice-lost-samples-stack", NULL, FIRST STACKS MIDDLE "CPU:0 [LOST 7 EVENTS]\n" LAST, 2, 7, 1,
		  1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct perf_import_counts counts = { 0 };
		struct fail damage = FAIL_INIT;

		if (!CHECK(!import_and_print(rows[i].name, -1, rows[i].symbols, &text, &counts, &damage)))
			continue;
		CHECK_STR(buf_str(&text), rows[i].text);
		CHECK_STR(damage.text, "");
		if (!CHECK(counts.events == 4 && counts.stacks == rows[i].stacks && counts.lost == rows[i].lost &&
			   counts.others == rows[i].others && counts.twice == rows[i].twice && counts.preempt))
			fprintf(stderr, "%s: %d %d %d %d %d\n", rows[i].name, (int)counts.events, (int)counts.stacks,
				(int)counts.lost, (int)counts.others, (int)counts.twice);
		CHECK(!counts.lost_later && !counts.refused && !counts.cut_stacks && !counts.throttled &&
		      !counts.unknown);
	}
}

/* What is whole in front of the cut is imported, and nothing else. */
TEST(import_of_a_perf_data_that_is_cut_takes_what_is_before)
{
	static const char *const lines[] = { FIRST, MIDDLE, LAST };
	size_t before = 0;

	for (off_t len = 0; len < 2208; len += 9) {
		cleanup_buf struct buf text = BUF_INIT;
		struct perf_import_counts counts = { 0 };
		struct fail damage = FAIL_INIT;
		size_t at = 0;

		if (import_and_print("plain-pipe", len, NULL, &text, &counts, &damage))
			continue;
		CHECK(counts.events >= before && counts.events <= 4);
		before = counts.events;
		for (size_t i = 0; i < 3; i++) {
			size_t whole = strlen(lines[i]);

			if (!strncmp(buf_str(&text) + at, lines[i], whole))
				at += whole;
		}
		CHECK(counts.events != 4 || at == text.len);
		/* Four lines of about a hundred characters. */
		CHECK(text.len > counts.events * 90 && text.len < counts.events * 140);
	}
	CHECK(before == 4);
}

/* A sample of a clock has an address and a stack, and no record of the kernel. */
TEST(import_makes_events_of_samples_when_it_is_told_to)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct perf_import_counts counts = { 0 };
	struct fail damage = FAIL_INIT;

	CHECK(!import_with("plain-twice-lost-samples-stack", -1, kallsyms, true, &text, &counts, &damage));
	CHECK_STR(buf_str(&text),
		  FIRST NAMED "           first-100     [000] .....     0.001001: sample: ip=one+0x0/0x18 period=1\n"
			      "           first-100     [000] .....     0.001001: <stack trace>\n => one\n" MIDDLE
			      "CPU:0 [LOST 7 EVENTS]\n" LAST);
	CHECK(counts.events == 5 && counts.stacks == 3 && counts.others == 1 && !counts.without_cpu && !counts.unnamed);
}

/* A preempt count of 0 is one that perf has not changed. */
#define UNCHANGED                                                                                         \
	"           first-100     [000] d..1.     0.001001: sched_switch: prev_comm=first prev_pid=100"   \
	" ==> next_comm=second next_pid=200\n"                                                            \
	"          <idle>-0       [001] d.s1.     0.001002: sched_switch: prev_comm=swapper/1 prev_pid=0" \
	" ==> next_comm=other next_pid=400\n"                                                             \
	"          second-200     [000] d..1.     0.001002: sched_switch: prev_comm=second prev_pid=200"  \
	" ==> next_comm=first next_pid=300\n"                                                             \
	"           first-300     [000] dn...     0.001003: sched_switch: prev_comm=first prev_pid=300"   \
	" ==> next_comm=second next_pid=200\n"

TEST(import_tells_what_a_perf_data_leaves_out_or_has_twice)
{
	static const struct {
		const char *name, *text; /* NULL: not looked at */
		struct perf_import_counts want;
	} rows[] = {
		{ "plain-zero", UNCHANGED, { .events = 4 } },
		{ "plain-lost-repeat",
		  FIRST MIDDLE "CPU:0 [LOST 7 EVENTS]\n" LAST,
		  { .events = 4, .lost = 7, .repeated = 3, .preempt = true } },
		{ "plain-freq-filter",
		  FIRST MIDDLE LAST,
		  { .events = 4, .sampled = 1, .filtered = true, .preempt = true } },
		{ "plain-count-tasks",
		  FIRST MIDDLE LAST,
		  { .events = 4, .sampled = 10, .of_tasks = true, .preempt = true } },
		/* Two events may be the same. */
		{ "plain-same", NULL, { .events = 5, .preempt = true } },
		{ "plain-stack-repeat",
		  FIRST STACKS MIDDLE LAST,
		  { .events = 4, .stacks = 2, .repeated = 3, .unnamed = 1, .preempt = true } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct perf_import_counts *want = &rows[i].want;
		cleanup_buf struct buf text = BUF_INIT;
		struct perf_import_counts got = { 0 };
		struct fail damage = FAIL_INIT;

		if (!CHECK(!import_and_print(rows[i].name, -1, NULL, &text, &got, &damage)))
			continue;
		if (rows[i].text)
			CHECK_STR(buf_str(&text), rows[i].text);
		if (!CHECK(got.events == want->events && got.lost == want->lost && got.repeated == want->repeated &&
			   got.stacks == want->stacks && got.others == want->others && got.unnamed == want->unnamed &&
			   got.sampled == want->sampled && got.filtered == want->filtered &&
			   got.of_tasks == want->of_tasks && got.preempt == want->preempt))
			fprintf(stderr, "%s: %d %d %d %d %d %d\n", rows[i].name, (int)got.events, (int)got.repeated,
				(int)got.stacks, (int)got.others, (int)got.unnamed, (int)got.sampled);
		CHECK(!got.lost_later && !got.refused && !got.cut_stacks && !got.throttled && !got.unknown &&
		      !got.twice);
	}
}
