// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/live/flow.h"

#include <stdio.h>
#include <string.h>

#include "formats/sink.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/kernel/live/lanes.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/stream/live_source.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/player.h"
#include "tests/unit/test.h"

/* A stream prints the same bytes as the report of a file with the same pages. */
static int run(struct flow *flow)
{
	int r = 1;

	while (r > 0)
		r = flow_run(flow, out_len(flow->out) + 512, NULL);
	return r;
}

/* A flow of one or several buffers, and the objects that it uses. */
struct scene {
	struct reader reader;
	struct lane at[2];
	struct lanes lanes;
	struct flow flow;
};

static void scene_init(struct scene *scene, struct out *out)
{
	*scene = (struct scene){ .lanes.out = out, .flow = { .out = out, .limit = UINT64_MAX } };
	reader_init(&scene->reader);
	scene->flow.reader = scene->lanes.reader = &scene->reader;
	scene->lanes.at = scene->at;
	scene->flow.consumer = lanes_consumer(&scene->lanes);
	REQUIRE(out_init(out, 0));
}

static void add_lane(struct scene *scene, struct trace *trace, const char *format, struct source *source)
{
	struct sink_options options = { .raw = false };
	size_t index = scene->lanes.nr++;

	REQUIRE(!reader_add(&scene->reader, trace, 0, NULL));
	scene->reader.buffers[index].window.source = source;
	REQUIRE(!sink_find(format)->create(scene->reader.buffers[index].context, &options, &scene->at[index].sink,
					   NULL));
}

static void start(struct scene *scene)
{
	REQUIRE(!reader_start(&scene->reader, &(struct reader_options){ .fails_at_once = true }, NULL));
}

static void scene_release(struct scene *scene)
{
	for (size_t i = 0; i < scene->lanes.nr; i++)
		scene->at[i].sink->ops->free(scene->at[i].sink);
	reader_release(&scene->reader);
}

static void stream(struct trace *trace, const char *format, unsigned stutter, size_t queue_max, struct out *out)
{
	struct player player;
	struct source *live;
	struct scene scene;

	REQUIRE(player_new(&player, trace, stutter, queue_max, NULL, &live));
	scene_init(&scene, out);
	add_lane(&scene, trace, format, live);
	start(&scene);
	while (player.left) {
		REQUIRE(live_source_take(live, false, NULL, NULL) >= 0);
		CHECK(!run(&scene.flow));
	}
	/* The flow now takes everything that is still queued: each CPU says once more that it has no data. */
	live_source_end(live);
	for (unsigned i = 0; i < 1000; i++) {
		CHECK(live_source_take(live, false, NULL, NULL) >= 0);
		CHECK(!run(&scene.flow));
	}
	scene_release(&scene);
	player_release(&player);
}

static void print_file(struct trace *trace, const char *format, bool framed, struct out *out)
{
	struct scene scene;

	scene_init(&scene, out);
	add_lane(&scene, trace, format, NULL);
	start(&scene);
	if (framed)
		flow_begin(&scene.flow);
	CHECK(!run(&scene.flow));
	if (framed)
		CHECK(!flow_end(&scene.flow));
	scene_release(&scene);
}

static void check_file(const char *path, const char *format)
{
	struct trace *trace = NULL;
	struct out want, got;

	REQUIRE(!trace_open(path, &trace, NULL));
	print_file(trace, format, false, &want);
	CHECK(out_len(&want) > 1000);
	for (unsigned stutter = 0; stutter < 3; stutter++) {
		stream(trace, format, stutter, stutter == 2 ? 1 : 1 << 20, &got);
		CHECK_MEM(got.start, out_len(&got), want.start, out_len(&want));
		out_release(&got);
	}
	out_release(&want);
	trace_free(trace);
}

TEST(flow_of_events_is_what_report_prints)
{
	check_file("tests/fixtures/golden/6.12-events-sched.dat", "ftrace");
	check_file("tests/fixtures/golden/6.1-rt-event-stacktrace.dat", "ftrace");
}

TEST(flow_of_a_function_graph_is_what_report_prints)
{
	check_file("tests/fixtures/golden/6.12-function_graph.dat", "ftrace");
	check_file("tests/fixtures/golden/6.1-rt-function_graph.dat", "trace_pipe");
}

TEST(flow_of_json_is_what_report_prints)
{
	check_file("tests/fixtures/golden/6.12-events-syscalls.dat", "json");
}

/* Copies the lines that begin with the prefix, without the prefix. */
static void pick(const struct out *text, const char *prefix, struct out *ret)
{
	const char *at = text->start;
	size_t left = out_len(text), len = strlen(prefix);

	while (left) {
		const char *newline = memchr(at, '\n', left);
		size_t line = newline ? (size_t)(newline - at) + 1 : left;

		if (line > len && !memcmp(at, prefix, len))
			out_mem(ret, at + len, line - len);
		at += line;
		left -= line;
	}
}

/* The time in a line of the kernel's text, "... SECONDS.MICROSECONDS: ..."; false if the line has none. */
static bool time_of(const char *line, size_t len, double *ret)
{
	const char *end = line + len, *at = line;

	while ((at = memchr(at, ' ', (size_t)(end - at)))) {
		int colon = 0;

		at++;
		/* The end of the line also ends the text that sscanf() reads. */
		if (at < end && *at >= '0' && *at <= '9' && sscanf(at, "%lf:%n", ret, &colon) == 1 && colon &&
		    memchr(at, '.', (size_t)colon))
			return true;
	}
	return false;
}

/* Whether the times of the lines ascend. */
static bool in_order(struct out *text)
{
	const char *at = text->start;
	double time, last = 0;

	out_char(text, '\0');
	while (*at) {
		const char *newline = strchr(at, '\n');
		size_t len = newline ? (size_t)(newline - at) + 1 : strlen(at);

		if (time_of(at, len, &time)) {
			if (time < last)
				return false;
			last = time;
		}
		at += len;
	}
	text->at--;
	return last > 0;
}

/* Two buffers of the same file: `a` is as far ahead of `b` as it may be. */
static void stream_both(struct trace *trace, struct out *out)
{
	struct player players[2];
	struct live_times times = { .latest = 0 };
	struct source *live[2] = { NULL };
	struct scene scene;
	struct out scratch;

	scene_init(&scene, out);
	REQUIRE(out_init(&scratch, 0));
	scene.lanes.scratch = &scratch;
	for (unsigned i = 0; i < 2; i++) {
		REQUIRE(player_new(&players[i], trace, 2 * i, 1 << 20, &times, &live[i]));
		add_lane(&scene, trace, "ftrace", live[i]);
		scene.at[i].prefix = i ? "b: " : "a: ";
	}
	start(&scene);
	flow_begin(&scene.flow);
	for (unsigned rounds = 0; rounds < 1000; rounds++)
		for (unsigned i = 0; i < 2; i++) {
			if (!players[i].left)
				live_source_end(live[i]);
			CHECK(live_source_take(live[i], false, NULL, NULL) >= 0);
			CHECK(!run(&scene.flow));
		}
	CHECK(!flow_end(&scene.flow));
	scene_release(&scene);
	for (unsigned i = 0; i < 2; i++)
		player_release(&players[i]);
	out_release(&scratch);
}

static void check_both(const char *path, bool has_times)
{
	struct trace *trace = NULL;
	struct out want, got, picked;

	REQUIRE(!trace_open(path, &trace, NULL));
	print_file(trace, "ftrace", true, &want);
	stream_both(trace, &got);
	CHECK(!has_times || in_order(&got));
	for (unsigned i = 0; i < 2; i++) {
		REQUIRE(out_init(&picked, 0));
		pick(&got, i ? "b: " : "a: ", &picked);
		CHECK_MEM(picked.start, out_len(&picked), want.start, out_len(&want));
		out_release(&picked);
	}
	/* Every line has a prefix. */
	CHECK(out_len(&got) > 2 * out_len(&want));
	out_release(&got);
	out_release(&want);
	trace_free(trace);
}

TEST(flow_of_two_buffers_is_in_order_and_the_text_of_each_is_what_report_prints)
{
	check_both("tests/fixtures/golden/6.12-events-sched.dat", true);
	check_both("tests/fixtures/golden/6.1-rt-events-sched.dat", true);
}

TEST(flow_of_two_buffers_puts_the_prefix_in_front_of_each_line_of_an_event)
{
	check_both("tests/fixtures/golden/6.1-rt-event-stacktrace.dat", false);
	check_both("tests/fixtures/golden/6.12-function_graph.dat", false);
}
