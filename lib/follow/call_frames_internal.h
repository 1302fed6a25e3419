/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FOLLOW_CALL_FRAMES_INTERNAL_H
#define WEFT_FOLLOW_CALL_FRAMES_INTERNAL_H

#include "lib/follow/hits_internal.h"
#include "lib/follow/repeats.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The open functions of lib/event/calls. */

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

/* What a slice of time knows of a task: lib/follow/calls_slice.c. */
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

#endif
