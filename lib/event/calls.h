/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_CALLS_H
#define WEFT_EVENT_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct schema_abi;

/*
 * Pairs of the function graph: which funcgraph_exit belongs to which funcgraph_entry, and how long each function took, with and
 * without those that it called. Entries are held per task, the idle tasks' per CPU: a task that sleeps in a function returns from
 * it on whatever CPU. A consumer shows it every event in order.
 * A gap forgets all that is open: the exit of a function whose entry is not known still says when it was called, if its record does.
 */
struct calls;

struct call {
	uint64_t func;
	int32_t depth;
	bool entered;           /* the entry was seen; otherwise `nested` is not known to be all */
	bool timed;             /* start and lasted are known */
	uint64_t start, lasted; /* by the record's own clock readings, or by the events' time stamps */
	uint64_t nested;        /* of `lasted`, what was spent in functions that it called and that were traced */
	uint64_t
		interrupted; /* of `nested`, what functions of interrupts took that hit it, or a function that it called */
	uint64_t mark;       /* what calls_mark() had said at its entry */
	bool again;          /* the same function is open below it: its time is in that one's, too */
};

/* NULL without memory. */
struct calls *calls_new(const struct schema_abi *abi);
void calls_free(struct calls *calls);

/* What calls that begin from here on keep: a clock of the consumer's. */
void calls_mark(struct calls *calls, uint64_t mark);

/* True and the call that the event ends. */
bool calls_see(struct calls *calls, const struct event *event, struct call *ret);

/* How many functions of the event's task are open after this event. */
size_t calls_open(const struct calls *calls, const struct event *event);

/* Calls whose end was not seen: `open` still are, of `lost` gaps hide it, and `dropped` ended without a word. */
struct calls_left {
	uint64_t open, lost, dropped;
};

struct calls_left calls_left(const struct calls *calls);

#endif
