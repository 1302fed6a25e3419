// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/graph_tree_internal.h"

#include "lib/analysis/findings.h"
#include "lib/base/fail.h"
#include "lib/base/near.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * The calls of one function: what they called, and who called them. While a call of the function is open, each frame of
 * lib/event/calls stores the number of its node in that call's tree. When the call ends, its tree is merged into the
 * tree of all calls. A call without an end is not counted.
 */

/* The outermost open call of the function in a task. */
struct instance {
	struct call_tree tree;
	uint64_t *callers; /* the nearest caller first */
	size_t nr_callers;
};

static bool init(void *arg, struct pass *pass, const void *options)
{
	struct graph_tree_analysis *graph = arg;

	graph->pass = pass;
	graph->options = *(const struct graph_tree_options *)options;
	roles_init(&graph->roles, graph_stream_roles);
	u64_map_init(&graph->wanted, sizeof(uint8_t));
	u64_map_init(&graph->open, sizeof(struct instance));
	return call_tree_begin(&graph->below, 0) && call_tree_begin(&graph->above, 0);
}

static void release(void *arg)
{
	struct graph_tree_analysis *graph = arg;
	struct instance *instance;
	uint64_t key;
	size_t at = 0;

	while ((instance = u64_map_next(&graph->open, &at, &key))) {
		call_tree_release(&instance->tree);
		free(instance->callers);
	}
	for (size_t i = 0; i < graph->nr_slowest; i++)
		call_tree_release(&graph->slowest[i].tree);
	free(graph->slowest);
	free(graph->titles);
	call_tree_release(&graph->below);
	call_tree_release(&graph->above);
	graph_stream_release(&graph->stream);
	u64_map_release(&graph->wanted);
	u64_map_release(&graph->open);
	roles_release(&graph->roles);
}

/* The name "ext4_sync" matches the symbol "ext4_sync [ext4]". */
static bool is_named(const struct graph_tree_analysis *graph, uint64_t address)
{
	char name[GRAPH_NAME];
	size_t len;

	graph_name(graph->stream.context, address, name, sizeof(name));
	len = strcspn(name, " ");
	return strlen(graph->options.function) == len && !memcmp(name, graph->options.function, len);
}

static bool is_wanted(struct graph_tree_analysis *graph, uint64_t address)
{
	uint8_t *known = u64_map_add(&graph->wanted, address);

	if (!known)
		return false;
	if (!*known)
		*known = is_named(graph, address) ? 1 : 2;
	return *known == 1;
}

static struct instance *instance_of(struct graph_tree_analysis *graph, const struct event *event)
{
	return u64_map_add(&graph->open, event->pid ? (uint32_t)event->pid : UINT64_C(1) << 32 | event->cpu);
}

/* Nobody called an interrupt: which function it hit is chance. */
static bool is_hit(const struct calls_frame *frame, const struct calls_frame *by)
{
	return by->within & (uint8_t)~frame->within & (EVENT_HARDIRQ | EVENT_NMI);
}

static bool add_caller(struct instance *instance, uint64_t func)
{
	uint64_t *caller = vec_push(instance->callers, instance->nr_callers);

	if (caller)
		*caller = func;
	return caller;
}

static bool find_callers(const struct graph_tree_analysis *graph, const struct event *event, struct calls_frame frame,
			 struct instance *instance)
{
	struct calls_frame caller;

	instance->nr_callers = 0;
	for (size_t back = 1; calls_frame(graph->stream.calls, event, back, &caller); back++) {
		if (is_hit(&caller, &frame))
			return add_caller(instance, CALL_TREE_INTERRUPT);
		if (!add_caller(instance, caller.func))
			return false;
		frame = caller;
	}
	return !frame.depth || add_caller(instance, CALL_TREE_NOT_SEEN);
}

static void enter(struct graph_tree_analysis *graph, const struct event *event)
{
	struct calls_frame frame, caller = { .word = NULL };
	struct instance *instance;
	uint32_t node;

	/* A call that is too deep has no frame: the frame on top belongs to another call and has its word set. */
	if (!calls_frame(graph->stream.calls, event, 0, &frame) || *frame.word)
		return;
	(void)calls_frame(graph->stream.calls, event, 1, &caller);
	if (!(caller.word && *caller.word) && !is_wanted(graph, frame.func))
		return;
	instance = instance_of(graph, event);
	if (instance && caller.word && *caller.word) {
		node = call_tree_child(&instance->tree, (uint32_t)(*caller.word - 1), frame.func);
		graph->pass->failed |= node == CALL_TREE_NONE;
		*frame.word = (uint64_t)node + 1;
		return;
	}
	if (instance && call_tree_begin(&instance->tree, 0) && find_callers(graph, event, frame, instance))
		*frame.word = 1;
	else
		graph->pass->failed = true;
}

static void sum_callers(struct graph_tree_analysis *graph, const struct instance *instance)
{
	const struct call_node *root = &instance->tree.nodes[0];
	uint32_t node = 0;

	for (size_t i = 0; node != CALL_TREE_NONE; i++) {
		struct call_node *sum = &graph->above.nodes[node];

		sum->calls++;
		sum->total += root->total;
		sum->self += root->self;
		if (i == instance->nr_callers)
			return;
		node = call_tree_child(&graph->above, node, instance->callers[i]);
	}
	graph->pass->failed = true;
}

/*
 * Returns the place for a call among the longest: a new place, or the place of the shortest one. NULL: the call is not
 * among them.
 */
static struct graph_call *slow_place(struct graph_tree_analysis *graph, uint64_t lasted)
{
	struct graph_call *least = NULL;

	if (graph->nr_slowest < graph->options.slowest) {
		least = vec_push(graph->slowest, graph->nr_slowest);
		graph->pass->failed |= !least;
		return least;
	}
	for (size_t i = 0; i < graph->nr_slowest; i++)
		if (!least || graph->slowest[i].lasted <= least->lasted)
			least = &graph->slowest[i];
	return least && lasted > least->lasted ? least : NULL;
}

static void keep_slow(struct graph_tree_analysis *graph, const struct call *call, const struct event *event,
		      struct call_tree *tree)
{
	const struct state_task *task = graph_task(graph->pass, event);
	struct graph_call *slow = slow_place(graph, call->lasted);
	struct call_tree old;

	if (!slow)
		return;
	old = slow->tree;
	*slow = (struct graph_call){ .tree = *tree,
				     .start = call->start,
				     .lasted = call->lasted,
				     .interrupted = call->interrupted,
				     .off = graph_off_in(graph->pass, task, call),
				     .cpu = event->cpu,
				     .pid = event->pid };
	slow->has_retval = graph_stream_retval(&graph->stream, event, &slow->retval);
	if (task)
		strncpy(slow->comm, pass_comm(graph->pass, task), sizeof(slow->comm) - 1);
	*tree = old;
}

static void end_instance(struct graph_tree_analysis *graph, const struct call *call, const struct event *event,
			 struct instance *instance)
{
	const struct state_task *task = graph_task(graph->pass, event);

	if ((task && !pass_wants_since(graph->pass, task, call->start)) || !pass_wants_cpu(graph->pass, event->cpu))
		return;
	call_tree_settle(&instance->tree);
	graph->off += graph_off_in(graph->pass, task, call);
	sum_callers(graph, instance);
	if (!call_tree_merge(&graph->below, &instance->tree))
		graph->pass->failed = true;
	if (graph->options.slowest)
		keep_slow(graph, call, event, &instance->tree);
}

static void end_call(struct graph_tree_analysis *graph, const struct call *call, const struct event *event)
{
	struct instance *instance;
	struct call_node *node;

	if (!call->word) {
		graph->unpaired += !call->entered && call->timed && is_wanted(graph, call->func);
		return;
	}
	instance = instance_of(graph, event);
	if (!instance || !call->timed || call->word > instance->tree.nr)
		return;
	node = &instance->tree.nodes[call->word - 1];
	node->calls++;
	node->total += call->lasted;
	node->self += call->lasted > call->nested ? call->lasted - call->nested : 0;
	node->interrupts += call->interrupts;
	if (call->word == 1)
		end_instance(graph, call, event, instance);
	else
		graph->inner += is_wanted(graph, call->func);
}

static uint8_t look(void *arg, const struct event *event)
{
	struct graph_tree_analysis *graph = arg;

	return graph_stream_look(&graph->stream, graph->pass, &graph->roles, event);
}

static void see(void *arg, const struct event *event, uint8_t role)
{
	struct graph_tree_analysis *graph = arg;
	struct call call;
	int ended;

	if (event->kind == EVENT_LOST) {
		graph_stream_lose(&graph->stream, event);
		return;
	}
	ended = graph_stream_see(&graph->stream, graph->pass, event, role == GRAPH_ENTRY, &call);
	if (ended > 0)
		end_call(graph, &call, event);
	else if (!ended && role == GRAPH_ENTRY)
		enter(graph, event);
}

static int no_such_function(const struct graph_tree_analysis *graph, struct fail *fail)
{
	struct near near = near_to(graph->options.function);
	char name[GRAPH_NAME];
	uint64_t address;
	bool seen = false;
	uint8_t *known;
	size_t at = 0;

	while ((known = u64_map_next(&graph->wanted, &at, &address))) {
		graph_name(graph->stream.context, address, name, sizeof(name));
		near_offer_as(&near, name, name);
		seen |= *known == 1;
	}
	if (seen)
		return fail_set(fail, -ENODATA, "the file has no complete call of %s, from entry to return",
				graph->options.function);
	return near_fail(&near, fail, -ENODATA, "the file has no call of '%s'", graph->options.function);
}

static int finish(void *arg, struct findings *findings, struct fail *fail)
{
	struct graph_tree_analysis *graph = arg;

	if (graph->pass->failed || graph->roles.failed || graph->wanted.starved || graph->open.starved ||
	    (graph->stream.calls && calls_starved(graph->stream.calls)))
		return fail_memory(fail);
	if (!graph->stream.calls)
		return pass_nothing(graph->pass, &graph_tree_analysis, "there is no function graph among the events",
				    "-p function_graph", fail);
	if (!graph->below.nodes[0].calls)
		return no_such_function(graph, fail);
	if (graph->options.slowest)
		graph_slowest_put(graph, findings);
	else
		graph_tree_put(graph, findings);
	return 0;
}

const struct analysis_ops graph_tree_analysis = {
	.name = "graph",
	.summary = "show what one function called and what called it",
	.wants = graph_wants,
	.essential = 1,
	.tracer = "function_graph",
	.option = "funcgraph-retval",
	.size = sizeof(struct graph_tree_analysis),
	.init = init,
	.look = look,
	.see = see,
	.finish = finish,
	.release = release,
};
