// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/syscalls/syscalls_internal.h"

#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"

/* The longest calls one by one, and where and until when each was blocked for longest. */

/* Returns whether both lists have an item for the task. */
static bool add_blocks(struct syscalls_analysis *syscalls, uint32_t task)
{
	while (syscalls->nr_blocks <= task)
		if (!vec_push(syscalls->blocks, syscalls->nr_blocks))
			return false;
	while (syscalls->nr_left <= task)
		if (!vec_push(syscalls->left, syscalls->nr_left))
			return false;
	return true;
}

/* A task comes back to a CPU in the middle of a call: was it blocked for longer than before in this call? */
static void see_back(struct syscalls_analysis *syscalls, uint32_t id)
{
	const struct state *state = &syscalls->pass->state;
	const struct state_task *task = &state->tasks[id];
	const struct open_call *call = id < syscalls->nr_calls ? &syscalls->calls[id] : NULL;
	const struct task_out *out = last_switch_out_of(&syscalls->last_outs, id);
	static const struct waker none = WAKER_NONE;
	struct call_block *block = &syscalls->blocks[id];
	uint64_t lasted = state_blocked(task) - syscalls->left[id];

	if (!call || !call->open)
		return;
	if (block->since != call->since)
		*block = (struct call_block){ .since = call->since, .waker = WAKER_NONE };
	if (lasted <= block->lasted || lasted > state->now - call->since)
		return;
	block->lasted = lasted;
	block->stack = out && out->at >= call->since ? out->stack : 0;
	block->waker = state->events[STATE_WAKING] ? task->waker : none;
}

void syscalls_slow_switch(struct syscalls_analysis *syscalls, const struct event *event)
{
	const struct state *state = &syscalls->pass->state;
	uint32_t in = state->step.task, out = state->step.other;

	if (state->step.kind != STEP_SWITCH)
		return;
	last_switch_out_switch(&syscalls->last_outs, event->cpu);
	if ((in != STATE_NO_TASK && !add_blocks(syscalls, in)) ||
	    (out != STATE_NO_TASK && !add_blocks(syscalls, out))) {
		syscalls->pass->failed = true;
		return;
	}
	if (in != STATE_NO_TASK)
		see_back(syscalls, in);
	if (out != STATE_NO_TASK)
		syscalls->left[out] = state_blocked(&state->tasks[out]);
}

void syscalls_slow_keep(struct syscalls_analysis *syscalls, const struct slow_call *slow)
{
	const struct call_block *block = slow->task < syscalls->nr_blocks ? &syscalls->blocks[slow->task] : NULL;
	struct slow_call *kept = slowest_add(&syscalls->slowest, slow->time.wall, &syscalls->pass->failed);

	if (!kept)
		return;
	*kept = *slow;
	pass_note_comm(syscalls->pass, slow->task, kept->comm);
	kept->block = (struct call_block){ .waker = WAKER_NONE };
	if (block && block->since == slow->at - slow->time.wall)
		kept->block = *block;
}
