// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>

#include "lib/answers/graph/graph_facts.h"
#include "lib/ground/base/table.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/names/symbols.h"

const struct analysis_want graph_wants[] = {
	{ "ftrace:funcgraph_exit", "ftrace:function", "which functions were called" },
	{ "sched:sched_switch", NULL, "which part of a call was off the CPU" },
	ANALYSIS_WANTS_TASKS,
	{ NULL, NULL, NULL },
};

void graph_name(const struct context *context, uint64_t address, char *name, size_t size)
{
	const struct symbols *symbols = context->symbols;
	struct symbol symbol;

	if (!symbols_find(symbols, address, &symbol))
		snprintf(name, size, "0x%" PRIx64, address);
	else if (symbol.module)
		snprintf(name, size, "%.*s [%.*s]", (int)symbol.name_len, symbol.name, (int)symbol.module_len,
			 symbol.module);
	else
		snprintf(name, size, "%.*s", (int)symbol.name_len, symbol.name);
}

uint64_t graph_function(const struct context *context, uint64_t address)
{
	const struct symbols *symbols = context->symbols;
	struct symbol symbol;

	return !symbols_moved(symbols) && symbols_find(symbols, address, &symbol) ? symbol.address : address;
}

uint64_t graph_off_cpu(const struct state_task *task)
{
	static const uint8_t modes[] = { TASK_PREEMPTED, TASK_WAKING,  TASK_QUEUED,
					 TASK_SLEEPING,  TASK_BLOCKED, TASK_STOPPED };
	uint64_t sum = 0;

	for (size_t i = 0; task && !task->idle && i < array_size(modes); i++)
		sum += task->spent[modes[i]];
	return sum;
}

void graph_put_name(struct table *table, const struct context *context, uint64_t address)
{
	char name[GRAPH_NAME];

	graph_name(context, address, name, sizeof(name));
	table_cell(table, name);
}
