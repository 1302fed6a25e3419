// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The calls that lasted longer than a time, below the ones that called them. A caller lasts at least as long as what it
 * calls, so it is among them, too, if its end is in the trace. Only the longest calls are kept: a heap has the shortest
 * of them on top.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/graph/graph.h"
#include "lib/answers/graph/graph_facts.h"
#include "lib/answers/graph/graph_stream_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"

enum { INDENT = 2, INDENT_MAX = 80 };

struct longer_call {
	uint64_t func, start, lasted, self, off;
	uint64_t root; /* when the outermost call of these began */
	int32_t depth; /* of the kernel; then of the table */
	int32_t pid;
	uint32_t cpu;
	char comm[TASK_COMM_LEN];
};

struct graph_longer_analysis {
	struct pass *pass;
	struct graph_longer_options options;
	struct roles roles;
	struct graph_stream stream;
	struct longer_call *calls;
	size_t nr;
	uint64_t found, longer;
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct graph_longer_analysis *graph = arg;

	graph->pass = pass;
	graph->options = *(const struct graph_longer_options *)options;
	roles_init(&graph->roles, graph_stream_roles);
	return true;
}

static void release(void *arg)
{
	struct graph_longer_analysis *graph = arg;

	free(graph->calls);
	graph_stream_release(&graph->stream);
	roles_release(&graph->roles);
}

/* Whether the call gives way to the other one: it is shorter, or as long and an inner one. */
static bool is_less(const struct longer_call *call, const struct longer_call *other)
{
	return call->lasted != other->lasted ? call->lasted < other->lasted : call->depth > other->depth;
}

static void swap(struct longer_call *a, struct longer_call *b)
{
	struct longer_call other = *a;

	*a = *b;
	*b = other;
}

static void rise(struct longer_call *calls, size_t at)
{
	for (; at && is_less(&calls[at], &calls[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&calls[at], &calls[(at - 1) / 2]);
}

static void sink(struct longer_call *calls, size_t nr)
{
	for (size_t at = 0, least; (least = 2 * at + 1) < nr; at = least) {
		least += least + 1 < nr && is_less(&calls[least + 1], &calls[least]);
		if (!is_less(&calls[least], &calls[at]))
			return;
		swap(&calls[least], &calls[at]);
	}
}

static void keep(struct graph_longer_analysis *graph, const struct longer_call *call)
{
	struct longer_call *place;

	if (graph->nr == graph->options.most) {
		if (is_less(&graph->calls[0], call)) {
			graph->calls[0] = *call;
			sink(graph->calls, graph->nr);
		}
		return;
	}
	place = vec_push(graph->calls, graph->nr);
	if (!place) {
		graph->pass->failed = true;
		return;
	}
	*place = *call;
	rise(graph->calls, graph->nr - 1);
}

static void end_call(struct graph_longer_analysis *graph, const struct call *call, const struct event *event)
{
	const struct state_task *task = graph_task(graph->pass, event);
	struct longer_call longer;

	if (!call->timed || (task && !pass_wants_since(graph->pass, task, call->start)) ||
	    !pass_wants_cpu(graph->pass, event->cpu))
		return;
	graph->found++;
	if (call->lasted <= graph->options.longer)
		return;
	graph->longer++;
	longer = (struct longer_call){ .func = call->func,
				       .start = call->start,
				       .lasted = call->lasted,
				       .self = call->lasted > call->nested ? call->lasted - call->nested : 0,
				       .off = graph_off_in(graph->pass, task, call),
				       .depth = call->depth,
				       .pid = event->pid,
				       .cpu = event->cpu };
	if (task)
		strncpy(longer.comm, pass_comm(graph->pass, task), sizeof(longer.comm) - 1);
	keep(graph, &longer);
}

static uint8_t look(void *arg, const struct event *event)
{
	struct graph_longer_analysis *graph = arg;

	return graph_stream_look(&graph->stream, graph->pass, &graph->roles, event);
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct graph_longer_analysis *graph = arg;
	struct call call;

	if (event->kind == EVENT_LOST)
		graph_stream_lose(&graph->stream, event);
	else if (graph_stream_see(&graph->stream, graph->pass, event, role == GRAPH_ENTRY, &call) > 0)
		end_call(graph, &call, event);
}

/* A task sleeps in a function and returns on another CPU; each CPU has an idle task of its own. */
static int compare_tasks(const struct longer_call *a, const struct longer_call *b)
{
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->pid || a->cpu == b->cpu ? 0 : a->cpu < b->cpu ? -1 : 1;
}

static int compare_starts(const struct longer_call *a, const struct longer_call *b)
{
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->depth < b->depth ? -1 : a->depth > b->depth;
}

static int by_task(const void *one, const void *two)
{
	return compare_tasks(one, two) ?: compare_starts(one, two);
}

static int by_root(const void *one, const void *two)
{
	const struct longer_call *a = one, *b = two;

	if (a->root != b->root)
		return a->root < b->root ? -1 : 1;
	return by_task(one, two);
}

/* Finds the outermost call of each one, and how deep it is below that. */
static bool nest(struct graph_longer_analysis *graph)
{
	int32_t *depths = calloc(graph->nr + 1, sizeof(*depths));
	size_t *open = calloc(graph->nr + 1, sizeof(*open)), nr = 0;

	for (size_t i = 0; depths && open && i < graph->nr; i++) {
		struct longer_call *call = &graph->calls[i];

		while (nr && (compare_tasks(&graph->calls[open[nr - 1]], call) ||
			      graph->calls[open[nr - 1]].start + graph->calls[open[nr - 1]].lasted <
				      call->start + call->lasted ||
			      graph->calls[open[nr - 1]].depth >= call->depth))
			nr--;
		call->root = nr ? graph->calls[open[nr - 1]].root : call->start;
		depths[i] = (int32_t)nr;
		open[nr++] = i;
	}
	for (size_t i = 0; depths && open && i < graph->nr; i++)
		graph->calls[i].depth = depths[i];
	free(depths);
	free(open);
	return depths && open;
}

enum { OF_SWITCHES = WHEN };

#define CALL_COLUMNS(X)                                                         \
	X("FROM", NUMBER, "since", 0, table_cell_moment, call->start)           \
	X("LASTED", TIME, NULL, 0, table_cell_u64, call->lasted)                \
	X("SELF", TIME, NULL, 0, table_cell_u64, call->self)                    \
	X("OFF-CPU", TIME, "off_cpu_ns", SPARE | OF_SWITCHES, table_cell_known, \
	  graph->pass->state.events[STATE_SWITCH], call->off)                   \
	X("CPU", NUMBER, NULL, 0, table_cell_u64, call->cpu)                    \
	X("PID", NUMBER, NULL, 0, table_cell_s64, call->pid)                    \
	X("TASK", TEXT, "comm", 0, table_cell, call->comm)                      \
	X("DEPTH", NUMBER, NULL, DATA, table_cell_s64, call->depth)             \
	X("FUNCTION", TEXT, NULL, DATA, table_cell, name)                       \
	X("FUNCTION", TEXT, "tree", TEXT_ONLY, table_cellf, "%*s%s", indent, "", name)

static const struct table_column columns[] = COLUMNS(CALL_COLUMNS);

static void put_call(const struct graph_longer_analysis *graph, struct table *table, const struct longer_call *call)
{
	int indent = call->depth > INDENT_MAX / INDENT ? INDENT_MAX : call->depth * INDENT;
	char name[GRAPH_NAME];

	graph_name(graph->stream.context, call->func, name, sizeof(name));
	CALL_COLUMNS(CELL)
}

static void put(struct graph_longer_analysis *graph, struct findings *findings)
{
	const char *title = graph->options.longer ? "the calls that lasted longer, below their callers" :
						    "the longest calls, below their callers";
	struct table *table = findings_table(findings, "longer", title, NULL, columns);
	struct calls_left left = calls_left(graph->stream.calls);
	char time[TEXT_HUMAN], longer[TEXT_HUMAN], found[TEXT_HUMAN];

	if (!table)
		return;
	findings_show(findings, OF_SWITCHES, graph->pass->state.events[STATE_SWITCH]);
	for (size_t i = 0; i < graph->nr; i++)
		put_call(graph, table, &graph->calls[i]);
	if (graph->options.longer)
		findings_note(findings, "longer than %s: %s of %s call%s%s", text_time(time, graph->options.longer),
			      text_count(longer, graph->longer), text_count(found, graph->found),
			      text_plural(graph->found),
			      graph->longer > graph->nr ? "; the table has the longest" : "");
	else
		findings_note(findings, "looked at: %s call%s", text_count(found, graph->found),
			      text_plural(graph->found));
	findings_cut(findings, left.open, "calls of functions open at the end");
	findings_broken(findings, left.lost, "calls of functions without their end");
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct graph_longer_analysis *graph = arg;

	if (graph->pass->failed || graph->roles.failed || (graph->stream.calls && calls_starved(graph->stream.calls)))
		return fail_memory(fail);
	if (!graph->stream.calls && !graph->pass->filter.shape)
		return PASS_NOTHING;
	if (graph->nr)
		qsort(graph->calls, graph->nr, sizeof(*graph->calls), by_task);
	if (!nest(graph))
		return fail_memory(fail);
	if (graph->nr)
		qsort(graph->calls, graph->nr, sizeof(*graph->calls), by_root);
	put(graph, findings);
	return 0;
}

const struct analysis_ops graph_longer_analysis = {
	.name = "graph",
	.summary = "show the calls that lasted longer than a time, below their callers",
	.wants = graph_wants,
	.nothing = "there is no function graph among the events",
	.recorded_by = "-p function_graph",
	.essential = 1,
	.tracer = "function_graph",
	.size = sizeof(struct graph_longer_analysis),
	.init = init,
	.look = look,
	.see = see,
	.finish = finish,
	.release = release,
};
