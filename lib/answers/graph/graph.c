// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/graph/graph.h"

#include <errno.h>
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
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/graph_events.h"
#include "lib/meaning/follow/calls.h"

/*
 * How often each function was called and how long it took. lib/meaning/event/calls pairs entries and exits; this file
 * adds up the sums by function.
 */

enum role {
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

/* In a slice there are only events that tell nothing of their task but its PID, and only weft's own are not wanted. */
static inline bool wants(const struct graph_analysis *graph, const struct state_task *task, const struct event *event,
			 uint64_t since)
{
	const struct pass *pass = graph->pass;

	if (__builtin_expect(graph->slice != NULL, 0) && (pass->self_bits & pass_self_bit(event->pid)) &&
	    !pass->filter.self && pass_is_self(pass, event->pid))
		return false;
	return (!task || pass_wants_since(pass, task, since)) &&
	       (!pass->filter.cpus || pass_wants_cpu(pass, event->cpu));
}

static const char *comm_of(const struct graph_analysis *graph, const struct state_task *task, const struct event *event)
{
	if (graph->slice)
		return context_comm(graph->stream.context, event->pid, event->ts).text;
	return task ? pass_comm(graph->pass, task) : "";
}

static inline size_t recent_slot(uint64_t address)
{
	return (size_t)(address * 0x9e3779b97f4a7c15u >> (64 - GRAPH_RECENT_BITS));
}

struct graph_function *graph_function_at(struct graph_analysis *graph, uint64_t begin)
{
	uint32_t *id = u64_map_add(&graph->ids, begin);
	struct graph_function *function;

	if (id && !*id) {
		function = vec_push(graph->functions, graph->nr_functions);
		if (function) {
			function->address = begin;
			function->first = graph->slice ? graph->slice->number : 0;
			*id = (uint32_t)graph->nr_functions;
		}
	}
	if (!id || !*id) {
		graph->pass->failed = true;
		return NULL;
	}
	return &graph->functions[*id - 1];
}

/* Its symbol is looked for once: that takes longer than all else that is done for a call. */
static struct graph_function *find_function(struct graph_analysis *graph, uint64_t address, struct graph_recent *recent)
{
	uint32_t *id = u64_map_get(&graph->addresses, address);
	struct graph_function *function;

	if (!id) {
		graph->pass->failed = true;
		return NULL;
	}
	if (!*id) {
		function = graph_function_at(graph, graph_function(graph->stream.context, address));
		if (!function)
			return NULL;
		*id = (uint32_t)(function - graph->functions) + 1;
	}
	*recent = (struct graph_recent){ address, *id };
	return &graph->functions[*id - 1];
}

static inline struct graph_function *function_of(struct graph_analysis *graph, uint64_t address)
{
	struct graph_recent *recent = &graph->recent[recent_slot(address)];

	if (__builtin_expect(recent->address == address && recent->id, 1))
		return &graph->functions[recent->id - 1];
	return find_function(graph, address, recent);
}

void graph_expect(const struct graph_analysis *graph, uint64_t address)
{
	const struct graph_recent *recent = &graph->recent[recent_slot(address)];

	if (recent->address == address && recent->id) {
		__builtin_prefetch(&graph->functions[recent->id - 1], 1);
		__builtin_prefetch(&graph->functions[recent->id - 1].lasted.max, 1);
	}
}

struct graph_hits *graph_hits_at(struct graph_analysis *graph, uint64_t address)
{
	uint32_t *id = u64_map_add(&graph->hit_ids, address);
	struct graph_hits *hits = NULL;

	if (id && *id)
		hits = &graph->hits[*id - 1];
	else if (id)
		hits = vec_push(graph->hits, graph->nr_hits);
	if (!hits) {
		graph->pass->failed = true;
		return NULL;
	}
	if (!*id)
		*id = (uint32_t)graph->nr_hits;
	hits->address = address;
	return hits;
}

static void find_hit(struct graph_analysis *graph, uint64_t address, uint64_t times, struct graph_recent *recent)
{
	struct graph_hits *hits = graph_hits_at(graph, address);

	if (!hits)
		return;
	hits->count += times;
	*recent = (struct graph_recent){ address, (uint32_t)(hits - graph->hits) + 1 };
}

static inline void hit(struct graph_analysis *graph, uint64_t address, uint64_t times)
{
	struct graph_recent *recent = &graph->recent_hits[recent_slot(address)];

	if (__builtin_expect(recent->address == address && recent->id, 1))
		graph->hits[recent->id - 1].count += times;
	else
		find_hit(graph, address, times, recent);
}

static void see_error(struct graph_analysis *graph, struct graph_function *function, const struct call *call,
		      const struct event *event)
{
	uint64_t retval;
	uint32_t number = graph_stream_retval(&graph->stream, event, &retval) ? graph_error(retval) : 0;

	if (!number)
		return;
	function->errors++;
	graph->errors.number = graph->slice ? graph->slice->number : 0;
	graph->pass->failed |=
		!graph_errors_add(&graph->errors, (uint32_t)(function - graph->functions), number, call, event);
}

static void see_unentered(struct graph_analysis *graph, const struct call *call)
{
	if (call->timed && call->start < graph->pass->state.start)
		graph->cut++;
	else if (graph->pass->state.losses)
		graph->broken++;
	else if (call->timed)
		graph->unpaired++;
	else
		graph->cut++;
	if (graph->slice && call->timed && call->start < graph->slice->least)
		graph->slice->least = call->start;
}

/* Of several that lasted as long it is the first. In a slice, those that came first may be seen last. */
static inline bool is_longest(const struct graph_analysis *graph, const struct graph_function *function,
			      const struct call *call)
{
	if (!function->longest_at || call->lasted > function->lasted.max)
		return true;
	return graph->slice && call->lasted == function->lasted.max && graph->slice->number < function->longest_number;
}

static void see_longest(const struct graph_analysis *graph, struct graph_function *function, const struct call *call,
			const struct event *event, const struct state_task *task)
{
	if (!is_longest(graph, function, call))
		return;
	function->longest_at = call->start + call->lasted;
	function->longest_cpu = event->cpu;
	function->longest_pid = event->pid;
	function->longest_number = graph->slice ? graph->slice->number : 0;
	strncpy(function->longest_comm, comm_of(graph, task, event), sizeof(function->longest_comm) - 1);
}

static void see_repeats(struct graph_function *function, const struct repeats_found *repeats)
{
	function->total += repeats->outside.lasted - repeats->inside.lasted;
	function->interrupted += repeats->outside.interrupted - repeats->inside.interrupted;
	function->again += repeats->inside.calls - repeats->outside.calls;
}

void graph_see_call(struct graph_analysis *graph, const struct call *call, const struct event *event)
{
	const struct state_task *task = graph_task(graph->pass, event);
	struct graph_function *function;

	if (!wants(graph, task, event, call->timed ? call->start : UINT64_MAX))
		return;
	if (!call->entered)
		see_unentered(graph, call);
	if (!call->timed)
		return;
	function = function_of(graph, call->func);
	if (!function)
		return;
	if (graph->slice && graph->slice->number < function->first)
		function->first = graph->slice->number;
	if (graph->options.by >= GRAPH_BY_WHO)
		graph_who_call(graph, call, event);
	see_longest(graph, function, call, event, task);
	samples_add(&function->lasted, &graph->pass->budget, call->lasted);
	see_error(graph, function, call, event);
	if (call->again) {
		function->again++;
	} else {
		function->total += call->lasted;
		function->interrupted += call->interrupted;
		function->off += call->entered ? graph_off_in(graph->pass, task, call) : 0;
	}
	if (call->repeats.inside.calls || call->repeats.outside.calls)
		see_repeats(function, &call->repeats);
	if (!call->entered)
		return;
	function->entered++;
	function->self += call->lasted > call->nested ? call->lasted - call->nested : 0;
}

static void bind_hit(const struct event *event, enum role role, struct place *place)
{
	(void)place_find(place, event->type, role == PROBE ? "__probe_ip" : "ip");
}

void graph_see_hit(struct graph_analysis *graph, const struct event *event, uint8_t role)
{
	struct place probe, *place = &graph->at[role];
	uint64_t times;

	/* Each probe is an event type of its own. */
	if (role == PROBE) {
		place = &probe;
		bind_hit(event, PROBE, place);
	}
	graph->hits_context = event->type->context;
	if (!place->size || !wants(graph, graph_task(graph->pass, event), event, UINT64_MAX))
		return;
	times = role == REPEATS ? place_u64(&graph->repeats, event) : 1;
	hit(graph, place_u64(place, event), times);
	if (graph->options.by >= GRAPH_BY_WHO)
		graph_who_hits(graph, times, event);
}

static uint8_t look(void *arg, const struct event *event)
{
	struct graph_analysis *graph = arg;
	bool fresh;
	uint8_t role = roles_of(&graph->roles, event, &fresh);

	if (role == ENTRY || role == EXIT)
		graph_stream_begin(&graph->stream, graph->pass, event, role == EXIT);
	else if (role && role != PROBE)
		bind_hit(event, (enum role)role, &graph->at[role]);
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
			      "%" PRIu64
			      " call%s left out: the trace continues in the caller without an event for the end",
			      left.dropped, text_plural(left.dropped));
	if (graph->unpaired)
		findings_note(findings,
			      "%" PRIu64
			      " calls have a total time but no own time, because their entry is not in the file: "
			      "tracing_thresh leaves entries out",
			      graph->unpaired);
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
