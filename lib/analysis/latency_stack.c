// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/latency_stack_internal.h"

#include "lib/analysis/latency_split_internal.h"
#include "lib/analysis/pass.h"
#include "lib/base/table.h"
#include "lib/event/event.h"

bool late_stacks_init(struct late_stacks *stacks, const struct pass *pass)
{
	late_functions_init(&stacks->functions, pass);
	return outs_init(&stacks->outs, pass);
}

void late_stacks_release(struct late_stacks *stacks)
{
	late_functions_release(&stacks->functions);
	outs_release(&stacks->outs);
}

void late_stacks_find(const struct late_stacks *stacks, struct late *late)
{
	uint32_t culprit = stacks->outs.context ? latency_culprit(late) : (uint32_t)STATE_NO_TASK;
	const struct task_out *out = culprit == STATE_NO_TASK ? NULL : outs_of(&stacks->outs, culprit);

	late_functions_find(&stacks->functions, late);
	if (!late->stack && out && out->at >= late->at - late->lasted)
		late->stack = out->stack;
}

void late_stacks_see(struct late_stacks *stacks, const struct event *event, struct lates *lates)
{
	const struct task_out *out = outs_see(&stacks->outs, event);

	for (size_t i = 0; out && i < lates->slowest.nr; i++) {
		struct late *late = lates_at(lates, i);

		if (late->at == out->at && late->cpu == event->cpu && latency_culprit(late) == out->task)
			late->stack = out->stack;
	}
}

void late_stacks_put(const struct late_stacks *stacks, const struct late *late, struct table *table)
{
	if (late->stack)
		stack_store_put(&stacks->outs.store, stacks->outs.context, late->stack, table);
	else
		table_cell(table, "");
}
