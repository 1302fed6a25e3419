/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_CALLS_H
#define WEFT_MEANING_FOLLOW_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/follow/repeats.h"

struct event;
struct graph_record;

/*
 * Pairs of the function graph: finds the funcgraph_entry of each funcgraph_exit, and the time that each function took,
 * with and without the functions that it called. Entries are stored per task, for idle tasks per CPU: a task that
 * sleeps in a function may return from it on another CPU. The consumer passes every event in order.
 * When events are lost, the open calls of the tasks that were seen last on that CPU are forgotten, and those of other
 * tasks that come to that CPU next. The exit of a call without a known entry still has its start, if the record has it.
 */
struct calls;

struct call {
	uint64_t func;
	int32_t depth;
	bool entered;           /* the entry was seen; otherwise `nested` may be too small */
	bool timed;             /* start and lasted are known */
	uint64_t start, lasted; /* from the times in the record, or from the events' time stamps */
	uint64_t nested;        /* the part of `lasted` spent in traced functions that it called */
	/* the part of `nested` spent in interrupts that hit it or a function that it called */
	uint64_t interrupted;
	uint64_t mark; /* the value set by calls_mark() when it was entered */
	/* recursion: an outer call of the same function is open, and its time includes this one's */
	bool again;
	struct repeats_found repeats;
	bool interrupts; /* it ran in an interrupt that hit its caller */
	uint64_t word;   /* the consumer's word of its frame: calls_frame() */
};

/* NULL without memory. */
struct calls *calls_new(void);
void calls_free(struct calls *calls);

/* Sets call::mark for all later calls: a time of the consumer's choice. */
void calls_mark(struct calls *calls, uint64_t mark);

/* Returns true, and the call, when the event ends one. For an event that begins one, only call::func is set. */
bool calls_see(struct calls *calls, const struct event *event, struct call *ret);
/* The same of an event whose record the caller has read. */
bool calls_see_record(struct calls *calls, const struct graph_record *record, const struct event *event,
		      struct call *ret);

/*
 * A function that has not returned. The word belongs to the consumer, is 0 at first, and is valid until the next event.
 */
struct calls_frame {
	uint64_t func;
	int32_t depth;
	uint8_t within; /* the interrupt flags of its entry: EVENT_HARDIRQ, EVENT_SOFTIRQ, EVENT_NMI */
	uint64_t *word;
};

/*
 * The open functions of the event's task after this event: `back` 0 is the innermost, 1 its caller. False when there
 * are no more.
 */
bool calls_frame(const struct calls *calls, const struct event *event, size_t back, struct calls_frame *ret);

/*
 * The number of calls without an exit: `open` still run at the end, `lost` were open when events were lost, for
 * `dropped` the trace has no exit although no event was lost.
 */
struct calls_left {
	uint64_t open, lost, dropped;
};

struct calls_left calls_left(const struct calls *calls);

/*
 * When an interval ends. calls_rebase(): call::mark of all open calls is lower from now on, by what `past` returns for
 * their task; pid 0 is an idle one. calls_trim(): forgets all tasks but those with open calls, of which it keeps so
 * many, and what was lost and dropped. Returns whether there are any.
 */
void calls_rebase(struct calls *calls, uint64_t (*past)(void *arg, int32_t pid), void *arg);
bool calls_trim(struct calls *calls, size_t most);

/* Whether memory ran out, so that a call is missing. */
bool calls_starved(const struct calls *calls);

#endif
