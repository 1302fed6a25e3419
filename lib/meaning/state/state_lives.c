// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/state_internal.h"

#include <string.h>

/* The events that make, name and move tasks: rare ones beside those of the scheduler. */

void tasks_set_comm(struct state_task *task, const struct place *place, const struct event *event)
{
	const char *text;
	size_t len;

	if (!place->field || !place_string(place, event, &text, &len))
		return;
	len = len < TASK_COMM_LEN ? len : TASK_COMM_LEN - 1;
	memcpy(task->comm, text, len);
	memset(task->comm + len, 0, TASK_COMM_LEN - len);
}

/* The event tells the name that the task has. */
static void learn_comm(struct state *state, struct state_task *task, const struct place *place,
		       const struct event *event)
{
	if (task->idle)
		return;
	tasks_set_comm(task, place, event);
	if (state->naming.wants && *task->comm)
		naming_see(state, (uint32_t)(task - state->tasks), false);
}

/*
 * A task that waits is to run on another CPU from now on. sched_waking names the CPU where the task ran last, and the
 * kernel chooses the queue after that event: so a task that is not yet on a queue has waited for this CPU all the time.
 * If CPUs have begun or ceased to idle meanwhile, only what comes is known to be a wait for it.
 */
void lives_move_wait(struct state *state, struct state_task *task, uint32_t cpu)
{
	uint64_t waited;

	if (task->cpu == cpu)
		return;
	if (task->mode == TASK_WAKING && !task->woken && state->idle_changed <= task->since)
		waited = cpus_others_idle(state, cpu) ? state->now - task->since : 0;
	else
		waited = cpus_others_idled(state, task->cpu) - task->idle_then;
	task->cpu = cpu;
	task->idle_then = cpus_others_idled(state, cpu) - waited;
}

void lives_see_new(struct state *state, const struct event *event, uint8_t role)
{
	const struct state_places *places = &state->places[role];
	int32_t pid = (int32_t)place_s64(&places->pid, event);
	uint32_t id;

	if (!pid || !places->pid.field)
		return;
	id = tasks_find(state, pid);
	/* Both task_newtask and sched_process_fork report the fork: the second one changes nothing. */
	if (id != STATE_NO_TASK && state->tasks[id].mode != TASK_NEW && state->tasks[id].mode != TASK_RUNNING) {
		(void)tasks_enter(state, &state->tasks[id], TASK_UNKNOWN);
		tasks_end(state, id);
		id = STATE_NO_TASK;
	}
	if (id == STATE_NO_TASK) {
		id = tasks_add(state, pid);
		if (id == STATE_NO_TASK)
			return;
		(void)tasks_enter(state, &state->tasks[id], TASK_NEW);
		state->tasks[id].forked = true;
		state->step =
			(struct state_step){ .kind = STEP_FORK, .task = id, .other = state->cpus[event->cpu].task };
	}
	learn_comm(state, &state->tasks[id], &places->comm, event);
}

void lives_see_migrate(struct state *state, const struct event *event)
{
	const struct state_places *places = &state->places[STATE_MIGRATE];
	int32_t pid = (int32_t)place_s64(&places->pid, event);
	uint32_t id = pid ? tasks_of(state, pid) : (uint32_t)STATE_NO_TASK;

	if (id == STATE_NO_TASK)
		return;
	learn_comm(state, &state->tasks[id], &places->comm, event);
	state->step = (struct state_step){ .kind = STEP_MIGRATE,
					   .task = id,
					   .other = STATE_NO_TASK,
					   .cpu = (uint32_t)place_u64(&places->cpu, event) & UINT16_MAX };
	if (places->cpu.field && state_waits((enum task_mode)state->tasks[id].mode))
		lives_move_wait(state, &state->tasks[id], state->step.cpu);
}

void lives_see_rename(struct state *state, const struct event *event)
{
	const struct state_places *places = &state->places[STATE_RENAME];
	int32_t pid = places->pid.field ? (int32_t)place_s64(&places->pid, event) : event->pid;
	uint32_t id = pid ? tasks_find(state, pid) : (uint32_t)STATE_NO_TASK;

	if (id == STATE_NO_TASK || state->tasks[id].idle)
		return;
	if (!*state->tasks[id].comm && places->other_comm.field)
		learn_comm(state, &state->tasks[id], &places->other_comm, event);
	tasks_set_comm(&state->tasks[id], &places->comm, event);
	if (state->naming.wants)
		naming_see(state, id, true);
}

/* Like begin_new_exec(), names the task after the last part of its program's path. */
void lives_see_exec(struct state *state, const struct event *event)
{
	uint32_t id = state->cpus[event->cpu].task;
	const char *path, *slash;
	size_t len;

	if (id == STATE_NO_TASK || state->tasks[id].idle ||
	    !place_string(&state->places[STATE_EXEC].comm, event, &path, &len))
		return;
	slash = memrchr(path, '/', len);
	if (slash) {
		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	len = len < TASK_COMM_LEN ? len : TASK_COMM_LEN - 1;
	memset(state->tasks[id].comm, 0, TASK_COMM_LEN);
	memcpy(state->tasks[id].comm, path, len);
	if (state->naming.wants)
		naming_see(state, id, true);
}
