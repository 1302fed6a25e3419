// SPDX-License-Identifier: GPL-2.0-only
/* Any file through the whole of `weft report`: decoding, binding, settling and printing, in each of a few shapes. */
#include "formats/render.h"
#include "formats/sink.h"
#include "lib/base/fail.h"
#include "lib/base/pool.h"
#include "lib/event/context.h"
#include "lib/event/events.h"
#include "lib/query/tail.h"
#include "lib/trace/trace.h"

#include <fcntl.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { EVENTS_MAX = 20000, BUFFERS_MAX = 4 };

static const struct shape {
	const char *format;             /* NULL: ftrace */
	const char *options[4];
	bool raw;
	bool ahead;
	uint64_t tail;                  /* 0: all */
} shapes[] = {
	{ .options = { NULL } },
	{ .options = { "funcgraph-proc", "funcgraph-abstime", "funcgraph-tail", "nofuncgraph-irqs" } },
	{ .options = { "sym-offset", "verbose", "funcgraph-retval", "funcgraph-overrun" } },
	{ .options = { "fields", "nocontext-info" } },
	{ .options = { "latency-format", "funcgraph-proc" } },
	{ .options = { "latency-format", "verbose", "funcgraph-abstime" } },
	{ .options = { "blk_classic", "nofuncgraph-duration" }, .raw = true },
	{ .options = { NULL }, .ahead = true },
	{ .options = { "latency-format" }, .tail = 5 },
	{ .options = { "raw", "sym-userobj" } },
	{ .options = { "hex" } },
	{ .options = { "bin" } },
	{ .format = "trace_pipe", .options = { "latency-format" } },
	{ .format = "pretty" },
	{ .format = "json" },
};

static void report(struct context *context, const struct shape *shape, int fd)
{
	struct sink_options sink_options = { .raw = shape->raw };
	struct render_options options = { .limit = EVENTS_MAX };
	struct events_options events_options = { .until = UINT64_MAX, .keep_blocks = true };
	const struct sink_ops *ops = sink_find(shape->format ? shape->format : "ftrace");
	struct events *events = NULL;
	struct fail fail = FAIL_INIT;
	struct sink *sink = NULL;
	struct pool *pool = NULL;
	struct tail tail = { 0 };
	uint64_t printed;

	if (shape->ahead && !pool_new(1, &pool, NULL))
		events_options.pool = options.pool = pool;
	if (shape->tail && !tail_find(context, &events_options, shape->tail, NULL, NULL, &tail, &fail)) {
		events_options.since = tail.since;
		options.skip = tail.skip;
	}
	for (size_t i = 0; i < array_size(shape->options) && shape->options[i]; i++)
		(void)!context_set_option(context, shape->options[i], &fail);
	if (!ops->new(context, &sink_options, &sink, &fail) && !events_open(context, &events_options, &events, &fail))
		(void)!render(events, sink, &options, fd, &printed, &fail);
	events_free(events);
	pool_free(pool);
	if (sink)
		ops->free(sink);
}

static void report_file(struct trace *trace, const struct shape *shape, int fd)
{
	size_t buffers = trace_buffers(trace) < BUFFERS_MAX ? trace_buffers(trace) : BUFFERS_MAX;

	for (size_t i = 0; i < buffers; i++) {
		struct context *context = NULL;

		if (!context_new(trace, i, &context, NULL))
			report(context, shape, fd);
		context_free(context);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	cleanup_fd int file = memfd_create("report", 0), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct trace *trace = NULL;

	if (file < 0 || null < 0 || !len || write(file, data, len) != (ssize_t)len)
		return 0;
	if (!trace_open_fd(file, "fuzz", &trace, NULL))
		report_file(trace, &shapes[data[len - 1] % array_size(shapes)], null);
	trace_free(trace);
	return 0;
}
