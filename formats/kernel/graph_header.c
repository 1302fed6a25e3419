// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_functions_graph.c: the legend of the columns. */
#include "formats/kernel/graph.h"

#include "formats/kernel/ftrace.h"
#include "formats/kernel/header_internal.h"
#include "lib/base/out.h"

#include <stddef.h>

struct legend {
	size_t option;  /* offset of a bool in struct graph */
	unsigned width; /* the width that print_lat_header() reserves for it */
	const char *first, *second;
};

static const struct legend legends[] = {
	{ offsetof(struct graph, abstime), 16, "     TIME       ", "      |         " },
	{ offsetof(struct graph, relative), 16, "   REL TIME     ", "      |         " },
	{ offsetof(struct graph, cpu), 4, " CPU", " |  " },
	{ offsetof(struct graph, proc), 17, "  TASK/PID       ", "   |    |        " },
	{ offsetof(struct graph, latency), 0, "||||   ", "||||   " },
	{ offsetof(struct graph, duration), 0, "  DURATION   ", "   |   |      " },
};

static bool shown(const struct graph *graph, const struct legend *legend)
{
	return *(const bool *)((const char *)graph + legend->option);
}

static void latency_flags(const struct graph *graph, struct out *out)
{
	static const char *const lines[] = {
		"  _-----=> irqs-off        \n", " / _----=> need-resched    \n", "| / _---=> hardirq/softirq \n",
		"|| / _--=> preempt-depth   \n", "||| /                      \n",
	};
	unsigned width = 0;

	for (size_t i = 0; i < array_size(legends); i++) {
		if (shown(graph, &legends[i]))
			width += legends[i].width;
	}
	for (size_t i = 0; i < array_size(lines); i++) {
		out_char(out, '#');
		out_fill(out, ' ', width);
		out_str(out, lines[i]);
	}
}

void graph_header(const struct ftrace *ftrace, struct out *out)
{
	const struct graph *graph = ftrace->graph;

	if (!graph->info || (graph->latency && !header_latency(ftrace, out)))
		return;
	if (graph->latency)
		latency_flags(graph, out);
	out_char(out, '#');
	for (size_t i = 0; i < array_size(legends); i++) {
		if (shown(graph, &legends[i]))
			out_str(out, legends[i].first);
	}
	out_str(out, "               FUNCTION CALLS\n#");
	for (size_t i = 0; i < array_size(legends); i++) {
		if (shown(graph, &legends[i]))
			out_str(out, legends[i].second);
	}
	out_str(out, "               |   |   |   |\n");
}
