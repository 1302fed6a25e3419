// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mirrors kernel/trace/trace.c: tracing_open_pipe(), tracing_read_pipe(), and the pipe_open() of
 * kernel/trace/trace_mmiotrace.c: the text of trace_pipe. It is that of `trace` without its frame, and with a line for
 * each gap.
 */
#include "formats/kernel/ftrace.h"

#include "formats/kernel/renderers_internal.h"
#include "formats/sinks.h"
#include "lib/ground/base/out.h"

static const struct cpu_stats *stats_of(const struct context *context, uint16_t cpu)
{
	for (size_t i = 0; i < context->nr_stats; i++)
		if (context->stats[i].cpu == cpu)
			return &context->stats[i];
	return NULL;
}

/*
 * A page that is full has no room for the number of events lost before it. For the first page of a buffer that nobody
 * had read from, the kernel's counter of this CPU has it.
 */
static void count_lost(const struct context *context, struct event *event)
{
	const struct cpu_stats *stats;

	if (event->lost > 0 || !event->first || !context->frozen)
		return;
	stats = stats_of(context, event->cpu);
	if (stats && !stats->read && stats->overrun)
		event->lost = (int64_t)stats->overrun;
}

/* mmio_read(): all overwritten events are reported first, then the PCI devices, which no file contains. */
static void begin_mmiotrace(const struct context *context, struct out *out)
{
	out_str(out, "VERSION 20070824\n");
	if (context->written > context->entries)
		out_f(out, "MARK 0.000000 Lost %llu events.\n",
		      (unsigned long long)(context->written - context->entries));
}

static int pipe_new(const struct context *context, const struct sink_options *options, struct sink **ret,
		    struct fail *fail)
{
	return ftrace_new_reader(&trace_pipe_sink, context, options, ret, fail);
}

static void pipe_begin(struct sink *sink, struct out *out)
{
	const struct ftrace *ftrace = (const struct ftrace *)sink;

	if (ftrace->tracer == &mmiotrace_tracer)
		begin_mmiotrace(ftrace->context, out);
}

static bool pipe_settle(struct sink *sink, struct events *events, struct event *event)
{
	if (event->kind != EVENT_LOST)
		return ftrace_sink.settle(sink, events, event);
	count_lost(sink->context, event);
	return true;
}

static void pipe_pass_over(struct sink *sink, const struct event *event)
{
	ftrace_sink.pass_over(sink, event);
}

static void pipe_format(const struct sink *sink, const struct event *event, struct out *out)
{
	ftrace_sink.format(sink, event, out);
}

static void pipe_free(struct sink *sink)
{
	ftrace_sink.free(sink);
}

const struct sink_ops trace_pipe_sink = {
	.name = "trace_pipe",
	.summary = "the text of the kernel's trace_pipe: no header, a line for each gap",
	.columns = true,
	.create = pipe_new,
	.free = pipe_free,
	.begin = pipe_begin,
	.settle = pipe_settle,
	.pass_over = pipe_pass_over,
	.format = pipe_format,
};
