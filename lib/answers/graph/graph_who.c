// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/graph/graph_facts.h"
#include "lib/answers/graph/graph_internal.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/calls.h"
#include "lib/meaning/follow/who.h"

/* The functions of tasks that belong together, summed up. Only own times add up. */

static enum who_part part_of(const struct graph_analysis *graph)
{
	return (enum who_part)(graph->options.by - GRAPH_BY_WHO);
}

static struct graph_group *group_of(struct graph_analysis *graph, const struct event *event)
{
	struct graph_group *group =
		u64_map_add(&graph->groups, who_is(event->type->context, part_of(graph), event->pid, event->ts, NULL));

	graph->pass->failed |= !group;
	return group;
}

void graph_who_call(struct graph_analysis *graph, const struct call *call, const struct event *event)
{
	struct graph_group *group = group_of(graph, event);

	if (!group)
		return;
	group->calls++;
	if (!group->longest_at || call->lasted > group->longest) {
		group->longest = call->lasted;
		group->longest_at = call->start + call->lasted;
		group->longest_function = graph_function(graph->stream.context, call->func);
	}
	if (!call->entered)
		return;
	group->entered++;
	group->self += call->lasted > call->nested ? call->lasted - call->nested : 0;
}

void graph_who_hits(struct graph_analysis *graph, uint64_t times, const struct event *event)
{
	struct graph_group *group = group_of(graph, event);

	if (group)
		group->hits += times;
}

#define WHO_COLUMNS(X)                                                                                  \
	X("WHO", TEXT, NULL, SAME, table_cell, pass_group_text(graph->pass, part, (uint32_t)who))       \
	X("PID", NUMBER, NULL, SAME, table_cell_known_s64, part == WHO_PROCESS && who, (int64_t)who)    \
	X("CALLS", COUNT, NULL, ADDS, table_cell_u64, group->calls)                                     \
	X("SELF", TIME, NULL, ADDS, table_cell_known, group->entered, group->self)                      \
	X("%", NUMBER, "self_percent", 0, table_cell_percent, group->self, group->entered ? all : 0, 2) \
	X("MAX", TIME, NULL, 0, table_cell_u64, group->longest)                                         \
	X("MAX AT", NUMBER, "max_at", SPARE, table_cell_moment, group->longest_at)                      \
	X("OF", TEXT, "max_function", 0, graph_put_name, graph->stream.context, group->longest_function)

static const struct table_column columns[] = COLUMNS(WHO_COLUMNS);

#define HIT_COLUMNS(X)                                                                               \
	X("WHO", TEXT, NULL, SAME, table_cell, pass_group_text(graph->pass, part, (uint32_t)who))    \
	X("PID", NUMBER, NULL, SAME, table_cell_known_s64, part == WHO_PROCESS && who, (int64_t)who) \
	X("HITS", COUNT, NULL, ADDS, table_cell_u64, group->hits)

static const struct table_column hit_columns[] = COLUMNS(HIT_COLUMNS);

static void put_calls(const struct graph_analysis *graph, enum who_part part, struct findings *findings)
{
	struct table *table = findings_table(findings, "groups",
					     "tasks together: how often they called functions, and how long these "
					     "themselves took",
					     "self", columns);
	const struct graph_group *group;
	uint64_t all = 0, who;

	if (!table)
		return;
	pass_group_head(findings, part, 0);
	for (size_t at = 0; (group = u64_map_next(&graph->groups, &at, &who));)
		all += group->self;
	for (size_t at = 0; (group = u64_map_next(&graph->groups, &at, &who));)
		if (group->calls) {
			WHO_COLUMNS(CELL)
		}
}

static void put_hits(const struct graph_analysis *graph, enum who_part part, struct findings *findings)
{
	struct table *table = findings_table(findings, "hits",
					     "tasks together: functions that were only counted, by the tracer function "
					     "or by probes",
					     "hits", hit_columns);
	const struct graph_group *group;
	uint64_t who;

	if (!table)
		return;
	pass_group_head(findings, part, 0);
	for (size_t at = 0; (group = u64_map_next(&graph->groups, &at, &who));)
		if (group->hits) {
			HIT_COLUMNS(CELL)
		}
}

void graph_put_who(const struct graph_analysis *graph, struct findings *findings)
{
	if (graph->stream.calls)
		put_calls(graph, part_of(graph), findings);
	if (graph->nr_hits)
		put_hits(graph, part_of(graph), findings);
}
