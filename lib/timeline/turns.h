/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_TIMELINE_TURNS_H
#define WEFT_TIMELINE_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct state;
struct state_task;

/*
 * What lib/state knows, as spans of time: which task had each CPU (a turn), and what each task did (a mode). After each
 * event the tasks that may have changed are looked at. A span ends where events were lost that may have changed it, or
 * with the trace; unknown time has no span. So the spans of a task or a CPU add up to the times of weft sched.
 */
enum turns_end {
	TURNS_KNOWN, /* an event ended it: of a turn, a switch */
	TURNS_LOST,  /* it may have ended later */
	TURNS_OPEN,  /* it goes on when the trace ends */
};

/* How an end that is not known is called. */
const char *turns_end_name(enum turns_end end);

struct turns_turn {
	uint64_t since, last; /* `last`: the last event of the CPU before this one */
	uint32_t task;
	uint32_t note; /* from begin() */
	bool some;
};

struct turns_mode {
	uint64_t since;
	uint64_t part, gap; /* when its last part, being woken or being queued, began, and gaps::number then */
	uint32_t cpu;       /* of a running task */
	uint32_t task;
	int32_t waker; /* state_task::waker when it began */
	uint8_t mode;  /* enum task_mode */
	char letter;   /* state_task::letter when it began */
	bool some;
};

struct turns_calls {
	void *arg;
	/* A turn begins: returns the caller's note of it. NULL: there are no notes. */
	uint32_t (*begin)(void *arg, uint32_t task);
	/* NULL: turns are of no use. */
	void (*turn)(void *arg, uint32_t cpu, const struct turns_turn *turn, uint64_t to, enum turns_end end);
	/* NULL: modes are of no use. */
	void (*mode)(void *arg, const struct turns_mode *mode, uint64_t to, enum turns_end end);
	bool one_wait; /* being woken and being queued are one mode, TASK_WAKING */
};

struct turns {
	const struct state *state; /* borrowed */
	struct turns_calls calls;
	struct turns_turn *turns; /* by CPU */
	size_t nr_turns;
	struct turns_mode *modes; /* by task */
	size_t nr_modes;
	uint64_t breaks, losses;
	bool failed;
};

/* Whether a task in this mode (enum task_mode) waits for a CPU, or for something else. */
enum turns_off { TURNS_NOT_OFF, TURNS_WAITS, TURNS_BLOCKED };
enum turns_off turns_off(uint8_t mode);

void turns_release(struct turns *turns);

/* Call it after state_see(). */
void turns_see(struct turns *turns, const struct event *event);
void turns_end(struct turns *turns);

#endif
