// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/graph/graph_tree_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/uapi/names.h"

/* Deeper nodes show their depth as a number instead of branches. */
enum { BRANCHES_MAX = 40, BRANCH = 7 };

enum { OF_CALLS = WHEN };

#define NODE_COLUMNS(X)                                                                              \
	X("CALL", NUMBER, NULL, OF_CALLS, put_number, call)                                          \
	X("CALLS", COUNT, NULL, 0, table_cell_u64, node->calls)                                      \
	X("INTERRUPTS", COUNT, NULL, DATA, table_cell_u64, node->interrupts)                         \
	X("TOTAL", TIME, NULL, 0, table_cell_u64, node->total)                                       \
	X("SELF", TIME, NULL, 0, table_cell_u64, node->self)                                         \
	X("%", NUMBER, "total_percent", 0, table_cell_percent, node->total, tree->nodes[0].total, 1) \
	X("DEPTH", NUMBER, NULL, DATA, table_cell_u64, depth)                                        \
	X("FUNCTION", TEXT, NULL, DATA, table_cell, name)                                            \
	X("FUNCTION", TEXT, "tree", TEXT_ONLY, put_branch, graph, tree, node, depth, name)

static const struct table_column columns[] = COLUMNS(NODE_COLUMNS);

static const char *const glyphs[2][4] = {
	{ "\342\224\234\342\224\200 ", "\342\224\224\342\224\200 ", "\342\224\202  ", "   " },
	{ "|- ", "`- ", "|  ", "   " },
};

static const struct call_node *node_at(const struct call_tree *tree, uint32_t node)
{
	return node == CALL_TREE_NONE ? NULL : &tree->nodes[node];
}

static bool is_shown(const struct graph_tree_analysis *graph, const struct call_tree *tree,
		     const struct call_node *node)
{
	return node && (double)node->total * 1000 >= (double)graph->options.least * (double)tree->nodes[0].total;
}

static size_t depth_of(const struct call_tree *tree, const struct call_node *node)
{
	size_t depth = 0;

	while ((node = node_at(tree, node->parent)))
		depth++;
	return depth;
}

/* Draws branches such as "|  `- " from right to left. Returns where they begin. */
static const char *draw(const struct graph_tree_analysis *graph, const struct call_tree *tree,
			const struct call_node *node, char text[], size_t size)
{
	const char *const *of = glyphs[graph->options.ascii];
	char *at = text + size - 1;
	bool end = true;

	*at = '\0';
	for (; node->parent != CALL_TREE_NONE; node = node_at(tree, node->parent)) {
		bool more = is_shown(graph, tree, node_at(tree, node->next));
		const char *glyph = end ? of[!more] : of[more ? 2 : 3];

		at -= strlen(glyph);
		memcpy(at, glyph, strlen(glyph));
		end = false;
	}
	return at;
}

static void name_node(const struct graph_tree_analysis *graph, const struct call_tree *tree,
		      const struct call_node *node, char name[GRAPH_NAME])
{
	if (node == tree->nodes)
		snprintf(name, GRAPH_NAME, "%s", graph->options.function);
	else if (node->func == CALL_TREE_INTERRUPT)
		snprintf(name, GRAPH_NAME, "[an interrupt]");
	else if (node->func == CALL_TREE_NOT_SEEN)
		snprintf(name, GRAPH_NAME, "[entered before the start]");
	else
		graph_name(graph->stream.context, node->func, name, GRAPH_NAME);
}

/* The number of a call from 1 on; 0: the row is of none. */
static void put_number(struct table *table, size_t call)
{
	if (call)
		table_cell_u64(table, call);
	else
		table_cell_nothing(table);
}

static void put_branch(struct table *table, const struct graph_tree_analysis *graph, const struct call_tree *tree,
		       const struct call_node *node, size_t depth, const char *name)
{
	const char *mark = node->calls && node->interrupts == node->calls ? " (interrupt)" : "";
	char branches[BRANCHES_MAX * BRANCH + 1];

	if (depth <= BRANCHES_MAX)
		table_cellf(table, "%s%s%s", draw(graph, tree, node, branches, sizeof(branches)), name, mark);
	else
		table_cellf(table, "[%zu] %s%s", depth, name, mark);
}

static void put_node(const struct graph_tree_analysis *graph, struct table *table, const struct call_tree *tree,
		     const struct call_node *node, size_t call)
{
	size_t depth = depth_of(tree, node);
	char name[GRAPH_NAME];

	name_node(graph, tree, node, name);
	NODE_COLUMNS(CELL)
}

/* Returns the number of rows that were too small and left out. */
static uint64_t put_tree(struct graph_tree_analysis *graph, struct table *table, struct call_tree *tree, size_t call)
{
	uint64_t left = tree->nr;
	bool shown;

	if (!table || !call_tree_sort(tree, CALL_TREE_BY_TOTAL)) {
		graph->pass->failed = true;
		return 0;
	}
	for (uint32_t at = 0; at != CALL_TREE_NONE; at = call_tree_next(tree, at, shown)) {
		shown = is_shown(graph, tree, &tree->nodes[at]);
		if (!shown)
			continue;
		put_node(graph, table, tree, &tree->nodes[at], call);
		left--;
	}
	return left;
}

static void put_limits(const struct graph_tree_analysis *graph, struct findings *findings, uint64_t small)
{
	struct calls_left left = calls_left(graph->stream.calls);

	if (small)
		findings_note(findings,
			      "%s row%s with less than %u.%u %% of the time: left out here, not in JSON and CSV",
			      text_count((char[TEXT_HUMAN]){ 0 }, small), text_plural(small), graph->options.least / 10,
			      graph->options.least % 10);
	if (graph->inner)
		findings_note(findings, "%s call%s of %s inside another one of it: in the tree of that one",
			      text_count((char[TEXT_HUMAN]){ 0 }, graph->inner), text_plural(graph->inner),
			      graph->options.function);
	findings_cut(findings, left.open, "calls of functions open at the end");
	findings_broken(findings, left.lost, "calls of functions without their end");
	if (graph->unpaired)
		findings_note(findings, "%s call%s of %s without an entry in the file: in no tree",
			      text_count((char[TEXT_HUMAN]){ 0 }, graph->unpaired), text_plural(graph->unpaired),
			      graph->options.function);
	if (!context_option(graph->stream.context, OPTION_SLEEP_TIME))
		findings_note(findings,
			      "the option sleep-time was off: times do not include the time that a task slept in the "
			      "function itself");
}

/* With --slowest, --top is the number of calls, and no tree is cut. */
static void settle_tree(const struct graph_tree_analysis *graph, struct findings *findings)
{
	findings_flag(findings, OF_CALLS, DATA | TEXT_ONLY, true);
	if (!graph->options.slowest)
		findings_ordered(findings);
}

void graph_tree_put(struct graph_tree_analysis *graph, struct findings *findings)
{
	struct table *table =
		findings_table(findings, "callees", "what it called: each line is called by its parent in the tree",
			       NULL, columns);
	uint64_t small = put_tree(graph, table, &graph->below, 0);

	settle_tree(graph, findings);
	table = findings_table(
		findings, "callers",
		"what called it: each line calls its parent in the tree; its times are those of the function when "
		"called this way",
		NULL, columns);
	small += put_tree(graph, table, &graph->above, 0);
	settle_tree(graph, findings);
	if (graph->pass->state.events[STATE_SWITCH])
		findings_note(findings, "of the total, %.1f %% was off the CPU",
			      graph->below.nodes[0].total ?
				      (double)graph->off / (double)graph->below.nodes[0].total * 100 :
				      0.0);
	put_limits(graph, findings, small);
}

enum { OF_SWITCHES = WHEN, OF_RETVALS = WHEN << 1 };

#define CALL_COLUMNS(X)                                                               \
	X("CALL", NUMBER, NULL, 0, table_cell_u64, number)                            \
	X("FROM", NUMBER, "since", 0, table_cell_moment, call->start)                 \
	X("UNTIL", NUMBER, NULL, DATA, table_cell_moment, call->start + call->lasted) \
	X("LASTED", TIME, NULL, 0, table_cell_u64, call->lasted)                      \
	X("SELF", TIME, NULL, 0, table_cell_u64, call->tree.nodes[0].self)            \
	X("IRQ", TIME, NULL, SPARE, table_cell_u64, call->interrupted)                \
	X("OFF-CPU", TIME, "off_cpu_ns", SPARE | OF_SWITCHES, table_cell_known,       \
	  graph->pass->state.events[STATE_SWITCH], call->off)                         \
	X("RETURNED", TEXT, "retval", OF_RETVALS, put_returned, call, error)          \
	X("ERROR", TEXT, NULL, SPARE | OF_RETVALS, table_cell, word ? word : "")      \
	X("CPU", NUMBER, NULL, 0, table_cell_u64, call->cpu)                          \
	X("PID", NUMBER, NULL, 0, table_cell_s64, call->pid)                          \
	X("TASK", TEXT, "comm", 0, table_cell, call->comm)

static const struct table_column call_columns[] = COLUMNS(CALL_COLUMNS);

static void put_returned(struct table *table, const struct graph_call *call, uint32_t error)
{
	if (!call->has_retval)
		table_cell_nothing(table);
	else if (error)
		table_cellf(table, "-%" PRIu32, error);
	else
		table_cellf(table, "0x%" PRIx64, call->retval);
}

static void put_call(const struct graph_tree_analysis *graph, struct table *table, const struct graph_call *call,
		     size_t number)
{
	uint32_t error = call->has_retval ? graph_error(call->retval) : 0;
	const char *word = error ? error_name(graph->pass->machine, error) : NULL;

	CALL_COLUMNS(CELL)
}

/* Orders calls: the longest first; of equally long ones, the earliest first. */
static int compare(const void *one, const void *two)
{
	const struct graph_call *a = one, *b = two;

	if (a->lasted != b->lasted)
		return a->lasted > b->lasted ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static void tell_slow(struct graph_tree_analysis *graph, struct findings *findings, size_t index)
{
	const struct graph_call *call = &graph->slowest[index];
	char what[GRAPH_NAME];
	struct worst worst = { .what = what,
			       .lasted = call->lasted,
			       .from = call->start,
			       .to = call->start + call->lasted,
			       .cpu = call->cpu,
			       .pid = call->pid };

	snprintf(what, sizeof(what), "%zu, a call of %s", index + 1, graph->options.function);
	memcpy(worst.comm, call->comm, sizeof(worst.comm));
	findings_worst(findings, &worst);
}

void graph_slowest_put(struct graph_tree_analysis *graph, struct findings *findings)
{
	struct table *table = findings_table(findings, "calls", "the longest calls", NULL, call_columns);
	uint64_t small = 0;

	if (!table)
		return;
	qsort(graph->slowest, graph->nr_slowest, sizeof(*graph->slowest), compare);
	findings_show(findings, OF_RETVALS, graph->stream.nr_retvals);
	findings_show(findings, OF_SWITCHES, graph->pass->state.events[STATE_SWITCH]);
	for (size_t i = 0; i < graph->nr_slowest; i++)
		put_call(graph, table, &graph->slowest[i], i + 1);
	table = findings_table(findings, "split",
			       "what each of them did: each line is called by its parent in the tree", NULL, columns);
	for (size_t i = 0; i < graph->nr_slowest; i++) {
		small += put_tree(graph, table, &graph->slowest[i].tree, i + 1);
		tell_slow(graph, findings, i);
	}
	put_limits(graph, findings, small);
}

/*
 * The calls of one function: what they called, and who called them. While a call of the function is open, each frame of
 * lib/meaning/follow/calls stores the number of its node in that call's tree. When the call ends, its tree is merged
 * into the tree of all calls. A call without an end is not counted.
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
	if (!graph->stream.calls && !graph->pass->filter.shape)
		return PASS_NOTHING;
	if (!graph->pass->filter.shape && !graph->below.nodes[0].calls)
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
	.nothing = "there is no function graph among the events",
	.recorded_by = "-p function_graph",
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
