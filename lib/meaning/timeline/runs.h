/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_TIMELINE_RUNS_H
#define WEFT_MEANING_TIMELINE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/event/event.h"
#include "lib/meaning/state/state.h"

/*
 * What lib/meaning/state knows, as spans of time: which task had each CPU (a turn), and what each task did (a mode).
 * After each event the tasks that may have changed are looked at. A span ends where events were lost that may have
 * changed it, or with the trace; unknown time has no span. So the spans of a task or a CPU add up to the times of weft
 * sched.
 */
enum runs_end {
	RUNS_KNOWN, /* an event ended it: of a turn, a switch */
	RUNS_LOST,  /* it may have ended later */
	RUNS_OPEN,  /* it goes on when the trace ends */
};

/* How an end that is not known is called. */
const char *runs_end_name(enum runs_end end);

struct runs_turn {
	uint64_t since, last; /* `last`: the last event of the CPU before this one */
	uint32_t task;
	uint32_t note; /* from begin() */
	bool some;
};

struct runs_mode {
	uint64_t since;
	uint64_t part, gap; /* when its last part, being woken or being queued, began, and gaps::number then */
	uint32_t cpu;       /* of a running task */
	uint32_t task;
	int32_t waker; /* the task of state_task::waker when it began */
	uint8_t mode;  /* enum task_mode */
	char letter;   /* state_task::letter when it began */
	bool some;
};

struct runs_calls {
	void *arg;
	/* A turn begins: returns the caller's note of it. NULL: there are no notes. */
	uint32_t (*begin)(void *arg, uint32_t task);
	/* NULL: turns are of no use. */
	void (*turn)(void *arg, uint32_t cpu, const struct runs_turn *turn, uint64_t to, enum runs_end end);
	/* NULL: modes are of no use. */
	void (*mode)(void *arg, const struct runs_mode *mode, uint64_t to, enum runs_end end);
	bool one_wait; /* being woken and being queued are one mode, TASK_WAKING */
};

struct runs {
	const struct state *state; /* borrowed */
	struct runs_calls calls;
	struct runs_turn *runs; /* by CPU */
	size_t nr_turns;
	struct runs_mode *modes; /* by task */
	size_t nr_modes;
	uint64_t breaks, losses;
	bool broken; /* one of them has grown by the last event */
	bool failed;
};

/* Whether a task in this mode (enum task_mode) waits for a CPU, or for something else. */
enum runs_off { RUNS_NOT_OFF, RUNS_WAITS, RUNS_BLOCKED };
enum runs_off runs_off(uint8_t mode);

void runs_release(struct runs *runs);

/* Looks at what has changed. Private to the function below. */
void runs_look(struct runs *runs, const struct event *event);

/* Call it after state_see(). */
static inline void runs_see(struct runs *runs, const struct event *event)
{
	const struct state *state = runs->state;
	struct runs_turn *turn = event->cpu < runs->nr_turns ? &runs->runs[event->cpu] : NULL;

	/* Most events say only that the same task still has the CPU: then its turn and its mode are what they were. */
	if (__builtin_expect(turn && turn->some && state->step.kind == STEP_NONE && state->breaks == runs->breaks &&
				     state->losses == runs->losses && !state->listed.filtered &&
				     event->cpu < state->nr_cpus && state->cpus[event->cpu].task == turn->task,
			     1))
		turn->last = state->cpus[event->cpu].last;
	else
		runs_look(runs, event);
}
void runs_end(struct runs *runs);

#endif
