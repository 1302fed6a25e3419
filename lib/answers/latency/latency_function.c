// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/latency/latency_stack_internal.h"

#include <string.h>

#include "lib/answers/frame/pass.h"
#include "lib/answers/graph/graph_facts.h"
#include "lib/answers/latency/latency_split_internal.h"
#include "lib/ground/base/table.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"

enum { PAUSES = 16 };

struct pause {
	uint64_t from, to, function, caller;
};

/*
 * The pauses of a task that may be the longest of a wait: one that is followed by a longer one is not kept. If there
 * are too many, the oldest are dropped.
 */
struct called {
	struct pause pauses[PAUSES];
	size_t nr;
	struct pause last; /* since the last call */
	bool open;         /* that call is known */
	/*
	 * The call before, if the last one had interrupts off and an interrupt may follow: only between its first and
	 * its last function does an interrupt have its flags.
	 */
	struct pause before;
	bool before_open, may_interrupt, interrupted;
};

static const struct role_name names[] = {
	{ "ftrace", "function", 1 },
	{ NULL, NULL, 0 },
};

void late_functions_init(struct late_functions *functions, const struct pass *pass)
{
	*functions = (struct late_functions){ .pass = pass };
	roles_init(&functions->roles, names);
	u64_map_init(&functions->tasks, sizeof(struct called));
}

void late_functions_release(struct late_functions *functions)
{
	roles_release(&functions->roles);
	u64_map_release(&functions->tasks);
}

bool late_functions_look(struct late_functions *functions, const struct event *event)
{
	bool fresh;

	if (!roles_of(&functions->roles, event, &fresh))
		return false;
	functions->context = event->type->context;
	(void)place_find(&functions->caller, event->type, "parent_ip");
	return place_find(&functions->function, event->type, "ip");
}

static void end_pause(struct called *called, uint64_t now)
{
	uint64_t lasted = now - called->last.from;

	if (!called->open || now <= called->last.from)
		return;
	while (called->nr && called->pauses[called->nr - 1].to - called->pauses[called->nr - 1].from <= lasted)
		called->nr--;
	if (called->nr == PAUSES)
		memmove(called->pauses, called->pauses + 1, --called->nr * sizeof(*called->pauses));
	called->pauses[called->nr] = called->last;
	called->pauses[called->nr++].to = now;
}

static bool interrupts(const struct called *called, const struct event *event)
{
	return event->flags & EVENT_INTERRUPTS || (called->interrupted && event->flags & EVENT_IRQS_OFF);
}

static void interrupt(struct called *called, uint64_t now)
{
	if (called->may_interrupt) {
		called->last = called->before;
		called->open = called->before_open;
	} else {
		end_pause(called, now);
	}
	called->last.from = now;
	called->may_interrupt = false;
	called->interrupted = true;
}

static void call(struct called *called, uint64_t now, bool irqs_off, uint64_t function, uint64_t caller)
{
	end_pause(called, now);
	called->before = called->last;
	called->before_open = called->open;
	called->last = (struct pause){ .from = now, .function = function, .caller = caller };
	called->open = true;
	called->may_interrupt = irqs_off;
	called->interrupted = false;
}

void late_functions_see(struct late_functions *functions, const struct event *event)
{
	const struct state *state = &functions->pass->state;
	uint32_t task = state_running(state, event->cpu);
	struct called *called;

	/* Behind sched_switch, functions still belong to the task that leaves. */
	if (!state->events[STATE_SWITCH] || task == STATE_NO_TASK || state_acting(state, event) != task)
		return;
	called = u64_map_add(&functions->tasks, task);
	functions->failed |= !called;
	if (!called)
		return;
	if (interrupts(called, event))
		interrupt(called, state->now);
	else
		call(called, state->now, event->flags & EVENT_IRQS_OFF, place_u64(&functions->function, event),
		     place_u64(&functions->caller, event));
}

void late_functions_switch(struct late_functions *functions, uint32_t task)
{
	struct called *called = task == STATE_NO_TASK ? NULL : u64_map_find(&functions->tasks, task);

	if (!called)
		return;
	end_pause(called, functions->pass->state.now);
	called->open = called->may_interrupt = called->interrupted = false;
}

void late_functions_lose(struct late_functions *functions)
{
	u64_map_clear(&functions->tasks);
}

/* Makes it the pause of the case if it is longer, as far as it lies in the wait. */
static void compare(const struct pause *pause, struct late *late)
{
	uint64_t since = late->at - late->lasted, from = pause->from > since ? pause->from : since,
		 to = pause->to < late->at ? pause->to : late->at;

	if (to <= from || to - from <= late->gap)
		return;
	late->gap = to - from;
	late->function = pause->function;
	late->caller = pause->caller;
}

void late_functions_find(const struct late_functions *functions, struct late *late)
{
	uint32_t culprit = functions->tasks.len ? latency_culprit(late) : (uint32_t)STATE_NO_TASK;
	const struct called *called = culprit == STATE_NO_TASK ? NULL : u64_map_find(&functions->tasks, culprit);
	struct pause last;

	for (size_t i = 0; called && i < called->nr; i++)
		compare(&called->pauses[i], late);
	if (!called || !called->open)
		return;
	last = called->last;
	last.to = late->at;
	compare(&last, late);
}

void late_functions_put(struct table *table, const struct late_functions *functions, uint64_t address)
{
	if (address)
		graph_put_name(table, functions->context, address);
	else
		table_cell(table, "");
}
