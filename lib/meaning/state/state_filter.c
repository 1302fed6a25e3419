// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/state_internal.h"

/* With a PID filter, what tasks do that are not listed is unknown (lib/meaning/follow/listed.h). */

void state_restrict(struct state *state, const struct context *context)
{
	listed_add(&state->listed, context);
	state->failed |= state->listed.failed;
}

static void hide(struct state *state, uint32_t id)
{
	struct state_task *task = id == STATE_NO_TASK ? NULL : &state->tasks[id];

	if (!task || task->died || task->mode == TASK_UNKNOWN || listed_has(&state->listed, task->pid))
		return;
	(void)tasks_enter(state, task, TASK_UNKNOWN);
	task->exact = false;
	task->waking = 0;
	task->woken = 0;
}

void filter_hide(struct state *state, uint32_t number)
{
	const struct state_step *step = &state->step;
	uint32_t id = state->cpus[number].task;

	state->failed |= state->listed.failed;
	hide(state, step->kind == STEP_SWITCH ? step->other : step->task);
	if (id == STATE_NO_TASK || listed_has(&state->listed, state->tasks[id].pid))
		return;
	hide(state, id);
	cpus_give(state, number, STATE_NO_TASK);
}
