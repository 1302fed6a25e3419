/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_CALLS_INTERNAL_H
#define WEFT_MEANING_FOLLOW_CALLS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/follow/cpu_gaps.h"
#include "lib/meaning/follow/graph_records.h"
#include "lib/meaning/follow/repeats.h"

/*
 * The calls inside open functions that may not belong to them: those of interrupts, which may be outside the times of
 * these functions, and those of functions whose entry was not seen.
 * An open function is known by its place among those of its task: 1 is the outermost one. Place 0 has the calls outside
 * all of them: the entry of the function that they hit may come later.
 */
struct hit {
	size_t frame; /* the place of the function that was hit */
	uint64_t start, lasted, interrupted;
};

struct hits {
	struct hit *items; /* the innermost function's are last */
	size_t nr;
	bool starved; /* memory ran out */
};

void hits_release(struct hits *hits);

/* Forgets the hits of the places from `open` on. */
void hits_forget(struct hits *hits, size_t open);

/* Whether there may be hits of this place. */
static inline bool hits_any(const struct hits *hits, size_t frame)
{
	return hits->nr && hits->items[hits->nr - 1].frame >= frame;
}

/*
 * Adds a hit of the innermost open function. If there is no room for all hits, the last stay where they are; outside
 * all functions, the first are forgotten.
 */
void hits_add(struct hits *hits, size_t frame, const struct hit *hit);

/* Removes the hits of a function that began in this time. Returns their sums. */
struct hit hits_take(struct hits *hits, size_t frame, uint64_t since, uint64_t until);

/*
 * Call it when a function that lasted from `from` to `to` ends. Removes the hits outside this time, or, with
 * `to_caller`, makes them hits of its caller. Returns their sums. The other hits of the function are forgotten.
 */
struct hit hits_move(struct hits *hits, size_t frame, bool to_caller, uint64_t from, uint64_t to);

/* The open functions of lib/meaning/follow/calls. */

struct frame {
	uint64_t start, nested, interrupted, mark, word;
	uint64_t inner_first; /* when the first call inside it returned, in the record's own time; 0: none has */
	uint32_t losses;      /* the gaps before it; only compared, so that it may wrap */
	int32_t depth;
	uint8_t within; /* which interrupts it runs in */
	bool irqs_off;  /* when it began */
	bool repeated;  /* calls wait for its end, in struct repeats */
};

/*
 * A function that seems to have ended without an event, because another one of its depth began. The tracer lowers the
 * depth before it writes the end of a function (ftrace_return_to_handler()): the functions of an interrupt that comes
 * in between have the depth of the function that ends. If its end comes, those in its time are moved from its caller.
 */
struct ending {
	bool valid;
	uint64_t func;
	struct frame frame;
};

/* What a slice of time knows of a task: lib/meaning/follow/calls_slice.c. */
enum frames_phase { FRAMES_KNOWN, FRAMES_EARLIER, FRAMES_TRIED };

/* In a slice: what would have become of an outermost function that was `ending` before. */
enum frames_late { LATE_STILL, LATE_NEVER, LATE_UNSURE };

/* The open functions of one task; their depths ascend. */
struct frames {
	struct frame *at;
	struct hits hits; /* what may be outside the times of the open functions */
	uint64_t *funcs;  /* apart from the frames, because all of them are compared at each exit */
	size_t len, size;
	struct ending ending;
	struct repeats repeats;
	uint64_t losses; /* the number of gaps before its last event */
	uint16_t cpu;    /* of that event */
	uint8_t phase;   /* enum frames_phase */
	uint8_t late;    /* enum frames_late */
	bool cleared;    /* while TRIED: an entry has cleared the log of repeats */
	size_t logged;   /* what the log had when the phase became KNOWN */
};

void call_frames_free(struct frames *frames);

/* Makes room for more frames. False without memory. */
bool call_frames_grow(struct frames *frames);

/* Keeps the frames of the callers, whose depth is lower, and drops the others. Returns the number of dropped frames. */
static inline size_t call_frames_leave(struct frames *frames, int32_t depth)
{
	size_t len = frames->len;

	while (frames->len && frames->at[frames->len - 1].depth >= depth)
		frames->len--;
	return len - frames->len;
}

/* Returns the place of the outermost call of this function, 1 for the first frame; 0: there is none. */
static inline size_t call_frames_place(const struct frames *frames, uint64_t func)
{
	for (size_t i = 0; i < frames->len; i++)
		if (frames->funcs[i] == func)
			return i + 1;
	return 0;
}

/* A task is looked up once for many of its events. A power of two; a CPU runs one task at a time. */
enum { CALLS_SEATS = 64 };

struct calls_seat {
	uint64_t key; /* of struct calls::tasks; 0: nobody's */
	struct frames *frames;
};

struct calls {
	struct u64_map tasks; /* by a key of the task: struct frames * */
	struct cpu_gaps gaps;
	uint64_t mark, lost, dropped;
	bool starved;
	bool in_slice; /* what the tasks did before is unknown: lib/meaning/follow/calls_slice.h */
	struct calls_seat seats[CALLS_SEATS]; /* by CPU */
	struct graph_records records;
};

/* A task: by its PID, an idle task by its CPU. */
static inline uint64_t calls_key(const struct event *event)
{
	return event->pid ? (uint32_t)event->pid : UINT64_C(1) << 32 | event->cpu;
}

/* The frames of a task, new if there are none; NULL without memory. */
struct frames *calls_frames_new(struct calls *calls, uint64_t key);
struct frames *calls_frames_of(struct calls *calls, const struct event *event);

#endif
