// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/latency/latency_stack_internal.h"

#include "lib/answers/frame/pass.h"
#include "lib/answers/latency/latency_split_internal.h"
#include "lib/ground/base/table.h"
#include "lib/meaning/event/event.h"

bool late_stacks_init(struct late_stacks *stacks, const struct pass *pass)
{
	late_functions_init(&stacks->functions, pass);
	return last_switch_out_init(&stacks->last_outs, pass);
}

void late_stacks_release(struct late_stacks *stacks)
{
	late_functions_release(&stacks->functions);
	last_switch_out_release(&stacks->last_outs);
}

void late_stacks_find(const struct late_stacks *stacks, struct late *late)
{
	uint32_t culprit = stacks->last_outs.context ? latency_culprit(late) : (uint32_t)STATE_NO_TASK;
	const struct task_out *out = culprit == STATE_NO_TASK ? NULL : last_switch_out_of(&stacks->last_outs, culprit);

	late_functions_find(&stacks->functions, late);
	if (!late->stack && out && out->at >= late->at - late->lasted)
		late->stack = out->stack;
}

static void set_stack(struct lates *lates, const struct task_out *out, uint32_t cpu)
{
	for (size_t i = 0; i < lates->slowest.nr; i++) {
		struct late *late = lates_at(lates, i);

		if (late->at == out->at && late->cpu == cpu && latency_culprit(late) == out->task)
			late->stack = out->stack;
	}
}

void late_stacks_see(struct late_stacks *stacks, const struct event *event, struct lates *wakeups,
		     struct lates *preemptions)
{
	const struct task_out *out = last_switch_out_see(&stacks->last_outs, event);

	if (!out)
		return;
	set_stack(wakeups, out, event->cpu);
	set_stack(preemptions, out, event->cpu);
}

void late_stacks_put(struct table *table, const struct late_stacks *stacks, const struct late *late)
{
	if (late->stack)
		stack_store_put(table, &stacks->last_outs.store, stacks->last_outs.context, late->stack);
	else
		table_cell(table, "");
}
