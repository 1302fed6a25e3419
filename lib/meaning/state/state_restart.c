// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/state_internal.h"

#include <stdlib.h>
#include <string.h>

void state_init(struct state *state, bool preempt_rt)
{
	*state = (struct state){ .preempt_rt = preempt_rt, .step = state_no_step };
	roles_init(&state->roles, state_names);
	u64_map_init(&state->ids, sizeof(uint32_t));
	listed_init(&state->listed);
	causes_init(&state->causes, preempt_rt);
}

void state_release(struct state *state)
{
	roles_release(&state->roles);
	u64_map_release(&state->ids);
	listed_release(&state->listed);
	causes_release(&state->causes);
	gaps_release(&state->gaps);
	free(state->naming.tasks);
	free(state->tasks);
	free(state->cpus);
	free(state->moved);
	*state = (struct state){ .tasks = NULL };
}

void state_divide(struct state *state)
{
	for (size_t i = 0; i < state->nr_tasks; i++) {
		struct state_task *task = &state->tasks[i];
		uint64_t idled;

		if (task->died || !task->exact || !state_waits((enum task_mode)task->mode))
			continue;
		/* Lost events hide what became of the wait. */
		task->exact = tasks_known_until(state, task) == state->now;
		if (!task->exact)
			continue;
		idled = cpus_others_idled(state, task->cpu);
		if (!state->naming.wants || state_had_name(state, task, UINT64_MAX))
			task->beside_idle += idled - task->idle_then;
		task->idle_then = idled;
	}
}

static bool goes_on(const struct state_task *task)
{
	return !task->died &&
	       (task->held || task->idle || task->mode == TASK_RUNNING || state_waits((enum task_mode)task->mode));
}

/* The names of a task that continues move with it; what it did so far under others counts no more. */
static void keep_names(struct naming *naming, size_t from, size_t to)
{
	struct naming_task *named;

	if (from >= naming->nr)
		return;
	named = &naming->tasks[to];
	*named = naming->tasks[from];
	memset(named->elsewhere, 0, sizeof(named->elsewhere));
	named->ever = named->known && named->now;
	named->others = named->known && !named->now;
	named->changed = named->until = named->away = 0;
}

/* Moves the tasks that continue to the front. new_ids[] gets their new indices + 1, and 0 for the other tasks. */
static size_t keep_tasks(struct state *state, uint32_t *new_ids)
{
	size_t nr = 0;

	for (size_t i = 0; i < state->nr_tasks; i++) {
		struct state_task *task = &state->tasks[nr];

		if (!goes_on(&state->tasks[i]))
			continue;
		*task = state->tasks[i];
		memset(task->spent, 0, sizeof(task->spent));
		task->born = state->now;
		task->beside_idle = 0;
		/*
		 * The task has been in its mode for longer, but its time counts from here on. When a wait began is
		 * told by its wakeup.
		 */
		task->exact = task->exact && state_waits((enum task_mode)task->mode);
		task->held = false;
		keep_names(&state->naming, i, nr);
		new_ids[i] = (uint32_t)++nr;
	}
	if (state->naming.nr > nr)
		state->naming.nr = nr;
	return nr;
}

static uint32_t renumber(const uint32_t *new_ids, uint32_t id)
{
	return id == STATE_NO_TASK || !new_ids[id] ? (uint32_t)STATE_NO_TASK : new_ids[id] - 1;
}

static void restart_cpu(const struct state *state, struct state_cpu *cpu, const uint32_t *new_ids)
{
	memset(cpu->spent, 0, sizeof(cpu->spent));
	cpu->since = state->now;
	cpu->last = state->now;
	cpu->switches = 0;
	cpu->task = renumber(new_ids, cpu->task);
	cpu->left_task = cpu->tail ? renumber(new_ids, cpu->left_task) : (uint32_t)STATE_NO_TASK;
	cpu->idle_task = renumber(new_ids, cpu->idle_task);
}

static bool find_pids(struct state *state)
{
	u64_map_clear(&state->ids);
	memset(state->seats, 0, sizeof(state->seats));
	for (size_t i = 0; i < state->nr_tasks; i++) {
		uint32_t *id = state->tasks[i].pid ? u64_map_add(&state->ids, (uint32_t)state->tasks[i].pid) : NULL;

		if (state->tasks[i].pid && !id)
			return false;
		if (id)
			*id = (uint32_t)i + 1;
	}
	return true;
}

bool state_restart(struct state *state)
{
	uint32_t *new_ids = calloc(state->nr_tasks + 1, sizeof(*new_ids));

	if (!new_ids)
		return false;
	free(state->moved);
	state->moved = new_ids;
	state->nr_moved = state->nr_tasks;
	state->nr_tasks = keep_tasks(state, new_ids);
	for (size_t i = 0; i < state->nr_cpus; i++)
		if (state->cpus[i].seen)
			restart_cpu(state, &state->cpus[i], new_ids);
	state->start = state->now;
	state->step = state_no_step;
	state->losses = 0;
	state->ends = 0;
	state->breaks = 0;
	/* state_settle() has accounted for all gaps so far. */
	state->gaps.nr = 0;
	/* state->events still tells which events the recording has. */
	return find_pids(state);
}
