// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/outs_internal.h"

#include "lib/analysis/pass.h"
#include "lib/event/context.h"
#include "lib/event/event.h"

/* The last sched_switch of a CPU. */
struct out_switch {
	uint64_t at;
	uint64_t events; /* number of the CPU's events then */
	uint32_t task;   /* the one that left the CPU; STATE_NO_TASK: not known */
};

static const struct role_name names[] = {
	{ "ftrace", "kernel_stack", 1 },
	{ NULL, NULL, 0 },
};

bool outs_init(struct outs *outs, const struct pass *pass)
{
	*outs = (struct outs){ .pass = pass };
	roles_init(&outs->roles, names);
	u64_map_init(&outs->last, sizeof(struct out_switch));
	u64_map_init(&outs->outs, sizeof(struct task_out));
	return stack_store_init(&outs->store);
}

void outs_release(struct outs *outs)
{
	roles_release(&outs->roles);
	u64_map_release(&outs->last);
	u64_map_release(&outs->outs);
	stack_store_release(&outs->store);
}

bool outs_look(struct outs *outs, const struct event *event)
{
	bool fresh;

	if (!roles_of(&outs->roles, event, &fresh))
		return false;
	outs->context = event->type->context;
	return place_find(&outs->caller, event->type, "caller");
}

void outs_switch(struct outs *outs, uint32_t cpu)
{
	const struct state *state = &outs->pass->state;
	struct out_switch *last = outs->context ? u64_map_add(&outs->last, cpu) : NULL;

	outs->store.failed |= outs->context && !last;
	if (last)
		*last = (struct out_switch){ state->now, state->cpus[cpu].events, state->step.other };
}

uint32_t outs_add_stack(struct outs *outs, const struct event *event)
{
	const struct context *context = event->type->context;
	struct stack stack;

	stack_of_kernel(&outs->caller, event, &stack);
	return stack_store_add(&outs->store, context, &stack, 0);
}

const struct task_out *outs_see(struct outs *outs, const struct event *event)
{
	const struct out_switch *last = u64_map_find(&outs->last, event->cpu);
	struct task_out *out;

	if (!last || last->task == STATE_NO_TASK || last->events + 1 != outs->pass->state.cpus[event->cpu].events)
		return NULL;
	out = u64_map_add(&outs->outs, last->task);
	if (!out) {
		outs->store.failed = true;
		return NULL;
	}
	*out = (struct task_out){ last->task, last->at, outs_add_stack(outs, event) };
	return out;
}

const struct task_out *outs_of(const struct outs *outs, uint32_t task)
{
	return outs->context ? u64_map_find(&outs->outs, task) : NULL;
}
