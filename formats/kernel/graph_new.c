// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_functions_graph.c: the options of the tracer, and init_graph_trace(). */
#include "formats/kernel/graph.h"

#include "formats/kernel/ftrace.h"
#include "lib/base/fail.h"
#include "lib/base/memo.h"
#include "lib/event/buffers.h"
#include "lib/event/context.h"
#include "lib/event/imported.h"

#include <stdlib.h>

static uint8_t cpu_width(const struct context *context)
{
	uint32_t last = context->online_cpus ? context->online_cpus - 1 : 0;
	uint8_t width = 1;

	for (size_t i = 0; i < context->nr_stats; i++) {
		if (context->stats[i].cpu > last)
			last = context->stats[i].cpu;
	}
	for (; last >= 10; last /= 10)
		width++;
	return width;
}

int graph_new(const struct ftrace *ftrace, struct graph **ret, struct fail *fail)
{
	const struct context *context = ftrace->context;
	struct graph *graph = calloc(1, sizeof(*graph));

	if (!graph)
		return fail_memory(fail);
	graph->info = ftrace_option(ftrace, OPTION_CONTEXT_INFO);
	graph->latency = ftrace_option(ftrace, OPTION_LATENCY_FORMAT);
	graph->cpu = ftrace_option(ftrace, OPTION_FGRAPH_CPU);
	graph->proc = ftrace_option(ftrace, OPTION_FGRAPH_PROC);
	graph->overhead = ftrace_option(ftrace, OPTION_FGRAPH_OVERHEAD);
	graph->old_marks = ftrace->columns.old_marks;
	graph->duration = ftrace_option(ftrace, OPTION_FGRAPH_DURATION);
	graph->abstime = ftrace_option(ftrace, OPTION_FGRAPH_ABSTIME);
	graph->relative = imported_graph_is_relative(context);
	graph->irqs = ftrace_option(ftrace, OPTION_FGRAPH_IRQS);
	graph->tail = ftrace_option(ftrace, OPTION_FGRAPH_TAIL);
	graph->overrun = ftrace_option(ftrace, OPTION_FGRAPH_OVERRUN);
	graph->retval = ftrace_option(ftrace, OPTION_FGRAPH_RETVAL);
	graph->retval_hex = ftrace_option(ftrace, OPTION_FGRAPH_RETVAL_HEX);
	graph->retaddr = ftrace_option(ftrace, OPTION_FGRAPH_RETADDR);
	graph->names_retval = context_knows(context, 6, 13);
	graph->nanoseconds = ftrace->options.nanoseconds;
	graph->cpu_width = cpu_width(context);
	graph->usual = graph->info && graph->cpu && graph->overhead && !graph->old_marks && graph->duration &&
		       !graph->proc && !graph->abstime && !graph->relative && !graph->latency && !graph->tail &&
		       !graph->overrun && !graph->retval && !graph->retaddr;
	graph->nr_seam = buffers_own_cpus(context);
	graph->names = memo_new();
	*ret = graph;
	return 0;
}

void graph_free(struct graph *graph)
{
	if (!graph)
		return;
	free(graph->cpus);
	free(graph->names);
	free(graph);
}
