/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_FRAMES_H
#define WEFT_FORMATS_EXPORT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct schema_abi;

/*
 * The function graph as calls that are balanced: each that is entered is left once, the inner one first. Calls belong to a track: that of
 * their task, of a CPU's idle task, or, in a hard interrupt or NMI, of their CPU, for the task there only suffers them.
 * A gap leaves all that is open, for its exits may be lost; the exit of a call that was not entered is counted and passed over.
 * lib/event/calls.h has the durations alone; here is which call stands in which.
 */
struct frame {
	uint64_t func;
	uint64_t start;  /* the event's time */
	uint64_t nested; /* what the calls in it lasted */
	int32_t depth;
	uint32_t note; /* the caller's: set in enter() */
};

struct track {
	uint64_t key; /* of no other track of its buffer */
	int32_t pid;
	uint16_t cpu;
	bool known;
	bool interrupt;       /* of the CPU's interrupts, whoever is interrupted */
	struct frame *frames; /* the open ones, the outermost first */
	size_t nr_frames, size;
};

struct frames_calls {
	/* The new frame is the last of the track. */
	void (*enter)(void *arg, const struct event *event, struct track *track);
	/* The last frame ends at `ts`. `lasted` is its duration, by the record's own times where it has some; 0 and !exited: not known. */
	void (*leave)(void *arg, uint16_t buffer, struct track *track, uint64_t ts, uint64_t lasted, bool exited);
	void *arg;
};

struct frames;

/* NULL without memory. */
struct frames *frames_new(const struct schema_abi *abi, const struct frames_calls *calls);
void frames_free(struct frames *frames);

/* True when the event is of the function graph. */
bool frames_see(struct frames *frames, const struct event *event);

/* Leaves all that is open. */
void frames_end(struct frames *frames, uint16_t buffer, uint64_t ts);

/* Exits without an entry. */
uint64_t frames_orphans(const struct frames *frames);

#endif
