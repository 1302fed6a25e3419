// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/state_internal.h"

#include "lib/ground/base/vec.h"

enum { TASKS_MAX = 1 << 26 };

static uint32_t nothing(struct state *state)
{
	state->failed = true;
	return STATE_NO_TASK;
}

/* Idle tasks have PID 0 and are not in the map: they are found through their CPUs. */
uint32_t tasks_add(struct state *state, int32_t pid)
{
	uint32_t *id = pid ? u64_map_add(&state->ids, (uint32_t)pid) : NULL, before = id ? *id : 0;
	struct state_task *task;

	if (state->nr_tasks == TASKS_MAX || (pid && !id))
		return nothing(state);
	task = vec_push(state->tasks, state->nr_tasks);
	if (!task)
		return nothing(state);
	*task = (struct state_task){ .pid = pid,
				     .born = state->now,
				     .since = state->now,
				     .gap = state->gaps.number,
				     .prio = -1,
				     .waker = WAKER_NONE,
				     .cpu = STATE_NO_CPU,
				     .idle = !pid };
	if (before)
		task->generation = state->tasks[before - 1].generation + 1;
	if (id) {
		*id = (uint32_t)state->nr_tasks;
		*tasks_seat(state, pid) = (struct state_seat){ pid, *id };
	}
	return (uint32_t)(state->nr_tasks - 1);
}

/* When memory runs out, tasks_add() may leave a key without a task. */
static uint32_t search(const struct state *state, int32_t pid)
{
	const uint32_t *id = u64_map_find(&state->ids, (uint32_t)pid);

	return id ? *id : 0;
}

uint32_t tasks_search(struct state *state, int32_t pid)
{
	uint32_t id = search(state, pid);

	*tasks_seat(state, pid) = (struct state_seat){ pid, id };
	return id;
}

uint32_t state_task_of(const struct state *state, int32_t pid)
{
	uint32_t id = search(state, pid);

	return id && !state->tasks[id - 1].died ? id - 1 : STATE_NO_TASK;
}

uint32_t state_task_once(const struct state *state, int32_t pid)
{
	uint32_t id = search(state, pid);

	return id && (!state->tasks[id - 1].died || !state->tasks[id - 1].generation) ? id - 1 : STATE_NO_TASK;
}

void tasks_end(struct state *state, uint32_t id)
{
	state->tasks[id].died = state->now;
}

void state_settle(struct state *state)
{
	for (size_t i = 0; i < state->nr_tasks; i++)
		if (!state->tasks[i].died)
			(void)tasks_count(state, &state->tasks[i]);
	for (size_t i = 0; i < state->nr_cpus; i++)
		if (state->cpus[i].seen)
			cpus_account(state, &state->cpus[i]);
}

uint64_t state_spent(const struct state *state, uint32_t id, enum task_mode mode)
{
	const struct state_task *task = &state->tasks[id];
	uint64_t until, spent = task->spent[mode];

	if (task->died || (mode != task->mode && mode != TASK_UNKNOWN))
		return spent;
	until = tasks_known_until(state, task);
	if (mode == task->mode)
		spent += until - task->since;
	return mode == TASK_UNKNOWN ? spent + state->now - until : spent;
}

uint64_t state_unknown(const struct state *state, int32_t pid, const struct event *event)
{
	const struct state_cpu *cpu = event && event->cpu < state->nr_cpus ? &state->cpus[event->cpu] : NULL;
	uint32_t id = STATE_NO_TASK;

	if (!state->events[STATE_SWITCH])
		return UINT64_C(1) << 63 | state->losses;
	if (cpu && cpu->task != STATE_NO_TASK && cpu->pid == pid)
		id = pid ? cpu->task : (uint32_t)STATE_NO_TASK;
	else if (pid)
		id = state_task_of(state, pid);
	return id == STATE_NO_TASK ? 0 : state->tasks[id].spent[TASK_UNKNOWN];
}
