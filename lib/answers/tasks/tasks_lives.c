// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/tasks/tasks_internal.h"

#include "lib/answers/frame/pass.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/lives.h"
#include "lib/meaning/reader/reader.h"

/* The names of a task and of its parent; "<...>" if unknown. */
const char *tasks_name(const struct tasks_analysis *tasks, const struct life *life)
{
	return *life->name ? life->name :
			     context_comm(tasks->pass->reader->buffers[0].context, life->pid, life->last).text;
}

const char *tasks_parent_name(const struct tasks_analysis *tasks, const struct life *life)
{
	if (*life->parent_name || life->parent_pid < 0)
		return life->parent_name;
	if (life->parent != LIFE_NONE)
		return tasks_name(tasks, lives_at(tasks->lives, life->parent));
	return context_comm(tasks->pass->reader->buffers[0].context, life->parent_pid, life->first).text;
}

const struct state_task *tasks_state_of(const struct tasks_analysis *tasks, const struct life *life)
{
	size_t number = (size_t)(life - lives_at(tasks->lives, 0));
	uint32_t id = number < tasks->nr_owns ? tasks->owns[number].task : (uint32_t)STATE_NO_TASK;

	return id < tasks->pass->state.nr_tasks ? &tasks->pass->state.tasks[id] : NULL;
}

/* Whether the switches show what the task does until the end. */
static bool is_followed(const struct tasks_analysis *tasks, const struct life *life)
{
	const struct state_task *task = tasks_state_of(tasks, life);

	return task && !task->died && task->mode != TASK_UNKNOWN;
}

/* A PID filter leaves out the ends of tasks that are not listed. */
static bool end_is_told(const struct tasks_analysis *tasks, const struct life *life)
{
	return (tasks->ends_recorded && listed_has(&tasks->pass->state.listed, life->pid)) ||
	       (tasks->ends_known && is_followed(tasks, life));
}

enum tasks_end tasks_end_of(const struct tasks_analysis *tasks, const struct life *life)
{
	if (life->known & LIFE_ENDED)
		return TASKS_ENDED;
	if (life->known & LIFE_REPLACED || !end_is_told(tasks, life))
		return TASKS_END_UNKNOWN;
	return TASKS_ALIVE;
}

/* The last time at which the task certainly lived: sched_switch also names the task that left. 0: unknown. */
static uint64_t last_seen(const struct tasks_analysis *tasks, const struct life *life)
{
	const struct state_task *task = tasks_state_of(tasks, life);
	const struct state *state = &tasks->pass->state;

	if (!task || life->known & LIFE_REPLACED)
		return 0;
	if (task->died)
		return task->died;
	return state->events[STATE_SWITCH] && task->mode != TASK_UNKNOWN ? state->now : 0;
}

/* How long it lived, as far as the recording goes. */
uint64_t tasks_lasted(const struct tasks_analysis *tasks, const struct life *life)
{
	const struct state *state = &tasks->pass->state;
	uint64_t from = life->known & LIFE_BEGAN ? life->began : state->start, to = life->last,
		 seen = last_seen(tasks, life);

	if (life->known & LIFE_ENDED)
		to = life->ended;
	else if (tasks_end_of(tasks, life) == TASKS_ALIVE)
		to = state->now;
	else if (seen > to)
		to = seen;
	return to > from ? to - from : 0;
}

/* Whether the task failed, as far as it is known. */
bool tasks_failed(const struct life *life)
{
	return life->status && life->status != LIFE_STATUS_UNKNOWN;
}

/* Whether any event shows how tasks ended; otherwise it is not known how many failed. */
bool tasks_know_status(const struct tasks_analysis *tasks)
{
	for (uint32_t i = 0; i < tasks->nr_owns; i++)
		if (lives_at(tasks->lives, i)->status != LIFE_STATUS_UNKNOWN)
			return true;
	return false;
}

/* Whether the user wants a row of the task. */
bool tasks_wants(const struct tasks_analysis *tasks, const struct life *life, const struct tasks_own *own)
{
	const struct state *state = &tasks->pass->state;
	struct state_task task = { .pid = life->pid,
				   .born = life->first,
				   .died = life->known & LIFE_ENDED ? life->ended : 0 };

	if (own && own->task != STATE_NO_TASK && pass_wants_cpu(tasks->pass, life->cpu) &&
	    pass_wants(tasks->pass, &state->tasks[own->task]))
		return true;

	for (size_t i = 0; i < TASK_COMM_LEN; i++)
		task.comm[i] = life->name[i];
	return pass_wants_cpu(tasks->pass, life->cpu) && pass_wants(tasks->pass, &task);
}
