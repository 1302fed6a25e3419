/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_HISTORY_H
#define WEFT_ANSWERS_FRAME_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/state/state.h"

/*
 * What each CPU did last: its modes and tasks with their times, the newest HISTORY_STEPS of them. An analysis can look
 * back from the end of a wait to its cause. The history must see every event, after the state has.
 * Older steps are forgotten, but their times are added to the waits that go on meanwhile (history_wait.c). So a wait
 * may be of any length, and memory does not grow with the number of events.
 */
enum { HISTORY_STEPS = 1024 };

struct history_step {
	uint64_t from;    /* it lasts until the next step's `from` */
	uint64_t resched; /* when need-resched was first seen set, if it still was; 0: it was not */
	uint64_t run;     /* number of the run: a task's time on the CPU with all interrupts, until it leaves the CPU */
	uint32_t task;    /* or STATE_NO_TASK: unknown */
	uint8_t mode;     /* enum cpu_mode */
};

/* What a CPU did in a span. */
struct history_sum {
	uint64_t modes[CPU_MODES]; /* without CPU_TASK: */
	uint64_t before, after;    /* times of one run, before and after need-resched was set */
	struct u64_map tasks;      /* by task: uint64_t, the time of all its other runs */
};

/*
 * A wait for a CPU, on one run queue after another. In the list of the CPU of its present queue the waits are ordered
 * by `since`. Its owner keeps it where it is until it is no longer in a list.
 */
struct history_wait {
	uint64_t began;          /* the whole wait */
	uint64_t since;          /* on the present queue */
	uint64_t run;            /* the CPU's run then; 0: unknown */
	uint32_t cpu;            /* of the present queue; STATE_NO_CPU: it does not wait */
	uint32_t task;           /* the task of that run, or STATE_NO_TASK */
	uint32_t before;         /* the task of the run when the whole wait began, or STATE_NO_TASK */
	bool moved;              /* the present queue is not the first */
	bool full;               /* `past` has something */
	struct history_sum past; /* forgotten steps from `since` to the `since` of the next wait in the list */
	struct history_sum done; /* what the CPUs of former queues did: before and after of the run `before` */
	struct history_wait *prev, *next;
};

struct history {
	struct history_cpu {
		struct history_step *steps; /* a ring */
		uint64_t nr;                /* number of steps so far */
		uint64_t forgotten;         /* the first steps, which are in the sums of the waits */
		uint64_t last;              /* time of the CPU's last event */
		struct history_wait *first_wait, *last_wait;
	} * cpus;
	size_t nr_cpus;
	uint64_t breaks;
	bool failed;
};

void history_release(struct history *history);

/* Of an event that changes something; private to history_see(). */
void history_change(struct history *history, const struct state *state, const struct event *event);

/* Most events change neither the task nor the mode of their CPU. */
static inline void history_see(struct history *history, const struct state *state, const struct event *event)
{
	const struct state_cpu *now = event->cpu < state->nr_cpus ? &state->cpus[event->cpu] : NULL;
	struct history_cpu *cpu = event->cpu < history->nr_cpus ? &history->cpus[event->cpu] : NULL;
	const struct history_step *step = now && cpu && cpu->nr ? &cpu->steps[(cpu->nr - 1) % HISTORY_STEPS] : NULL;

	if (step && step->task == now->task && step->mode == now->mode && !step->resched &&
	    !(event->flags & EVENT_NEED_RESCHED) && event->kind == EVENT_RECORD && state->breaks == history->breaks)
		cpu->last = state->now;
	else
		history_change(history, state, event);
}

/* Returns the CPU with this number, which may have no steps; NULL without memory. Valid until the next call. */
struct history_cpu *history_cpu_of(struct history *history, uint32_t number);

/* Gets a step of a CPU: `index` 0 is the present one, 1 the one before. Returns false after the oldest that is kept. */
bool history_back(const struct history *history, uint32_t cpu, size_t index, struct history_step *ret);

/* A wait begins; if it has gone on, it ends first. `since` may be in the past. */
void history_wait_begin(struct history *history, struct history_wait *wait, uint32_t cpu, uint64_t since);
/* The wait goes on in the queue of this CPU. Does nothing with a wait that does not go on. */
void history_wait_move(struct history *history, struct history_wait *wait, uint32_t cpu, uint64_t at);
/*
 * Adds up what the CPUs did from the beginning of the wait until `to` in an empty sum, which the caller releases.
 * `before` and `after` are of the run when the wait began.
 */
void history_wait_sum(struct history *history, const struct history_wait *wait, uint64_t to, struct history_sum *sum);
/* Ends the wait, and releases what it holds. */
void history_wait_end(struct history *history, struct history_wait *wait);

void history_wait_init(struct history_wait *wait);
void history_sum_init(struct history_sum *sum);
void history_sum_release(struct history_sum *sum);

/* The CPU's oldest steps are about to be forgotten: adds their times, up to the step with this number, to its waits. */
void history_waits_keep(struct history *history, struct history_cpu *cpu, uint64_t until);

#endif
