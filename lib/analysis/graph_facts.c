// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/graph_facts_internal.h"
#include "lib/base/table.h"
#include "lib/event/context.h"
#include "lib/names/symbols.h"

#include <inttypes.h>
#include <stdio.h>

const struct analysis_want graph_wants[] = {
	{ "ftrace:funcgraph_exit", "ftrace:function", "which functions were called" },
	{ "sched:sched_switch", NULL, "which part of a call was off the CPU" },
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

void graph_number(struct table *table, bool known, uint64_t value)
{
	if (known)
		table_cell_u64(table, value);
	else
		table_cell(table, "-");
}
