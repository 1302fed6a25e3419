// SPDX-License-Identifier: GPL-2.0-only
#include "formats/flow.h"

#include "formats/sink.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/event/context.h"
#include "lib/event/events.h"
#include "lib/stream/file_source.h"
#include "lib/stream/live_source.h"
#include "lib/stream/source.h"
#include "lib/trace/trace.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

/* Whatever is streamed while it happens has the bytes that report prints of a file with the same pages. */
enum { CPUS_MAX = 8 };

/* The pages of a recorded buffer, which come one after the other. */
struct player {
	struct source *file;
	struct block *block[CPUS_MAX];
	size_t at[CPUS_MAX];
	unsigned stutter;               /* each CPU has nothing that often before each of its pages */
	unsigned silent[CPUS_MAX];
	size_t left;                    /* CPUs that have not ended */
	bool ended[CPUS_MAX];
};

static int play(void *arg, size_t cpu, void *into, struct fail *fail)
{
	struct player *player = arg;
	size_t size = player->file->shape.size;
	struct block *block = player->block[cpu];

	/* CPUs are out of step with each other. */
	if (player->silent[cpu]++ < player->stutter + cpu)
		return 0;
	player->silent[cpu] = 0;
	if (block && player->at[cpu] == block->len) {
		source_release(player->file, block);
		block = NULL;
	}
	if (!block) {
		player->at[cpu] = 0;
		if (player->ended[cpu] || player->file->ops->next(player->file, cpu, &block, fail) <= 0) {
			player->left -= !player->ended[cpu];
			player->ended[cpu] = true;
			player->block[cpu] = NULL;
			return 0;
		}
	}
	player->block[cpu] = block;
	memcpy(into, block->data + player->at[cpu], size);
	player->at[cpu] += size;
	return 1;
}

static int run(struct flow *flow)
{
	int r = 1;

	while (r > 0)
		r = flow_run(flow, out_len(flow->out) + 512, NULL);
	return r;
}

static bool open_lane(struct context *context, const char *format, struct source *source, struct flow_lane *lane)
{
	struct events_options options = { .until = UINT64_MAX, .source = source };
	struct sink_options sink_options = { .raw = false };

	*lane = (struct flow_lane){ .prefix = NULL };
	return !sink_find(format)->new(context, &sink_options, &lane->sink, NULL) &&
	       !events_open(context, &options, &lane->events, NULL);
}

static void close_lane(struct flow_lane *lane)
{
	events_free(lane->events);
	if (lane->sink)
		lane->sink->ops->free(lane->sink);
}

static bool begin(struct context *context, const char *format, struct source *source, struct out *out,
		  struct flow_lane *lane, struct flow *flow)
{
	*flow = (struct flow){ .lanes = lane, .nr_lanes = 1, .out = out, .limit = UINT64_MAX };
	return out_init(out, 0) && open_lane(context, format, source, lane);
}

static void stream(struct trace *trace, struct context *context, const char *format, unsigned stutter, size_t queue_max,
		   struct out *out)
{
	struct player player = { .stutter = stutter };
	struct live_options options = { .feed = { .read = play, .arg = &player }, .queue_max = queue_max };
	struct source *live = NULL;
	struct flow_lane lane;
	struct flow flow;

	REQUIRE(!file_source_new(trace, 0, NULL, &player.file, NULL));
	REQUIRE(player.file->nr_cpus <= CPUS_MAX);
	player.left = options.nr_cpus = player.file->nr_cpus;
	options.shape = player.file->shape;
	options.cpus = player.file->cpus;
	REQUIRE(!live_source_new(&options, &live, NULL));
	REQUIRE(begin(context, format, live, out, &lane, &flow));
	while (player.left) {
		REQUIRE(live_source_take(live, false, NULL, NULL) >= 0);
		events_resume(lane.events);
		CHECK(!run(&flow));
	}
	/* Whatever is queued still is taken now; each CPU says once more that it has nothing. */
	live_source_end(live);
	for (unsigned i = 0; i < 1000; i++) {
		CHECK(live_source_take(live, false, NULL, NULL) >= 0);
		events_resume(lane.events);
		CHECK(!run(&flow));
	}
	close_lane(&lane);
	for (size_t i = 0; i < CPUS_MAX; i++)
		if (player.block[i])
			source_release(player.file, player.block[i]);
	source_free(player.file);
}

static void check_file(const char *path, const char *format)
{
	struct trace *trace = NULL;
	struct context *context = NULL;
	struct out want, got;
	struct flow_lane lane;
	struct flow flow;

	REQUIRE(!trace_open(path, &trace, NULL));
	REQUIRE(!context_new(trace, 0, &context, NULL));
	REQUIRE(begin(context, format, NULL, &want, &lane, &flow));
	CHECK(!run(&flow));
	CHECK(out_len(&want) > 1000);
	close_lane(&lane);
	for (unsigned stutter = 0; stutter < 3; stutter++) {
		stream(trace, context, format, stutter, stutter == 2 ? 1 : 1 << 20, &got);
		CHECK_MEM(got.start, out_len(&got), want.start, out_len(&want));
		out_release(&got);
	}
	out_release(&want);
	context_free(context);
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

/* What begins with the prefix, without it. */
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

/* The time in a line of the kernel's, "... SECONDS.MICROSECONDS: ..."; false in one that has none. */
static bool time_of(const char *line, size_t len, double *ret)
{
	const char *end = line + len, *at = line;

	while ((at = memchr(at, ' ', (size_t)(end - at)))) {
		int colon = 0;

		at++;
		/* A line ends, and so does what sscanf() reads. */
		if (at < end && *at >= '0' && *at <= '9' && sscanf(at, "%lf:%n", ret, &colon) == 1 && colon &&
		    memchr(at, '.', (size_t)colon))
			return true;
	}
	return false;
}

/* Whether no line's time is before that of a line in front of it. */
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

/* Two buffers, each of the same file: `a` ahead of `b` as far as it may be. */
static void stream_both(struct trace *trace, struct context *context, struct out *out)
{
	struct player players[2] = { { .stutter = 0 }, { .stutter = 2 } };
	struct live_times times = { .latest = 0 };
	struct source *live[2] = { NULL };
	struct flow_lane lanes[2];
	struct out scratch;
	struct flow flow = { .lanes = lanes, .nr_lanes = 2, .out = out, .scratch = &scratch, .limit = UINT64_MAX };

	REQUIRE(out_init(out, 0) && out_init(&scratch, 0));
	for (unsigned i = 0; i < 2; i++) {
		struct live_options options = { .feed = { .read = play, .arg = &players[i] }, .queue_max = 1 << 20, .times = &times };

		REQUIRE(!file_source_new(trace, 0, NULL, &players[i].file, NULL));
		REQUIRE(players[i].file->nr_cpus <= CPUS_MAX);
		players[i].left = options.nr_cpus = players[i].file->nr_cpus;
		options.shape = players[i].file->shape;
		options.cpus = players[i].file->cpus;
		REQUIRE(!live_source_new(&options, &live[i], NULL));
		REQUIRE(open_lane(context, "ftrace", live[i], &lanes[i]));
		lanes[i].prefix = i ? "b: " : "a: ";
	}
	flow_begin(&flow);
	for (unsigned rounds = 0; rounds < 1000; rounds++)
		for (unsigned i = 0; i < 2; i++) {
			if (!players[i].left)
				live_source_end(live[i]);
			CHECK(live_source_take(live[i], false, NULL, NULL) >= 0);
			events_resume(lanes[i].events);
			CHECK(!run(&flow));
		}
	flow_end(&flow);
	for (unsigned i = 0; i < 2; i++) {
		close_lane(&lanes[i]);
		for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
			if (players[i].block[cpu])
				source_release(players[i].file, players[i].block[cpu]);
		source_free(players[i].file);
	}
	out_release(&scratch);
}

static void check_both(const char *path, bool has_times)
{
	struct trace *trace = NULL;
	struct context *context = NULL;
	struct out want, got, picked;
	struct flow_lane lane;
	struct flow flow;

	REQUIRE(!trace_open(path, &trace, NULL));
	REQUIRE(!context_new(trace, 0, &context, NULL));
	REQUIRE(begin(context, "ftrace", NULL, &want, &lane, &flow));
	flow_begin(&flow);
	CHECK(!run(&flow));
	flow_end(&flow);
	close_lane(&lane);
	stream_both(trace, context, &got);
	CHECK(!has_times || in_order(&got));
	for (unsigned i = 0; i < 2; i++) {
		REQUIRE(out_init(&picked, 0));
		pick(&got, i ? "b: " : "a: ", &picked);
		CHECK_MEM(picked.start, out_len(&picked), want.start, out_len(&want));
		out_release(&picked);
	}
	/* No line without a prefix. */
	CHECK(out_len(&got) > 2 * out_len(&want));
	out_release(&got);
	out_release(&want);
	context_free(context);
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
