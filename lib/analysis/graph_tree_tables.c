// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/graph_tree_internal.h"

#include "lib/analysis/findings.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/uapi/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nodes show their depth as a number instead of branches. */
enum { BRANCHES_MAX = 40, BRANCH = 7 };

enum column { CALL, CALLS, INTERRUPTS, TOTAL, SELF, SHARE, DEPTH, FUNCTION, TREE, COLUMNS };

static const struct table_column columns[COLUMNS] = {
	[CALL] = { "CALL", TABLE_NUMBER, NULL },
	[CALLS] = { "CALLS", TABLE_COUNT, NULL },
	[INTERRUPTS] = { "INTERRUPTS", TABLE_COUNT, NULL },
	[TOTAL] = { "TOTAL", TABLE_TIME, NULL },
	[SELF] = { "SELF", TABLE_TIME, NULL },
	[SHARE] = { "%", TABLE_NUMBER, "total_percent" },
	[DEPTH] = { "DEPTH", TABLE_NUMBER, NULL },
	[FUNCTION] = { "FUNCTION", TABLE_TEXT, NULL },
	[TREE] = { "FUNCTION", TABLE_TEXT, "tree" },
};

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

static void put_name(const struct graph_tree_analysis *graph, struct table *table, const struct call_tree *tree,
		     const struct call_node *node)
{
	char name[GRAPH_NAME], branches[BRANCHES_MAX * BRANCH + 1];
	const char *mark = node->calls && node->interrupts == node->calls ? " (interrupt)" : "";
	size_t depth = depth_of(tree, node);

	name_node(graph, tree, node, name);
	table_cell_u64(table, depth);
	table_cell(table, name);
	if (depth <= BRANCHES_MAX)
		table_cellf(table, "%s%s%s", draw(graph, tree, node, branches, sizeof(branches)), name, mark);
	else
		table_cellf(table, "[%zu] %s%s", depth, name, mark);
}

static void put_node(const struct graph_tree_analysis *graph, struct table *table, const struct call_tree *tree,
		     const struct call_node *node, size_t call)
{
	uint64_t whole = tree->nodes[0].total;

	if (call)
		table_cell_u64(table, call);
	else
		table_cell_nothing(table);
	table_cell_u64(table, node->calls);
	table_cell_u64(table, node->interrupts);
	table_cell_u64(table, node->total);
	table_cell_u64(table, node->self);
	table_cell_percent(table, node->total, whole, 1);
	put_name(graph, table, tree, node);
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

static struct table *add_tree(struct findings *findings, const char *name, const char *title, uint32_t text_hidden)
{
	struct table *table = findings_table(findings, name, title, NULL, columns, COLUMNS);

	if (table) {
		table->data_only = 1 << INTERRUPTS | 1 << DEPTH | 1 << FUNCTION | text_hidden;
		table->text_only = 1 << TREE | (text_hidden & 1 << CALL);
	}
	return table;
}

static void put_limits(const struct graph_tree_analysis *graph, struct findings *findings, uint64_t small)
{
	struct calls_left left = calls_left(graph->stream.calls);

	if (small)
		findings_note(findings,
			      "%" PRIu64
			      " row%s with less than %u.%u %% of the time: left out here, not in JSON and CSV",
			      small, text_plural(small), graph->options.least / 10, graph->options.least % 10);
	if (graph->inner)
		findings_note(findings, "%" PRIu64 " call%s of %s inside another one of it: in the tree of that one",
			      graph->inner, text_plural(graph->inner), graph->options.function);
	findings_cut(findings, left.open, "calls of functions open at the end");
	findings_broken(findings, left.lost, "calls of functions without their end");
	if (graph->unpaired)
		findings_note(findings, "%" PRIu64 " call%s of %s without an entry in the file: in no tree",
			      graph->unpaired, text_plural(graph->unpaired), graph->options.function);
	if (!context_option(graph->stream.context, OPTION_SLEEP_TIME))
		findings_note(findings,
			      "the option sleep-time was off: times do not include the time that a task slept in the "
			      "function itself");
}

void graph_tree_put(struct graph_tree_analysis *graph, struct findings *findings)
{
	struct table *table = add_tree(findings, "callees",
				       "what it called: each line is called by its parent in the tree", 1 << CALL);
	uint64_t small = put_tree(graph, table, &graph->below, 0);

	table = add_tree(
		findings, "callers",
		"what called it: each line calls its parent in the tree; its times are those of the function when "
		"called this way",
		1 << CALL);
	small += put_tree(graph, table, &graph->above, 0);
	if (graph->pass->state.events[STATE_SWITCH])
		findings_note(findings, "of the total, %.1f %% was off the CPU",
			      graph->below.nodes[0].total ?
				      (double)graph->off / (double)graph->below.nodes[0].total * 100 :
				      0.0);
	put_limits(graph, findings, small);
}

enum slow { NUMBER, AT, UNTIL, LASTED, OWN, IRQ, OFF, RETURNED, ERROR, CPU, PID, TASK, SLOW };

static const struct table_column slow_columns[SLOW] = {
	[NUMBER] = { "CALL", TABLE_NUMBER, NULL },
	[AT] = { "FROM", TABLE_NUMBER, "since" },
	[UNTIL] = { "UNTIL", TABLE_NUMBER, NULL },
	[LASTED] = { "LASTED", TABLE_TIME, NULL },
	[OWN] = { "SELF", TABLE_TIME, NULL },
	[IRQ] = { "IRQ", TABLE_TIME, NULL },
	[OFF] = { "OFF-CPU", TABLE_TIME, "off_cpu_ns" },
	[RETURNED] = { "RETURNED", TABLE_TEXT, "retval" },
	[ERROR] = { "ERROR", TABLE_TEXT, NULL },
	[CPU] = { "CPU", TABLE_NUMBER, NULL },
	[PID] = { "PID", TABLE_NUMBER, NULL },
	[TASK] = { "TASK", TABLE_TEXT, "comm" },
};

static void put_slow(const struct graph_tree_analysis *graph, struct table *table, const struct graph_call *call,
		     size_t number)
{
	uint32_t error = call->has_retval ? graph_error(call->retval) : 0;
	const char *word = error ? error_name(graph->pass->machine, error) : NULL;

	table_cell_u64(table, number);
	table_cell_decimal(table, (int64_t)call->start, 9);
	table_cell_decimal(table, (int64_t)(call->start + call->lasted), 9);
	table_cell_u64(table, call->lasted);
	table_cell_u64(table, call->tree.nodes[0].self);
	table_cell_u64(table, call->interrupted);
	graph_number(table, graph->pass->state.events[STATE_SWITCH], call->off);
	if (!call->has_retval)
		table_cell_nothing(table);
	else if (error)
		table_cellf(table, "-%" PRIu32, error);
	else
		table_cellf(table, "0x%" PRIx64, call->retval);
	table_cell(table, word ? word : "");
	table_cell_u64(table, call->cpu);
	table_cell_s64(table, call->pid);
	table_cell(table, call->comm);
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
	struct worst worst = { .what = graph->titles[index],
			       .lasted = call->lasted,
			       .from = call->start,
			       .to = call->start + call->lasted,
			       .cpu = call->cpu,
			       .pid = call->pid };

	snprintf(graph->titles[index], GRAPH_NAME, "%zu, a call of %s", index + 1, graph->options.function);
	memcpy(worst.comm, call->comm, sizeof(worst.comm));
	findings_worst(findings, &worst);
}

void graph_slowest_put(struct graph_tree_analysis *graph, struct findings *findings)
{
	struct table *table = findings_table(findings, "calls", "the longest calls", NULL, slow_columns, SLOW);
	uint64_t small = 0;

	graph->titles = calloc(graph->nr_slowest, sizeof(*graph->titles));
	if (!graph->titles || !table) {
		findings->failed = true;
		return;
	}
	qsort(graph->slowest, graph->nr_slowest, sizeof(*graph->slowest), compare);
	table->data_only = 1 << UNTIL | (graph->stream.nr_retvals ? 0 : 1 << RETURNED | 1 << ERROR);
	table->data_only |= graph->pass->state.events[STATE_SWITCH] ? 0 : 1 << OFF;
	table->spare = 1 << IRQ | 1 << OFF | 1 << ERROR;
	for (size_t i = 0; i < graph->nr_slowest; i++)
		put_slow(graph, table, &graph->slowest[i], i + 1);
	table = add_tree(findings, "split", "what each of them did: each line is called by its parent in the tree", 0);
	for (size_t i = 0; i < graph->nr_slowest; i++) {
		small += put_tree(graph, table, &graph->slowest[i].tree, i + 1);
		tell_slow(graph, findings, i);
	}
	put_limits(graph, findings, small);
}
