// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/timeline/timeline_internal.h"

#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/uapi/names.h"

struct open_call {
	uint64_t since, losses, unknown;
	int64_t number;
	bool open;
};

void open_calls_init(struct open_calls *calls, const struct context *context, const struct state *state)
{
	*calls = (struct open_calls){ .context = context, .state = state };
	u64_map_init(&calls->calls, sizeof(struct open_call));
}

void open_calls_release(struct open_calls *calls)
{
	u64_map_release(&calls->calls);
}

void open_calls_bind(const struct open_calls *calls, const struct format *format, struct open_calls_type *ret)
{
	ret->raw = !strcmp(format->system, "raw_syscalls");
	if (format->nr_common < format->nr_fields)
		ret->number = place_of(&format->fields[format->nr_common], &calls->context->abi);
}

/* If both systems have events, only the events of raw_syscalls count. */
static bool is_second(struct open_calls *calls, const struct open_calls_type *type)
{
	calls->raw |= type->raw;
	return calls->raw && !type->raw;
}

void open_calls_enter(struct open_calls *calls, const struct open_calls_type *type, const struct event *event)
{
	struct open_call *call = is_second(calls, type) ? NULL : u64_map_get(&calls->calls, (uint32_t)event->pid);

	if (!call)
		return;
	*call = (struct open_call){ .since = event->ts,
				    .losses = calls->state->losses,
				    .unknown = state_unknown_at(calls->state, event),
				    .number = place_s64(&type->number, event),
				    .open = true };
}

/* A sigreturn ends with the number that it restores. */
static bool restores(const struct context *context, int64_t number)
{
	const char *name = system_call_name(context->machine, number);

	return name && (!strcmp(name, "rt_sigreturn") || !strcmp(name, "sigreturn"));
}

bool open_calls_exit(struct open_calls *calls, const struct open_calls_type *type, const struct event *event,
		     uint64_t *ret_start, int64_t *ret_number)
{
	struct open_call *call = is_second(calls, type) ? NULL : u64_map_find(&calls->calls, (uint32_t)event->pid);
	const struct state *state = calls->state;
	int64_t number;
	bool known;

	if (!call || !call->open)
		return false;
	number = place_s64(&type->number, event);
	/* The machine may be unknown: only a sigreturn ends as -1. */
	known = call->number == number || number == -1 || restores(calls->context, call->number);
	if (state->losses != call->losses && state_unknown_at(state, event) != call->unknown)
		known = false;
	call->open = false;
	*ret_start = call->since;
	*ret_number = call->number;
	return known && event->ts >= call->since;
}

bool open_calls_lasts(const struct open_calls *calls, int32_t pid)
{
	const struct open_call *call = u64_map_find(&calls->calls, (uint32_t)pid);
	const struct state *state = calls->state;
	const struct state_task *task;
	uint64_t from;
	uint32_t id;

	if (!call || !call->open)
		return false;
	if (state->losses == call->losses)
		return true;
	id = pid ? state_task_of(state, pid) : (uint32_t)STATE_NO_TASK;
	if (id == STATE_NO_TASK || !state->events[STATE_SWITCH])
		return false;
	task = &state->tasks[id];
	return task->mode != TASK_UNKNOWN && task->spent[TASK_UNKNOWN] == call->unknown &&
	       (task->mode == TASK_RUNNING || !gaps_find(&state->gaps, task->gap, &from));
}
