// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs any file through the whole of `weft report`, in each of a few shapes: decoding, binding, settling and printing.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "formats/render.h"
#include "formats/sink.h"
#include "formats/text_end.h"
#include "lib/ground/base/pool.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/latency_facts.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { EVENTS_MAX = 20000, BUFFERS_MAX = 4 };

static const struct shape {
	const char *format; /* NULL: ftrace */
	const char *options[4];
	bool raw;
	bool ahead;
	uint64_t tail; /* 0: all */
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

static void render_buffers(struct reader *reader, const struct shape *shape, struct pool *pool, int fd)
{
	const struct sink_options sink_options = { .raw = shape->raw };
	struct render_options options = { .limit = EVENTS_MAX, .pool = pool };
	const struct sink_ops *ops = sink_find(shape->format ? shape->format : "ftrace");
	struct sink *sinks[BUFFERS_MAX] = { NULL };
	uint64_t printed;
	int r = 0;

	for (size_t i = 0; !r && i < reader->nr_buffers; i++)
		r = ops->create(reader->buffers[i].context, &sink_options, &sinks[i], NULL);
	if (!r && shape->tail)
		(void)!reader_tail(reader, shape->tail, NULL);
	if (!r && !reader_start(reader, &(struct reader_options){ .pool = pool, .keep_blocks = true }, NULL))
		(void)!render(reader, sinks, &options, &(struct text_end){ .fd = fd }, &printed, NULL);
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (sinks[i])
			ops->free(sinks[i]);
}

static void report_file(struct trace *trace, const struct shape *shape, int fd)
{
	size_t buffers = trace_buffers(trace) < BUFFERS_MAX ? trace_buffers(trace) : BUFFERS_MAX;
	struct pool *pool = NULL;
	struct reader reader;

	reader_init(&reader);
	for (size_t i = 0; i < buffers; i++) {
		struct context *context;

		if (reader_add(&reader, trace, i, NULL))
			continue;
		context = reader.buffers[reader.nr_buffers - 1].context;
		for (size_t o = 0; o < array_size(shape->options) && shape->options[o]; o++)
			(void)!context_set_option(context, shape->options[o], NULL);
		if (context_option(context, OPTION_LATENCY_FORMAT))
			(void)!latency_facts_learn(context, NULL);
	}
	if (shape->ahead && pool_new(1, &pool, NULL))
		pool = NULL;
	if (reader.nr_buffers)
		render_buffers(&reader, shape, pool, fd);
	reader_release(&reader);
	pool_free(pool);
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
