// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/timeline/runs.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/state/state.h"

const char *runs_end_name(enum runs_end end)
{
	return end == RUNS_KNOWN ? "known" : end == RUNS_LOST ? "unknown" : "open";
}

enum runs_off runs_off(uint8_t mode)
{
	switch ((enum task_mode)mode) {
	case TASK_PREEMPTED:
	case TASK_WAKING:
	case TASK_QUEUED:
		return RUNS_WAITS;
	case TASK_SLEEPING:
	case TASK_BLOCKED:
	case TASK_STOPPED:
		return RUNS_BLOCKED;
	case TASK_UNKNOWN:
	case TASK_NEW:
	case TASK_RUNNING:
	case TASK_DEAD:
	case TASK_MODES:
		break;
	}
	return RUNS_NOT_OFF;
}

void runs_release(struct runs *runs)
{
	free(runs->runs);
	free(runs->modes);
}

static struct runs_mode *mode_of(struct runs *runs, uint32_t id)
{
	while (runs->nr_modes <= id)
		if (!vec_push(runs->modes, runs->nr_modes)) {
			runs->failed = true;
			return NULL;
		}
	return &runs->modes[id];
}

static uint64_t known_until(const struct runs *runs, const struct state_task *task, const struct runs_mode *mode,
			    uint64_t to)
{
	uint64_t from;

	if (mode->mode == TASK_RUNNING || task->idle || !gaps_find(&runs->state->gaps, mode->gap, &from) || from > to)
		return to;
	return from > mode->part ? from : mode->part;
}

/*
 * If a task lost its CPU or got one without a sched_switch, its mode is known only until the CPU's event before this
 * one.
 */
static uint64_t switched_at(const struct runs *runs, const struct state_task *task, uint32_t id,
			    const struct runs_mode *mode, uint64_t to)
{
	const struct state_step *step = &runs->state->step;
	bool left = step->kind == STEP_SWITCH && step->other == id, ran = mode->mode == TASK_RUNNING;
	bool taken = runs->broken && (left || (task->mode == TASK_RUNNING && !task->exact));
	uint32_t cpu = ran ? mode->cpu : task->cpu;

	if ((ran ? left : !taken) || cpu >= runs->nr_turns || runs->runs[cpu].last > to)
		return to;
	return ran || runs->runs[cpu].last > mode->part ? runs->runs[cpu].last : mode->part;
}

/*
 * If a waiting task is being woken again, it has run and slept since it was queued, and events that would show it are
 * missing: the state takes that part of its wait back.
 */
static bool is_taken_back(const struct runs *runs, uint32_t id, const struct runs_mode *mode)
{
	const struct state_step *step = &runs->state->step;

	return step->kind == STEP_WAKING && step->task == id && step->was == TASK_UNKNOWN && mode->some &&
	       (mode->mode == TASK_WAKING || mode->mode == TASK_QUEUED);
}

static void end_mode(const struct runs *runs, const struct state_task *task, const struct runs_mode *mode, uint64_t to,
		     enum runs_end end)
{
	uint64_t until = known_until(runs, task, mode, to);

	if (mode->some && mode->mode != TASK_UNKNOWN && until > mode->since)
		runs->calls.mode(runs->calls.arg, mode, until, until < to ? RUNS_LOST : end);
}

static uint8_t shown_mode(const struct runs *runs, const struct state_task *task)
{
	return runs->calls.one_wait && task->mode == TASK_QUEUED ? TASK_WAKING : task->mode;
}

static void change_mode(struct runs *runs, const struct state_task *task, uint32_t id, uint8_t shown)
{
	struct runs_mode *mode = mode_of(runs, id);
	uint64_t to;

	if (!mode)
		return;
	if (mode->some && mode->mode == shown && shown == TASK_WAKING && !is_taken_back(runs, id, mode) &&
	    known_until(runs, task, mode, task->since) == task->since) {
		mode->part = task->since;
		mode->gap = task->gap;
		return;
	}
	to = is_taken_back(runs, id, mode) ? mode->part : switched_at(runs, task, id, mode, task->since);
	end_mode(runs, task, mode, to, to < task->since || task->mode == TASK_UNKNOWN ? RUNS_LOST : RUNS_KNOWN);
	*mode = (struct runs_mode){ .since = task->since,
				    .part = task->since,
				    .gap = task->gap,
				    .cpu = task->cpu,
				    .task = id,
				    .waker = task->waker.pid,
				    .mode = shown,
				    .letter = task->letter,
				    .some = true };
}

static inline void look_at_task(struct runs *runs, uint32_t id)
{
	const struct state_task *task = runs->calls.mode && id < runs->state->nr_tasks ? &runs->state->tasks[id] : NULL;
	const struct runs_mode *mode = id < runs->nr_modes ? &runs->modes[id] : NULL;
	uint8_t shown;

	if (!task)
		return;
	shown = shown_mode(runs, task);
	if (!mode || !mode->some || mode->mode != shown || mode->since != task->since)
		change_mode(runs, task, id, shown);
}

static struct runs_turn *turn_of(struct runs *runs, size_t cpu)
{
	while (runs->nr_turns <= cpu)
		if (!vec_push(runs->runs, runs->nr_turns)) {
			runs->failed = true;
			return NULL;
		}
	return &runs->runs[cpu];
}

static void end_turn(const struct runs *runs, uint32_t cpu, const struct runs_turn *turn, uint64_t to,
		     enum runs_end end)
{
	if (runs->calls.turn && turn->some && to > turn->since)
		runs->calls.turn(runs->calls.arg, cpu, turn, to, end);
}

/*
 * `left`: the task that just lost this CPU by a switch, whose run ends now; that of any other task ended with its last
 * event, and the switch from it was not recorded.
 */
static void look_at_cpu(struct runs *runs, uint32_t number, uint32_t left)
{
	const struct state_cpu *cpu = &runs->state->cpus[number];
	struct runs_turn *turn = cpu->seen ? turn_of(runs, number) : NULL;

	if (!turn)
		return;
	if (left != STATE_NO_TASK || cpu->task != (turn->some ? turn->task : (uint32_t)STATE_NO_TASK)) {
		uint32_t before = turn->task;
		bool exact = before == left;

		if (turn->some) {
			end_turn(runs, number, turn, exact ? runs->state->now : turn->last,
				 exact ? RUNS_KNOWN : RUNS_LOST);
			look_at_task(runs, before);
		}
		*turn = (struct runs_turn){ .since = runs->state->now,
					    .last = turn->last,
					    .task = cpu->task,
					    .some = cpu->task != STATE_NO_TASK };
		if (runs->calls.begin && turn->some)
			turn->note = runs->calls.begin(runs->calls.arg, turn->task);
	}
	if (turn->some)
		look_at_task(runs, turn->task);
	turn->last = cpu->last;
}

void runs_look(struct runs *runs, const struct event *event)
{
	const struct state *state = runs->state;

	runs->broken = state->breaks != runs->breaks || state->losses != runs->losses;
	runs->breaks = state->breaks;
	runs->losses = state->losses;
	if (state->step.task != STATE_NO_TASK)
		look_at_task(runs, state->step.task);
	if (state->step.other != STATE_NO_TASK)
		look_at_task(runs, state->step.other);
	for (uint32_t i = 0; runs->broken && i < state->nr_cpus; i++)
		if (i != event->cpu)
			look_at_cpu(runs, i, STATE_NO_TASK);
	if (event->cpu < state->nr_cpus)
		look_at_cpu(runs, event->cpu,
			    state->step.kind == STEP_SWITCH ? state->step.other : (uint32_t)STATE_NO_TASK);
}

void runs_end(struct runs *runs)
{
	const struct state *state = runs->state;

	for (uint32_t i = 0; i < runs->nr_turns; i++)
		end_turn(runs, i, &runs->runs[i], state->now, RUNS_OPEN);
	for (uint32_t i = 0; i < runs->nr_modes; i++)
		if (!state->tasks[i].died)
			end_mode(runs, &state->tasks[i], &runs->modes[i], state->now, RUNS_OPEN);
}
