// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analysis/latency_stack.h"

#include "lib/analysis/latency_split.h"
#include "lib/analysis/pass.h"
#include "lib/base/table.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/reader/reader.h"

/* The sched_switch to a late task. */
struct late_switch {
	uint64_t at;     /* late::at */
	uint64_t events; /* number of the CPU's events then */
};

static const struct role_name names[] = {
	{ "ftrace", "kernel_stack", 1 },
	{ NULL, NULL, 0 },
};

bool late_stacks_init(struct late_stacks *stacks, const struct pass *pass)
{
	*stacks = (struct late_stacks){ .pass = pass };
	roles_init(&stacks->roles, names);
	u64_map_init(&stacks->last, sizeof(struct late_switch));
	return stack_store_init(&stacks->store);
}

void late_stacks_release(struct late_stacks *stacks)
{
	roles_release(&stacks->roles);
	u64_map_release(&stacks->last);
	stack_store_release(&stacks->store);
}

bool late_stacks_look(struct late_stacks *stacks, const struct event *event)
{
	bool fresh;

	if (!roles_of(&stacks->roles, event, &fresh))
		return false;
	stacks->context = stacks->pass->reader->buffers[event->buffer].context;
	return place_bind(&stacks->caller, event->type->format, &stacks->context->abi, "caller");
}

void late_stacks_expect(struct late_stacks *stacks, const struct late *late)
{
	struct late_switch *last = u64_map_add(&stacks->last, late->cpu);

	if (last)
		*last = (struct late_switch){ late->at, stacks->pass->state.cpus[late->cpu].events };
}

void late_stacks_see(struct late_stacks *stacks, const struct event *event, struct lates *lates)
{
	const struct context *context = stacks->pass->reader->buffers[event->buffer].context;
	const struct late_switch *last = u64_map_find(&stacks->last, event->cpu);
	struct stack stack;

	if (!last || last->events + 1 != stacks->pass->state.cpus[event->cpu].events)
		return;
	for (size_t i = 0; i < lates->nr; i++) {
		if (lates->items[i].at != last->at || lates->items[i].cpu != event->cpu)
			continue;
		stack_of_kernel(&stacks->caller, &context->abi, event, &stack);
		lates->items[i].stack = stack_store_add(&stacks->store, context, &stack, 0);
	}
}

void late_stacks_put(const struct late_stacks *stacks, const struct late *late, uint32_t culprit, struct table *table)
{
	if (late->stack && late->left == culprit)
		stack_store_put(&stacks->store, stacks->context, late->stack, table);
	else
		table_cell(table, "");
}
