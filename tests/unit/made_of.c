// SPDX-License-Identifier: GPL-2.0-only
#include "lib/files/rewrite/excerpt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/files/rewrite/recast.h"
#include "lib/files/rewrite/recent.h"
#include "lib/files/rewrite/unite.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/loom.h"
#include "tests/unit/printed.h"
#include "tests/unit/test.h"

/* Files made from recordings of tests/fixtures/golden have the kernel's text of these recordings. */
static const char *const names[] = {
	"6.12-events-sched",    "6.12-function_graph",    "6.12-event-stacktrace", "6.12-markers",
	"6.12-events-syscalls", "6.1-rt-events-syscalls", "6.12-synth-hist",
};

static const struct recast_options forms[] = {
	{ .version = 7, .compress = true, .level = 3 },
	{ .version = 7 },
	{ .version = 6 },
};

static struct trace *open_golden(const char *name)
{
	struct trace *trace = NULL;
	char path[128];

	snprintf(path, sizeof(path), "tests/fixtures/golden/%s.dat", name);
	CHECK(!trace_open(path, &trace, NULL));
	return trace;
}

static struct trace *reopen(int fd)
{
	struct trace *trace = NULL;
	struct fail fail = FAIL_INIT;

	CHECK(!trace_open_fd(fd, "made", &trace, &fail));
	CHECK_STR(fail.text, "");
	return trace;
}

static void read_text(const char *name, struct buf *ret)
{
	char path[128];

	snprintf(path, sizeof(path), "tests/fixtures/golden/%s.txt", name);
	CHECK(!tracing_read_path(path, ret, NULL) && ret->len);
}

static bool is_text(struct trace *trace, size_t buffer, const char *name, bool header)
{
	cleanup_buf struct buf got = BUF_INIT, want = BUF_INIT;
	struct fail fail = FAIL_INIT;
	bool ok;

	read_text(name, &want);
	ok = CHECK(trace &&
		   !printed_trace(trace, &(struct printed){ .format = "ftrace", .buffer = buffer }, &got, &fail));
	ok = CHECK(!strcmp(header ? buf_str(&got) : printed_body(&got),
			   header ? buf_str(&want) : printed_body(&want))) &&
	     ok;
	if (!ok)
		fprintf(stderr, "%s: %s\n", name, fail.text);
	return ok;
}

TEST(recast_changes_the_form_of_a_recording_and_no_byte_of_its_text)
{
	for (size_t i = 0; i < array_size(names); i++)
		for (size_t j = 0; j < array_size(forms); j++) {
			cleanup_fd int fd = memfd_create("recast", MFD_CLOEXEC);
			struct trace *trace = open_golden(names[i]), *made;
			struct fail fail = FAIL_INIT;
			uint64_t size = 0;

			CHECK(!recast(trace, &forms[j], fd, &size, &fail));
			CHECK_STR(fail.text, "");
			CHECK(size == (uint64_t)lseek(fd, 0, SEEK_END));
			made = reopen(fd);
			CHECK(trace_info(made)->version == forms[j].version);
			is_text(made, 0, names[i], true);
			trace_free(made);
			trace_free(trace);
		}
}

/* A consumer of the events of one buffer. */
struct taker {
	int (*hand)(struct taker *taker, const struct event *event, int64_t lost, struct fail *fail);
	struct excerpt *excerpt, *other;
	struct unite *unite;
	size_t which;
	uint64_t nr, limit;
};

static int hand_over(struct trace *trace, size_t buffer, struct taker *taker, struct fail *fail)
{
	int64_t lost[64] = { 0 };
	struct reader reader;
	struct event event;
	int r;

	reader_init(&reader);
	r = reader_add(&reader, trace, buffer, fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, fail);
	while (!r && (r = reader_next(&reader, &event, fail)) > 0) {
		if (event.kind == EVENT_LOST) {
			lost[event.cpu_index % 64] = event.lost;
			r = 0;
			continue;
		}
		r = taker->hand(taker, &event, lost[event.cpu_index % 64], fail);
		lost[event.cpu_index % 64] = 0;
		taker->nr++;
	}
	reader_release(&reader);
	return r;
}

static int to_excerpt(struct taker *taker, const struct event *event, int64_t lost, struct fail *fail)
{
	return excerpt_add(taker->other && taker->nr >= taker->limit ? taker->other : taker->excerpt, 0, event, lost,
			   fail);
}

TEST(excerpt_of_all_events_has_the_text_of_the_recording)
{
	for (size_t i = 0; i < array_size(names); i++) {
		const struct recast_options *form = &forms[i % array_size(forms)];
		cleanup_fd int fd = memfd_create("excerpt", MFD_CLOEXEC);
		struct trace *trace = open_golden(names[i]), *made;
		struct taker taker = { .hand = to_excerpt };
		struct fail fail = FAIL_INIT;
		uint64_t size = 0;

		CHECK(!excerpt_new(trace, form, &taker.excerpt, &fail));
		CHECK(!hand_over(trace, 0, &taker, &fail));
		CHECK(excerpt_count(taker.excerpt) == taker.nr && excerpt_size(taker.excerpt) > taker.nr);
		CHECK(!excerpt_write(taker.excerpt, fd, &size, &fail));
		CHECK_STR(fail.text, "");
		made = reopen(fd);
		is_text(made, 0, names[i], false);
		trace_free(made);
		excerpt_free(taker.excerpt);
		trace_free(trace);
	}
}

/* Writes the last events of a buffer as a file. */
static void keep_recent(struct trace *trace, uint64_t span, size_t size, int fd, uint64_t *ret_events)
{
	const struct excerpt_newer newer = { NULL, NULL };
	struct recent *recent = NULL;
	struct fail fail = FAIL_INIT;
	struct reader reader;
	struct event event;
	uint64_t kept = 0;
	int r;

	reader_init(&reader);
	r = recent_new(trace, &(struct recent_options){ .span = span, .size = size }, &recent, &fail);
	if (!r)
		r = reader_add(&reader, trace, 0, &fail);
	if (!r)
		r = reader_start(&reader, &(struct reader_options){ .pool = NULL }, &fail);
	while (!r && (r = reader_next(&reader, &event, &fail)) > 0) {
		recent_see(recent, &event);
		r = 0;
	}
	if (!r)
		r = recent_write(recent, &forms[0], &newer, fd, ret_events, &kept, &fail);
	CHECK(!r && kept <= span);
	CHECK_STR(fail.text, "");
	recent_free(recent);
	reader_release(&reader);
}

TEST(recent_events_that_are_all_there_have_the_text_of_the_recording)
{
	for (size_t i = 0; i < array_size(names); i++) {
		cleanup_fd int fd = memfd_create("recent", MFD_CLOEXEC);
		struct trace *trace = open_golden(names[i]), *made;
		uint64_t events = 0;

		keep_recent(trace, UINT64_MAX, SIZE_MAX, fd, &events);
		made = reopen(fd);
		is_text(made, 0, names[i], false);
		trace_free(made);
		trace_free(trace);
	}
}

static struct extent extent_of(struct trace *trace)
{
	struct extent extent = { .known = false };
	struct reader reader;

	reader_init(&reader);
	CHECK(!reader_add(&reader, trace, 0, NULL));
	CHECK(!extent_find(reader.buffers[0].context, &extent, NULL));
	reader_release(&reader);
	return extent;
}

/* An event each microsecond. */
static struct trace *many_events(unsigned nr)
{
	struct buf script = BUF_INIT;
	struct trace *trace;
	struct loom loom;

	loom_init(&loom);
	for (unsigned i = 1; i <= nr; i++)
		CHECK(buf_addf(&script, "%u %u000 7 sched_waking comm=b pid=8 prio=120 target_cpu=0\n", i & 1, i));
	loom_play(&loom, buf_str(&script));
	trace = loom_trace(&loom);
	loom_release(&loom);
	buf_release(&script);
	return trace;
}

TEST(recent_forgets_what_is_too_long_ago_or_takes_too_much_memory)
{
	enum { NR = 40000 };
	static const struct {
		uint64_t span;
		size_t size;
	} bounds[] = { { 1000000, SIZE_MAX }, { UINT64_MAX, 1 } };

	for (size_t i = 0; i < array_size(bounds); i++) {
		cleanup_fd int fd = memfd_create("recent", MFD_CLOEXEC);
		struct trace *trace = many_events(NR), *made;
		uint64_t events = 0;
		struct extent extent;

		REQUIRE(trace);
		keep_recent(trace, bounds[i].span, bounds[i].size, fd, &events);
		/* As many as one or two blocks have. */
		CHECK(events > 1000 && events < NR / 2);
		made = reopen(fd);
		extent = extent_of(made);
		CHECK(extent.last == (uint64_t)NR * 1000 && extent.first == extent.last - (events - 1) * 1000);
		trace_free(made);
		trace_free(trace);
	}
}

static void print_excerpt(struct excerpt *excerpt, struct buf *ret)
{
	cleanup_fd int fd = memfd_create("excerpt", MFD_CLOEXEC);
	cleanup_buf struct buf text = BUF_INIT;
	struct trace *made;
	uint64_t size;

	CHECK(!excerpt_write(excerpt, fd, &size, NULL));
	made = reopen(fd);
	CHECK(!printed_trace(made, &(struct printed){ .format = "ftrace" }, &text, NULL));
	CHECK(buf_addf(ret, "%s", printed_body(&text)));
	trace_free(made);
}

TEST(excerpts_of_two_halves_have_the_lines_of_the_whole)
{
	cleanup_buf struct buf want = BUF_INIT, got = BUF_INIT;
	struct trace *trace = open_golden("6.12-events-sched");
	struct taker taker = { .hand = to_excerpt, .limit = 33 };

	read_text("6.12-events-sched", &want);
	CHECK(!excerpt_new(trace, &forms[0], &taker.excerpt, NULL) &&
	      !excerpt_new(trace, &forms[2], &taker.other, NULL));
	CHECK(!hand_over(trace, 0, &taker, NULL));
	CHECK(excerpt_count(taker.excerpt) == 33 && excerpt_count(taker.other) == taker.nr - 33);
	print_excerpt(taker.excerpt, &got);
	print_excerpt(taker.other, &got);
	CHECK_STR(buf_str(&got), printed_body(&want));
	excerpt_free(taker.excerpt);
	excerpt_free(taker.other);
	trace_free(trace);
}

static int to_union(struct taker *taker, const struct event *event, int64_t lost, struct fail *fail)
{
	return unite_event(taker->unite, taker->which, 0, event, lost, fail);
}

/* The number of the buffer with that name. 0 is the top buffer; it also stands for a missing name. */
static size_t find_buffer(struct trace *trace, const char *name)
{
	for (size_t i = 0; i < trace_buffers(trace); i++)
		if (!strcmp(trace_buffer(trace, i)->name.text, name))
			return i;
	return 0;
}

static void unite_with(const char *first, const char *second, const struct recast_options *form)
{
	cleanup_fd int fd = memfd_create("union", MFD_CLOEXEC);
	struct trace *traces[] = { open_golden(first), open_golden(second) }, *made;
	struct taker taker = { .hand = to_union };
	struct fail fail = FAIL_INIT;
	uint64_t size = 0;

	CHECK(!unite_new(form, &taker.unite, &fail));
	CHECK(!unite_trace(taker.unite, traces[0], "host", 0, &fail) &&
	      !unite_trace(taker.unite, traces[1], "guest", 0, &fail));
	for (; taker.which < 2; taker.which++)
		CHECK(!hand_over(traces[taker.which], 0, &taker, &fail));
	CHECK(!unite_write(taker.unite, fd, &size, &fail));
	CHECK_STR(fail.text, "");
	CHECK(size == (uint64_t)lseek(fd, 0, SEEK_END));
	made = reopen(fd);
	CHECK(trace_buffers(made) == 3);
	is_text(made, find_buffer(made, "host"), first, false);
	is_text(made, find_buffer(made, "guest"), second, false);
	trace_free(made);
	unite_free(taker.unite);
	trace_free(traces[0]);
	trace_free(traces[1]);
}

/* The kernels differ: one id stands for different formats. */
TEST(union_of_two_recordings_has_the_text_of_both)
{
	unite_with("6.12-events-sched", "6.1-rt-events-sched", &forms[0]);
	unite_with("6.12-events-sched", "6.12-events-syscalls", &forms[1]);
	/* The file has the symbols of the first recording. */
	unite_with("6.12-markers", "6.1-rt-events-sched", &forms[2]);
	unite_with("6.12-function", "6.1-rt-events-syscalls", &forms[0]);
}

TEST(union_adds_an_offset_to_the_times_of_a_recording)
{
	cleanup_fd int fd = memfd_create("union", MFD_CLOEXEC);
	struct trace *trace = open_golden("6.12-events-sched"), *made;
	struct taker taker = { .hand = to_union };
	struct event first[2] = { { .ts = 0 } };

	CHECK(!unite_new(&forms[0], &taker.unite, NULL) && !unite_trace(taker.unite, trace, "late", 5000000000, NULL));
	CHECK(!hand_over(trace, 0, &taker, NULL));
	CHECK(!unite_write(taker.unite, fd, &(uint64_t){ 0 }, NULL));
	made = reopen(fd);
	for (size_t i = 0; i < 2; i++) {
		struct reader reader;

		reader_init(&reader);
		CHECK(!reader_add(&reader, i ? made : trace, i ? find_buffer(made, "late") : 0, NULL) &&
		      !reader_start(&reader, &(struct reader_options){ .pool = NULL }, NULL));
		CHECK(reader_next(&reader, &first[i], NULL) == 1);
		reader_release(&reader);
	}
	CHECK(first[1].ts == first[0].ts + 5000000000);
	trace_free(made);
	unite_free(taker.unite);
	trace_free(trace);
}

TEST(recast_says_that_the_output_is_full)
{
	cleanup_fd int full = open("/dev/full", O_WRONLY | O_CLOEXEC),
		       fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct trace *trace = open_golden("6.12-markers");
	struct fail fail = FAIL_INIT;
	uint64_t size;

	/* A file that cannot grow behaves like a full disk. */
	CHECK(!fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
	CHECK(recast(trace, &forms[0], fd, &size, &fail) < 0);
	CHECK(*fail.text);
	CHECK(full < 0 || recast(trace, &forms[0], full, &size, &fail) < 0);
	trace_free(trace);
}
