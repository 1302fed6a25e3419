// SPDX-License-Identifier: LGPL-2.1-or-later
/* The sums by function: what each call, and each hit without a duration, adds to them. */
#include "lib/answers/graph/graph_internal.h"

#include <string.h>

#include "lib/answers/frame/pass.h"
#include "lib/answers/graph/graph_facts.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/calls.h"

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

void graph_see_hit(struct graph_analysis *graph, const struct event *event, uint8_t role)
{
	struct place probe, *place = &graph->at[role];
	uint64_t times;

	/* Each probe is an event type of its own. */
	if (role == GRAPH_ROLE_PROBE) {
		place = &probe;
		(void)place_find(place, event->type, "__probe_ip");
	}
	graph->hits_context = event->type->context;
	if (!place->size || !wants(graph, graph_task(graph->pass, event), event, UINT64_MAX))
		return;
	times = role == GRAPH_ROLE_REPEATS ? place_u64(&graph->repeats, event) : 1;
	hit(graph, place_u64(place, event), times);
	if (graph->options.by >= GRAPH_BY_WHO)
		graph_who_hits(graph, times, event);
}
