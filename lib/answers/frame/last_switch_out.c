// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/last_switch_out.h"

#include "lib/answers/frame/pass.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"

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

bool last_switch_out_init(struct last_switch_out *last_outs, const struct pass *pass)
{
	*last_outs = (struct last_switch_out){ .pass = pass };
	roles_init(&last_outs->roles, names);
	u64_map_init(&last_outs->last, sizeof(struct out_switch));
	u64_map_init(&last_outs->last_outs, sizeof(struct task_out));
	return stack_store_init(&last_outs->store);
}

void last_switch_out_release(struct last_switch_out *last_outs)
{
	roles_release(&last_outs->roles);
	u64_map_release(&last_outs->last);
	u64_map_release(&last_outs->last_outs);
	stack_store_release(&last_outs->store);
}

bool last_switch_out_look(struct last_switch_out *last_outs, const struct event *event)
{
	bool fresh;

	if (!roles_of(&last_outs->roles, event, &fresh))
		return false;
	last_outs->context = event->type->context;
	return place_find(&last_outs->caller, event->type, "caller");
}

void last_switch_out_switch(struct last_switch_out *last_outs, uint32_t cpu)
{
	const struct state *state = &last_outs->pass->state;
	struct out_switch *last = last_outs->context ? u64_map_add(&last_outs->last, cpu) : NULL;

	last_outs->store.failed |= last_outs->context && !last;
	if (last)
		*last = (struct out_switch){ state->now, state->cpus[cpu].events, state->step.other };
}

uint32_t last_switch_out_add_stack(struct last_switch_out *last_outs, const struct event *event)
{
	const struct context *context = event->type->context;
	struct stack stack;

	stack_of_kernel(&last_outs->caller, event, &stack);
	return stack_store_add(&last_outs->store, context, &stack, 0);
}

const struct task_out *last_switch_out_see(struct last_switch_out *last_outs, const struct event *event)
{
	const struct out_switch *last = u64_map_find(&last_outs->last, event->cpu);
	struct task_out *out;

	if (!last || last->task == STATE_NO_TASK || last->events + 1 != last_outs->pass->state.cpus[event->cpu].events)
		return NULL;
	out = u64_map_add(&last_outs->last_outs, last->task);
	if (!out) {
		last_outs->store.failed = true;
		return NULL;
	}
	*out = (struct task_out){ last->task, last->at, last_switch_out_add_stack(last_outs, event) };
	return out;
}

const struct task_out *last_switch_out_of(const struct last_switch_out *last_outs, uint32_t task)
{
	return last_outs->context ? u64_map_find(&last_outs->last_outs, task) : NULL;
}
