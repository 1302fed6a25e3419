// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/graph/graph_facts.h"
#include "lib/answers/graph/graph_internal.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/names/symbols.h"

/* The functions of each module, summed up. Only own times add up: a call into a module contains those of others. */

struct module {
	uint64_t functions, calls, entered, self, hits;
	const struct graph_function *longest; /* borrowed: the function of the longest call; NULL: no call has ended */
};

struct modules {
	struct labels names;
	struct module *items; /* by label */
	size_t nr;
};

/* The module of a function at this address; NULL without memory. */
static struct module *module_of(struct modules *modules, const struct context *context, uint64_t address)
{
	struct symbol symbol = { .module = NULL };
	bool known = symbols_find(context->symbols, address, &symbol), is_new;
	const char *name = symbol.module ? symbol.module : known ? "kernel" : "unknown";
	uint32_t label = labels_add(&modules->names, name, symbol.module ? symbol.module_len : strlen(name), &is_new);

	if (label == LABEL_NONE || (label == modules->nr && !vec_push(modules->items, modules->nr)))
		return NULL;
	return &modules->items[label];
}

static bool add_functions(struct modules *modules, const struct graph_analysis *graph)
{
	for (size_t i = 0; i < graph->nr_functions; i++) {
		const struct graph_function *function = &graph->functions[i];
		struct module *module = module_of(modules, graph->stream.context, function->address);

		if (!module)
			return false;
		module->functions++;
		module->calls += function->lasted.count;
		module->entered += function->entered;
		module->self += function->self;
		if (!module->longest || function->lasted.max > module->longest->lasted.max)
			module->longest = function;
	}
	return true;
}

static bool add_hits(struct modules *modules, const struct graph_analysis *graph)
{
	for (size_t i = 0; i < graph->nr_hits; i++) {
		struct module *module = module_of(modules, graph->hits_context, graph->hits[i].address);

		if (!module)
			return false;
		module->functions++;
		module->hits += graph->hits[i].count;
	}
	return true;
}

#define MODULE_COLUMNS(X)                                                                                 \
	X("MODULE", TEXT, NULL, SAME, table_cell, name)                                                   \
	X("FUNCTIONS", COUNT, NULL, 0, table_cell_u64, module->functions)                                 \
	X("CALLS", COUNT, NULL, ADDS, table_cell_u64, module->calls)                                      \
	X("SELF", TIME, NULL, ADDS, table_cell_known, module->entered, module->self)                      \
	X("%", NUMBER, "self_percent", 0, table_cell_percent, module->self, module->entered ? all : 0, 2) \
	X("MAX", TIME, NULL, 0, table_cell_u64, module->longest->lasted.max)                              \
	X("MAX AT", NUMBER, "max_at", SPARE, table_cell_moment, module->longest->longest_at)              \
	X("OF", TEXT, "max_function", 0, graph_put_name, graph->stream.context, module->longest->address)

static const struct table_column columns[] = COLUMNS(MODULE_COLUMNS);

#define HIT_COLUMNS(X)                                                    \
	X("MODULE", TEXT, NULL, SAME, table_cell, name)                   \
	X("FUNCTIONS", COUNT, NULL, 0, table_cell_u64, module->functions) \
	X("HITS", COUNT, NULL, ADDS, table_cell_u64, module->hits)

static const struct table_column hit_columns[] = COLUMNS(HIT_COLUMNS);

static void put_called(const struct modules *modules, const struct graph_analysis *graph, struct findings *findings)
{
	struct table *table = findings_table(findings, "modules",
					     "modules: how often their functions were called, and how long they "
					     "themselves took",
					     "self", columns);
	uint64_t all = 0;

	for (size_t i = 0; i < modules->nr; i++)
		all += modules->items[i].self;
	for (size_t i = 0; table && i < modules->nr; i++) {
		const struct module *module = &modules->items[i];
		const char *name = modules->names.at[i].text;

		MODULE_COLUMNS(CELL)
	}
}

static void put_hit(const struct modules *modules, struct findings *findings)
{
	struct table *table = findings_table(findings, "hits",
					     "modules of functions that were only counted, by the tracer function or "
					     "by probes",
					     "hits", hit_columns);

	for (size_t i = 0; table && i < modules->nr; i++) {
		const struct module *module = &modules->items[i];
		const char *name = modules->names.at[i].text;

		HIT_COLUMNS(CELL)
	}
}

/* Sums up either the functions with times or the hits, and adds their table. */
static bool put(const struct graph_analysis *graph, bool hits, struct findings *findings)
{
	struct modules modules = { .nr = 0 };
	bool ok;

	labels_init(&modules.names);
	ok = hits ? add_hits(&modules, graph) : add_functions(&modules, graph);
	if (ok && hits)
		put_hit(&modules, findings);
	else if (ok)
		put_called(&modules, graph, findings);
	labels_release(&modules.names);
	free(modules.items);
	return ok;
}

bool graph_put_modules(const struct graph_analysis *graph, struct findings *findings)
{
	return (!graph->stream.calls || put(graph, false, findings)) && (!graph->nr_hits || put(graph, true, findings));
}
