// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/html_states.h"

#include "formats/export/bands.h"
#include "formats/export/labels.h"
#include "lib/base/vec.h"
#include "lib/event/event.h"
#include "lib/event/tasks.h"
#include "lib/state/state.h"

#include <stdlib.h>
#include <string.h>

/* The names by which the script colours the modes; NULL: not shown. */
static const char *const mode_names[TASK_MODES] = {
	[TASK_NEW] = "new",         [TASK_RUNNING] = "running", [TASK_PREEMPTED] = "preempted",
	[TASK_WAKING] = "waking",   [TASK_QUEUED] = "runnable", [TASK_SLEEPING] = "sleeping",
	[TASK_BLOCKED] = "blocked", [TASK_STOPPED] = "stopped",
};

void html_states_release(struct html_states *states)
{
	free(states->turns);
	free(states->modes);
}

static uint32_t label_of(struct html_states *states, const char *name)
{
	bool is_new;
	uint32_t label = labels_add(states->labels, name, strnlen(name, HTML_NAME_MAX), &is_new);

	states->failed |= label == LABEL_NONE;
	return label;
}

static void add(struct html_states *states, enum band_kind kind, uint32_t id, uint64_t from, uint64_t to, uint32_t name)
{
	const struct slice slice = { .start = from - states->start, .lasted = to > from ? to - from : 0, .name = name };

	if (name != LABEL_NONE)
		bands_add(states->bands, kind, 0, id, 0, &slice);
}

static const char *comm_of(const struct html_states *states, const struct state_task *task)
{
	return *task->comm ? task->comm : task_name(states->names, task->pid).text;
}

static struct html_mode *mode_of(struct html_states *states, uint32_t id)
{
	while (states->nr_modes <= id)
		if (!vec_push(states->modes, states->nr_modes)) {
			states->failed = true;
			return NULL;
		}
	return &states->modes[id];
}

static uint64_t known_until(const struct html_states *states, const struct state_task *task,
			    const struct html_mode *mode, uint64_t to)
{
	uint64_t from;

	if (mode->mode == TASK_RUNNING || task->idle || !gaps_find(&states->state->gaps, mode->gap, &from) || from > to)
		return to;
	return from > mode->since ? from : mode->since;
}

static void end_mode(struct html_states *states, const struct state_task *task, const struct html_mode *mode,
		     uint64_t to)
{
	to = known_until(states, task, mode, to);
	if (mode->some && !task->idle && mode_names[mode->mode] && to > mode->since)
		add(states, BAND_STATE, (uint32_t)task->pid, mode->since, to, label_of(states, mode_names[mode->mode]));
}

/*
 * If a running task lost its CPU without a sched_switch, its state is known only until the CPU's event before this one.
 */
static uint64_t running_until(const struct html_states *states, uint32_t id, const struct html_mode *mode, uint64_t to)
{
	const struct state_step *step = &states->state->step;
	bool left = step->kind == STEP_SWITCH && step->other == id;

	if (mode->mode != TASK_RUNNING || left || mode->cpu >= states->nr_turns || states->turns[mode->cpu].last > to)
		return to;
	return states->turns[mode->cpu].last;
}

static void look_at_task(struct html_states *states, uint32_t id)
{
	const struct state_task *task = id < states->state->nr_tasks ? &states->state->tasks[id] : NULL;
	struct html_mode *mode = task ? mode_of(states, id) : NULL;

	if (!mode || (mode->some && mode->mode == task->mode && mode->since == task->since))
		return;
	end_mode(states, task, mode, running_until(states, id, mode, task->since));
	*mode = (struct html_mode){
		.since = task->since, .gap = task->gap, .cpu = task->cpu, .mode = task->mode, .some = true
	};
}

static struct html_turn *turn_of(struct html_states *states, size_t cpu)
{
	while (states->nr_turns <= cpu)
		if (!vec_push(states->turns, states->nr_turns)) {
			states->failed = true;
			return NULL;
		}
	return &states->turns[cpu];
}

static void end_turn(struct html_states *states, uint32_t cpu, const struct html_turn *turn, uint64_t to)
{
	if (turn->some && !states->state->tasks[turn->task].idle)
		add(states, BAND_CPU, cpu, turn->since, to, turn->name);
}

/* `exact`: the run ends now, not at the last event of the task. */
static void look_at_cpu(struct html_states *states, uint32_t number, bool exact)
{
	const struct state_cpu *cpu = &states->state->cpus[number];
	struct html_turn *turn = cpu->seen ? turn_of(states, number) : NULL;

	if (!turn)
		return;
	if (cpu->task != (turn->some ? turn->task : (uint32_t)STATE_NO_TASK)) {
		uint32_t before = turn->task;

		if (turn->some) {
			end_turn(states, number, turn, exact ? states->state->now : turn->last);
			look_at_task(states, before);
		}
		*turn = (struct html_turn){ .since = states->state->now,
					    .task = cpu->task,
					    .some = cpu->task != STATE_NO_TASK };
		if (turn->some)
			turn->name = label_of(states, comm_of(states, &states->state->tasks[turn->task]));
	}
	if (turn->some)
		look_at_task(states, turn->task);
	turn->last = cpu->last;
}

void html_states_see(struct html_states *states, const struct event *event)
{
	const struct state *state = states->state;
	bool broken = state->breaks != states->breaks || state->losses != states->losses;

	states->breaks = state->breaks;
	states->losses = state->losses;
	if (state->step.task != STATE_NO_TASK)
		look_at_task(states, state->step.task);
	if (state->step.other != STATE_NO_TASK)
		look_at_task(states, state->step.other);
	for (uint32_t i = 0; broken && i < state->nr_cpus; i++)
		if (i != event->cpu)
			look_at_cpu(states, i, false);
	if (event->cpu < state->nr_cpus)
		look_at_cpu(states, event->cpu, state->step.kind == STEP_SWITCH && !broken);
}

void html_states_end(struct html_states *states)
{
	const struct state *state = states->state;

	for (uint32_t i = 0; i < states->nr_turns; i++)
		end_turn(states, i, &states->turns[i], state->now);
	for (uint32_t i = 0; i < states->nr_modes; i++)
		if (!state->tasks[i].died)
			end_mode(states, &state->tasks[i], &states->modes[i], state->now);
}
