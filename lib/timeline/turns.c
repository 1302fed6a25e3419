// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/turns.h"

#include "lib/base/vec.h"
#include "lib/event/event.h"
#include "lib/state/state.h"

#include <stdlib.h>

const char *turns_end_name(enum turns_end end)
{
	return end == TURNS_KNOWN ? "known" : end == TURNS_LOST ? "unknown" : "open";
}

enum turns_off turns_off(uint8_t mode)
{
	switch ((enum task_mode)mode) {
	case TASK_PREEMPTED:
	case TASK_WAKING:
	case TASK_QUEUED:
		return TURNS_WAITS;
	case TASK_SLEEPING:
	case TASK_BLOCKED:
	case TASK_STOPPED:
		return TURNS_BLOCKED;
	case TASK_UNKNOWN:
	case TASK_NEW:
	case TASK_RUNNING:
	case TASK_DEAD:
	case TASK_MODES:
		break;
	}
	return TURNS_NOT_OFF;
}

void turns_release(struct turns *turns)
{
	free(turns->turns);
	free(turns->modes);
}

static struct turns_mode *mode_of(struct turns *turns, uint32_t id)
{
	while (turns->nr_modes <= id)
		if (!vec_push(turns->modes, turns->nr_modes)) {
			turns->failed = true;
			return NULL;
		}
	return &turns->modes[id];
}

static uint64_t known_until(const struct turns *turns, const struct state_task *task, const struct turns_mode *mode,
			    uint64_t to)
{
	uint64_t from;

	if (mode->mode == TASK_RUNNING || task->idle || !gaps_find(&turns->state->gaps, mode->gap, &from) || from > to)
		return to;
	return from > mode->part ? from : mode->part;
}

/*
 * If a running task lost its CPU without a sched_switch, its mode is known only until the CPU's event before this one.
 */
static uint64_t running_until(const struct turns *turns, uint32_t id, const struct turns_mode *mode, uint64_t to)
{
	const struct state_step *step = &turns->state->step;
	bool left = step->kind == STEP_SWITCH && step->other == id;

	if (mode->mode != TASK_RUNNING || left || mode->cpu >= turns->nr_turns || turns->turns[mode->cpu].last > to)
		return to;
	return turns->turns[mode->cpu].last;
}

/*
 * If a waiting task is being woken again, it has run and slept since it was queued, and events that would show it are
 * missing: the state takes that part of its wait back.
 */
static bool is_taken_back(const struct turns *turns, uint32_t id, const struct turns_mode *mode)
{
	const struct state_step *step = &turns->state->step;

	return step->kind == STEP_WAKING && step->task == id && step->was == TASK_UNKNOWN && mode->some &&
	       (mode->mode == TASK_WAKING || mode->mode == TASK_QUEUED);
}

static void end_mode(const struct turns *turns, const struct state_task *task, const struct turns_mode *mode,
		     uint64_t to, enum turns_end end)
{
	uint64_t until = known_until(turns, task, mode, to);

	if (mode->some && mode->mode != TASK_UNKNOWN && until > mode->since)
		turns->calls.mode(turns->calls.arg, mode, until, until < to ? TURNS_LOST : end);
}

static uint8_t shown_mode(const struct turns *turns, const struct state_task *task)
{
	return turns->calls.one_wait && task->mode == TASK_QUEUED ? TASK_WAKING : task->mode;
}

static void look_at_task(struct turns *turns, uint32_t id)
{
	const struct state_task *task =
		turns->calls.mode && id < turns->state->nr_tasks ? &turns->state->tasks[id] : NULL;
	struct turns_mode *mode = task ? mode_of(turns, id) : NULL;
	uint8_t shown = task ? shown_mode(turns, task) : 0;
	uint64_t to;

	if (!mode || (mode->some && mode->mode == shown && mode->since == task->since))
		return;
	if (mode->some && mode->mode == shown && shown == TASK_WAKING && !is_taken_back(turns, id, mode) &&
	    known_until(turns, task, mode, task->since) == task->since) {
		mode->part = task->since;
		mode->gap = task->gap;
		return;
	}
	to = is_taken_back(turns, id, mode) ? mode->part : running_until(turns, id, mode, task->since);
	end_mode(turns, task, mode, to, to < task->since || task->mode == TASK_UNKNOWN ? TURNS_LOST : TURNS_KNOWN);
	*mode = (struct turns_mode){ .since = task->since,
				     .part = task->since,
				     .gap = task->gap,
				     .cpu = task->cpu,
				     .task = id,
				     .waker = task->waker,
				     .mode = shown,
				     .letter = task->letter,
				     .some = true };
}

static struct turns_turn *turn_of(struct turns *turns, size_t cpu)
{
	while (turns->nr_turns <= cpu)
		if (!vec_push(turns->turns, turns->nr_turns)) {
			turns->failed = true;
			return NULL;
		}
	return &turns->turns[cpu];
}

static void end_turn(const struct turns *turns, uint32_t cpu, const struct turns_turn *turn, uint64_t to,
		     enum turns_end end)
{
	if (turns->calls.turn && turn->some && to > turn->since)
		turns->calls.turn(turns->calls.arg, cpu, turn, to, end);
}

/*
 * `left`: the task that just lost this CPU by a switch, whose run ends now; that of any other task ended with its last
 * event, and the switch from it was not recorded.
 */
static void look_at_cpu(struct turns *turns, uint32_t number, uint32_t left)
{
	const struct state_cpu *cpu = &turns->state->cpus[number];
	struct turns_turn *turn = cpu->seen ? turn_of(turns, number) : NULL;

	if (!turn)
		return;
	if (left != STATE_NO_TASK || cpu->task != (turn->some ? turn->task : (uint32_t)STATE_NO_TASK)) {
		uint32_t before = turn->task;
		bool exact = before == left;

		if (turn->some) {
			end_turn(turns, number, turn, exact ? turns->state->now : turn->last,
				 exact ? TURNS_KNOWN : TURNS_LOST);
			look_at_task(turns, before);
		}
		*turn = (struct turns_turn){ .since = turns->state->now,
					     .task = cpu->task,
					     .some = cpu->task != STATE_NO_TASK };
		if (turns->calls.begin && turn->some)
			turn->note = turns->calls.begin(turns->calls.arg, turn->task);
	}
	if (turn->some)
		look_at_task(turns, turn->task);
	turn->last = cpu->last;
}

/* Most events say only that the same task still has the CPU: then its turn and its mode are what they were. */
static inline bool goes_on(const struct turns *turns, const struct event *event)
{
	const struct state *state = turns->state;
	const struct turns_turn *turn = event->cpu < turns->nr_turns ? &turns->turns[event->cpu] : NULL;

	return state->step.kind == STEP_NONE && !state->listed.filtered && turn && turn->some &&
	       event->cpu < state->nr_cpus && state->cpus[event->cpu].task == turn->task;
}

void turns_see(struct turns *turns, const struct event *event)
{
	const struct state *state = turns->state;
	bool broken = state->breaks != turns->breaks || state->losses != turns->losses;

	if (!broken && goes_on(turns, event)) {
		turns->turns[event->cpu].last = state->cpus[event->cpu].last;
		return;
	}
	turns->breaks = state->breaks;
	turns->losses = state->losses;
	if (state->step.task != STATE_NO_TASK)
		look_at_task(turns, state->step.task);
	if (state->step.other != STATE_NO_TASK)
		look_at_task(turns, state->step.other);
	for (uint32_t i = 0; broken && i < state->nr_cpus; i++)
		if (i != event->cpu)
			look_at_cpu(turns, i, STATE_NO_TASK);
	if (event->cpu < state->nr_cpus)
		look_at_cpu(turns, event->cpu,
			    state->step.kind == STEP_SWITCH ? state->step.other : (uint32_t)STATE_NO_TASK);
}

void turns_end(struct turns *turns)
{
	const struct state *state = turns->state;

	for (uint32_t i = 0; i < turns->nr_turns; i++)
		end_turn(turns, i, &turns->turns[i], state->now, TURNS_OPEN);
	for (uint32_t i = 0; i < turns->nr_modes; i++)
		if (!state->tasks[i].died)
			end_mode(turns, &state->tasks[i], &turns->modes[i], state->now, TURNS_OPEN);
}
