// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/graph/graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/graph/graph_errors_internal.h"
#include "lib/answers/graph/graph_facts.h"
#include "lib/answers/graph/graph_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/graph_events.h"
#include "lib/meaning/follow/calls.h"

/*
 * How often each function was called and how long it took. lib/meaning/follow/calls pairs entries and exits,
 * graph_sums.c adds up the sums by function, and this file makes the tables.
 */

enum {
	ENTRY = GRAPH_ROLE_ENTRY,
	EXIT = GRAPH_ROLE_EXIT,
	HIT = GRAPH_ROLE_HIT,
	PROBE = GRAPH_ROLE_PROBE,
	REPEATS = GRAPH_ROLE_REPEATS
};

static const struct role_name names[] = {
	GRAPH_EVENTS(ENTRY, EXIT), { "ftrace", "function", HIT }, { "ftrace", "func_repeats", REPEATS },
	{ "kprobes", "*", PROBE }, { "fprobes", "*", PROBE },     { NULL, NULL, 0 },
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct graph_analysis *graph = arg;

	graph->pass = pass;
	if (options)
		graph->options = *(const struct row_options *)options;
	roles_init(&graph->roles, names);
	u64_map_init(&graph->ids, sizeof(uint32_t));
	u64_map_init(&graph->hit_ids, sizeof(uint32_t));
	u64_map_init(&graph->addresses, sizeof(uint32_t));
	u64_map_init(&graph->groups, sizeof(struct graph_group));
	graph_errors_init(&graph->errors);
	return true;
}

static void release(void *arg)
{
	struct graph_analysis *graph = arg;

	for (size_t i = 0; i < graph->nr_functions; i++)
		samples_release(&graph->functions[i].lasted);
	free(graph->functions);
	free(graph->hits);
	graph_stream_release(&graph->stream);
	u64_map_release(&graph->ids);
	u64_map_release(&graph->hit_ids);
	u64_map_release(&graph->addresses);
	u64_map_release(&graph->groups);
	u64_map_release(&graph->errors.map);
	roles_release(&graph->roles);
}

static uint8_t look(void *arg, const struct event *event)
{
	struct graph_analysis *graph = arg;
	bool fresh;
	uint8_t role = roles_of(&graph->roles, event, &fresh);

	if (role == ENTRY || role == EXIT)
		graph_stream_begin(&graph->stream, graph->pass, event, role == EXIT);
	else if (role && role != PROBE)
		(void)place_find(&graph->at[role], event->type, "ip");
	if (role == REPEATS)
		(void)place_find(&graph->repeats, event->type, "count");
	return role;
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct graph_analysis *graph = arg;
	struct call call;
	int ended;

	if (event->kind == EVENT_LOST) {
		graph_stream_lose(&graph->stream, event);
		return;
	}
	if (role == ENTRY || role == EXIT) {
		call.func = 0;
		ended = graph_stream_see(&graph->stream, graph->pass, event, role == ENTRY, &call);
		if (ended > 0)
			graph_see_call(graph, &call, event);
		else if (!ended && role == ENTRY)
			graph_expect(graph, call.func);
		return;
	}
	graph_see_hit(graph, event, role);
}

enum { OF_RETVALS = WHEN, OF_SWITCHES = WHEN << 1 };

#define FUNCTION_COLUMNS(X)                                                                                   \
	X("FUNCTION", TEXT, NULL, BRIEF | SAME, graph_put_name, graph->stream.context, function->address)     \
	X("CALLS", COUNT, NULL, BRIEF | ADDS, table_cell_u64, function->lasted.count)                         \
	X("RECURSIVE", COUNT, NULL, DATA | ADDS, table_cell_u64, function->again)                             \
	X("TOTAL", TIME, NULL, BRIEF | ADDS, table_cell_u64, function->total)                                 \
	X("SELF", TIME, NULL, BRIEF | ADDS, table_cell_known, function->entered, function->self)              \
	X("IRQ", TIME, NULL, ADDS | SPARE, table_cell_known, function->entered, function->interrupted)        \
	X("OFF-CPU", TIME, "off_cpu_ns", ADDS | OF_SWITCHES, table_cell_known, function->entered && switches, \
	  function->off)                                                                                      \
	X("ERRORS", COUNT, NULL, DATA | ADDS | OF_RETVALS, table_cell_known, graph->stream.nr_retvals,        \
	  function->errors)                                                                                   \
	SPREAD(X, "", "", SPARE, 0, BRIEF, lasted)                                                            \
	X("MAX AT", NUMBER, "max_at", BRIEF | SPARE, table_cell_moment, function->longest_at)                 \
	X("CPU", NUMBER, "max_cpu", DATA, table_cell_u64, function->longest_cpu)                              \
	X("PID", NUMBER, "max_pid", DATA, table_cell_s64, function->longest_pid)                              \
	X("TASK", TEXT, "max_comm", DATA, table_cell, function->longest_comm)

static const struct table_column columns[] = COLUMNS(FUNCTION_COLUMNS);

static void put_functions(struct graph_analysis *graph, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "functions",
			       "functions: how often each was called, how long it took with and without those "
			       "that it called",
			       "self", columns);
	bool switches = graph->pass->state.events[STATE_SWITCH];
	const struct graph_function *longest = NULL;
	char name[96], what[128];

	for (size_t i = 0; table && i < graph->nr_functions; i++) {
		const struct graph_function *function = &graph->functions[i];
		struct percentiles lasted = percentiles_of(&function->lasted);

		table_attach(table, &function->lasted);
		FUNCTION_COLUMNS(CELL)
		if (!longest || function->lasted.max > longest->lasted.max)
			longest = function;
	}
	if (!table || !longest)
		return;
	findings_show(findings, OF_RETVALS, graph->stream.nr_retvals);
	findings_show(findings, OF_SWITCHES, switches);
	graph_name(graph->stream.context, longest->address, name, sizeof(name));
	snprintf(what, sizeof(what), "call, of %s", name);
	struct worst worst = { .what = what,
			       .lasted = longest->lasted.max,
			       .from = longest->longest_at - longest->lasted.max,
			       .to = longest->longest_at,
			       .cpu = longest->longest_cpu,
			       .pid = longest->longest_pid };
	memcpy(worst.comm, longest->longest_comm, sizeof(worst.comm));
	findings_worst(findings, &worst);
}

/* The errors refer to functions by index: this fills in their addresses and counts. */
static void tell_functions(struct graph_analysis *graph)
{
	struct graph_error *error;
	uint64_t key;
	size_t at = 0;

	graph->errors.known = graph->stream.nr_retvals;
	graph->errors.context = graph->stream.context;
	while ((error = u64_map_next(&graph->errors.map, &at, &key))) {
		error->func = graph->functions[error->function].address;
		error->of = graph->functions[error->function].lasted.count;
	}
}

#define HIT_COLUMNS(X)                                                                               \
	X("FUNCTION", TEXT, NULL, SAME, graph_put_name, graph->hits_context, graph->hits[i].address) \
	X("HITS", COUNT, NULL, ADDS, table_cell_u64, graph->hits[i].count)

static const struct table_column hit_columns[] = COLUMNS(HIT_COLUMNS);

static void put_hits(const struct graph_analysis *graph, struct findings *findings)
{
	struct table *table =
		graph->nr_hits ? findings_table(findings, "hits",
						"functions that were only counted, by the tracer function or by probes",
						"hits", hit_columns) :
				 NULL;

	for (size_t i = 0; table && i < graph->nr_hits; i++) {
		HIT_COLUMNS(CELL)
	}
}

static void put_limits(const struct graph_analysis *graph, struct findings *findings)
{
	struct calls_left left = calls_left(graph->stream.calls);
	const struct context *context = graph->stream.context;

	findings_cut(findings, graph->cut, "calls entered before the start");
	findings_cut(findings, left.open, "calls open at the end");
	findings_broken(findings, graph->broken, "calls without their entry");
	findings_broken(findings, left.lost, "calls without their end");
	if (left.dropped)
		findings_note(findings,
			      "%s call%s left out: the trace continues in the caller without an event for the end",
			      text_count((char[TEXT_HUMAN]){ 0 }, left.dropped), text_plural(left.dropped));
	if (graph->unpaired)
		findings_note(findings,
			      "%s calls have a total time but no own time, because their entry is not in the file: "
			      "tracing_thresh leaves entries out",
			      text_count((char[TEXT_HUMAN]){ 0 }, graph->unpaired));
	if (!context_option(context, OPTION_SLEEP_TIME))
		findings_note(findings,
			      "the option sleep-time was off: times do not include the time that a task slept in the "
			      "function itself");
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct graph_analysis *graph = arg;

	if (graph->pass->failed || graph->roles.failed || (graph->stream.calls && calls_starved(graph->stream.calls)))
		return fail_memory(fail);
	if (!graph->stream.calls && !graph->nr_hits && !graph->pass->filter.shape)
		return PASS_NOTHING;
	tell_functions(graph);
	if ((graph->stream.calls || graph->pass->filter.shape) && graph->options.by == GRAPH_BY_ERRNO)
		graph->pass->failed |= !graph_errors_put_numbers(&graph->errors, graph->pass, findings);
	if ((graph->stream.calls || graph->pass->filter.shape) && graph->options.by == GRAPH_BY_FUNCTION) {
		put_functions(graph, findings);
		graph_errors_put(&graph->errors, graph->pass, findings);
	}
	if (graph->options.by == GRAPH_BY_MODULE)
		graph->pass->failed |= !graph_put_modules(graph, findings);
	if (graph->options.by >= GRAPH_BY_WHO)
		graph_put_who(graph, findings);
	if (graph->stream.calls)
		put_limits(graph, findings);
	if (graph->options.by == GRAPH_BY_FUNCTION)
		put_hits(graph, findings);
	return graph->pass->failed ? fail_memory(fail) : 0;
}

static void divide(void *arg)
{
	struct graph_analysis *graph = arg;

	graph_stream_divide(&graph->stream, graph->pass);
}

static void carry(void *arg, void *before)
{
	graph_stream_carry(&((struct graph_analysis *)arg)->stream, &((struct graph_analysis *)before)->stream);
}

static const char *const by[] = { [GRAPH_BY_FUNCTION] = "function",
				  [GRAPH_BY_ERRNO] = "errno",
				  [GRAPH_BY_MODULE] = "module",
				  [GRAPH_BY_WHO] = WHO_WORDS,
				  NULL };

const struct analysis_ops graph_analysis = {
	.name = "graph",
	.summary = "show which functions were called, how long they took and what they returned",
	.columns = columns,
	.by = by,
	.wants = graph_wants,
	.nothing = "there are no functions among the events",
	.recorded_by = "-p function_graph",
	.essential = 1,
	.tracer = "function_graph",
	.option = "funcgraph-retval",
	.in_summary = true,
	.shares = &graph_shares,
	.can_share = graph_can_share,
	.size = sizeof(struct graph_analysis),
	.init = init,
	.look = look,
	.see = see,
	.divide = divide,
	.carry = carry,
	.finish = finish,
	.release = release,
};
