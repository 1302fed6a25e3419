// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/latency_stack_internal.h"

#include "lib/analysis/latency_split_internal.h"
#include "lib/analysis/pass.h"
#include "lib/base/table.h"
#include "lib/event/context.h"
#include "lib/event/event.h"

/* The last sched_switch of a CPU. */
struct late_switch {
	uint64_t at;
	uint64_t events; /* number of the CPU's events then */
	uint32_t task;   /* the one that left the CPU; STATE_NO_TASK: not known */
};

/* When and where a task left its CPU last. */
struct late_out {
	uint64_t at;
	uint32_t stack;
};

static const struct role_name names[] = {
	{ "ftrace", "kernel_stack", 1 },
	{ NULL, NULL, 0 },
};

bool late_stacks_init(struct late_stacks *stacks, const struct pass *pass)
{
	*stacks = (struct late_stacks){ .pass = pass };
	late_functions_init(&stacks->functions, pass);
	roles_init(&stacks->roles, names);
	u64_map_init(&stacks->last, sizeof(struct late_switch));
	u64_map_init(&stacks->outs, sizeof(struct late_out));
	return stack_store_init(&stacks->store);
}

void late_stacks_release(struct late_stacks *stacks)
{
	late_functions_release(&stacks->functions);
	roles_release(&stacks->roles);
	u64_map_release(&stacks->last);
	u64_map_release(&stacks->outs);
	stack_store_release(&stacks->store);
}

bool late_stacks_look(struct late_stacks *stacks, const struct event *event)
{
	bool fresh;

	if (!roles_of(&stacks->roles, event, &fresh))
		return false;
	stacks->context = event->type->context;
	return place_find(&stacks->caller, event->type, "caller");
}

void late_stacks_find(const struct late_stacks *stacks, struct late *late)
{
	uint32_t culprit = stacks->context ? latency_culprit(late) : (uint32_t)STATE_NO_TASK;
	const struct late_out *out = culprit == STATE_NO_TASK ? NULL : u64_map_find(&stacks->outs, culprit);

	late_functions_find(&stacks->functions, late);
	if (!late->stack && out && out->at >= late->at - late->lasted)
		late->stack = out->stack;
}

void late_stacks_switch(struct late_stacks *stacks, uint32_t cpu)
{
	const struct state *state = &stacks->pass->state;
	struct late_switch *last = stacks->context ? u64_map_add(&stacks->last, cpu) : NULL;

	stacks->store.failed |= stacks->context && !last;
	if (last)
		*last = (struct late_switch){ state->now, state->cpus[cpu].events, state->step.other };
}

uint32_t late_stacks_add(struct late_stacks *stacks, const struct event *event)
{
	const struct context *context = event->type->context;
	struct stack stack;

	stack_of_kernel(&stacks->caller, event, &stack);
	return stack_store_add(&stacks->store, context, &stack, 0);
}

void late_stacks_see(struct late_stacks *stacks, const struct event *event, struct lates *lates)
{
	const struct late_switch *last = u64_map_find(&stacks->last, event->cpu);
	struct late_out *out;

	if (!last || last->task == STATE_NO_TASK || last->events + 1 != stacks->pass->state.cpus[event->cpu].events)
		return;
	out = u64_map_add(&stacks->outs, last->task);
	if (!out) {
		stacks->store.failed = true;
		return;
	}
	*out = (struct late_out){ last->at, late_stacks_add(stacks, event) };
	for (size_t i = 0; i < lates->nr; i++)
		if (lates->items[i].at == last->at && lates->items[i].cpu == event->cpu &&
		    latency_culprit(&lates->items[i]) == last->task)
			lates->items[i].stack = out->stack;
}

void late_stacks_put(const struct late_stacks *stacks, const struct late *late, struct table *table)
{
	if (late->stack)
		stack_store_put(&stacks->store, stacks->context, late->stack, table);
	else
		table_cell(table, "");
}
