// SPDX-License-Identifier: GPL-2.0-only
#include "lib/state/state_internal.h"

#include "lib/base/number.h"
#include "lib/base/text.h"
#include "lib/event/context.h"

#include <string.h>

/*
 * A PID filter, as the kernel applies it (kernel/trace/trace_events.c, event_filter_pid_sched_switch_probe_pre() and
 * its neighbours): an event is recorded if the task on the CPU is listed; a sched_switch also if the task that gets the
 * CPU is, a wakeup also if the woken task is. So everything about a listed task is recorded. Of two other tasks that
 * follow each other on a CPU nothing is.
 */

static bool learn(struct state *state, int32_t pid)
{
	uint32_t id = tasks_find(state, pid);

	if (id != STATE_NO_TASK)
		state->tasks[id].listed = true;
	return u64_map_add(&state->listed, (uint32_t)pid);
}

static bool is_listed(const struct state *state, int32_t pid)
{
	return u64_map_find(&state->listed, (uint32_t)pid);
}

bool filter_lists(const struct state *state, const struct state_task *task)
{
	/* With event-fork a task leaves the list when it ends: the next task of its PID is another one. */
	return is_listed(state, task->pid) && !(state->forks && task->generation);
}

static void add_list(struct state *state, const char *pids)
{
	struct text_word word;

	while (pids && text_next_word(&pids, " \n", &word)) {
		const char *at = word.at;
		int32_t pid;

		if (number_s32(&at, &pid) && !u64_map_add(&state->listed, (uint32_t)pid))
			state->failed = true;
	}
}

static bool has_switches(const struct context *context)
{
	const char *on = context->switched_on;
	struct text_word word;

	while (on && text_next_word(&on, "\n", &word))
		if (text_word_is(word, "sched:sched_switch"))
			return true;
	return false;
}

void state_restrict(struct state *state, const struct context *context)
{
	if (!has_switches(context))
		return;
	if (!context->event_pids && !context->event_pids_left)
		state->unfiltered = true;
	add_list(state, context->event_pids);
	add_list(state, context->event_pids_left);
	state->forks |= context->event_fork;
	state->filtered = !state->unfiltered;
}

/* An idle task that is not on the list never will be. So of an idle task and another one, it is the other. */
static bool learn_other(struct state *state, int32_t pid, int32_t other)
{
	return pid || is_listed(state, 0) || learn(state, other);
}

void filter_learn(struct state *state, const struct event *event, uint8_t role)
{
	const struct state_places *places = &state->places[role];
	const struct format *format = event->type->format;
	int32_t pid = places->pid.field ? (int32_t)place_s64(&places->pid, event) : 0;
	bool ok = true;

	switch ((enum state_role)role) {
	case STATE_SWITCH: {
		int32_t left = places->other.field ? (int32_t)place_s64(&places->other, event) : 0;

		ok = learn_other(state, left, pid) && learn_other(state, pid, left);
		break;
	}
	case STATE_WAKING:
	case STATE_WAKEUP:
	case STATE_WAKEUP_NEW:
		ok = learn_other(state, event->pid, pid);
		break;
	default:
		/* The entries of tracers and markers are no events: the filter does not apply to them. */
		if (format && strcmp(format->system, "ftrace"))
			ok = is_listed(state, event->pid) || learn(state, event->pid);
		break;
	}
	if (!ok)
		state->failed = true;
}

static void hide(struct state *state, uint32_t id)
{
	struct state_task *task = id == STATE_NO_TASK ? NULL : &state->tasks[id];

	if (!task || task->listed || task->died || task->mode == TASK_UNKNOWN)
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

	if (step->kind == STEP_FORK && state->forks && step->other != STATE_NO_TASK &&
	    state->tasks[step->other].listed && !learn(state, state->tasks[step->task].pid))
		state->failed = true;
	if (step->kind == STEP_SWITCH)
		hide(state, step->other);
	else
		hide(state, step->task);
	if (id == STATE_NO_TASK || state->tasks[id].listed)
		return;
	hide(state, id);
	cpus_give(state, number, STATE_NO_TASK);
}
