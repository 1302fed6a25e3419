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

static bool begin(struct context *context, const char *format, struct source *source, struct out *out, struct flow *flow)
{
	struct events_options options = { .until = UINT64_MAX, .source = source };
	struct sink_options sink_options = { .raw = false };

	*flow = (struct flow){ .out = out, .limit = UINT64_MAX };
	return out_init(out, 0) && !sink_find(format)->new(context, &sink_options, &flow->sink, NULL) &&
	       !events_open(context, &options, &flow->events, NULL);
}

static void end(struct flow *flow)
{
	events_free(flow->events);
	if (flow->sink)
		flow->sink->ops->free(flow->sink);
}

static void stream(struct trace *trace, struct context *context, const char *format, unsigned stutter, size_t queue_max,
		   struct out *out)
{
	struct player player = { .stutter = stutter };
	struct live_options options = { .feed = { .read = play, .arg = &player }, .queue_max = queue_max };
	struct source *live = NULL;
	struct flow flow;

	REQUIRE(!file_source_new(trace, 0, NULL, &player.file, NULL));
	REQUIRE(player.file->nr_cpus <= CPUS_MAX);
	player.left = options.nr_cpus = player.file->nr_cpus;
	options.shape = player.file->shape;
	options.cpus = player.file->cpus;
	REQUIRE(!live_source_new(&options, &live, NULL));
	REQUIRE(begin(context, format, live, out, &flow));
	while (player.left) {
		REQUIRE(live_source_take(live, false, NULL, NULL) >= 0);
		events_resume(flow.events);
		CHECK(!run(&flow));
	}
	/* Whatever is queued still is taken now; each CPU says once more that it has nothing. */
	live_source_end(live);
	for (unsigned i = 0; i < 1000; i++) {
		CHECK(live_source_take(live, false, NULL, NULL) >= 0);
		events_resume(flow.events);
		CHECK(!run(&flow));
	}
	end(&flow);
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
	struct flow flow;

	REQUIRE(!trace_open(path, &trace, NULL));
	REQUIRE(!context_new(trace, 0, &context, NULL));
	REQUIRE(begin(context, format, NULL, &want, &flow));
	CHECK(!run(&flow));
	CHECK(out_len(&want) > 1000);
	end(&flow);
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
