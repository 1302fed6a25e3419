/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_FRAMES_H
#define WEFT_FORMATS_EXPORT_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct schema_abi;

/*
 * The function graph as balanced calls: each entered call is left once, the inner one first. Calls belong to a track:
 * that of their task, of a CPU's idle task, or, in a hard interrupt or NMI, of their CPU, because the current task is
 * unrelated to the interrupt. A gap leaves all open calls, because their exits may be lost; the exit of a call that was
 * not entered is counted, and handed out if its record tells when the call began: with tracing_thresh the kernel
 * records nothing else. lib/event/calls.h computes only durations; this file knows which call is nested in which.
 */
struct frame {
	uint64_t func;
	uint64_t start;  /* the event's time */
	uint64_t nested; /* the time of the calls inside it */
	int32_t depth;
	uint32_t note; /* the caller's: set in enter() */
};

struct track {
	uint64_t key; /* unique in its buffer */
	int32_t pid;
	uint16_t cpu;
	bool known;
	uint64_t cut;         /* when a gap left its open calls */
	bool interrupt;       /* the track of the CPU's interrupts, whichever task they interrupt */
	struct frame *frames; /* open calls, the outermost first */
	size_t nr_frames, size;
	/* calls that have ended and whose caller has not, by depth; those of one depth are one */
	struct ended {
		uint64_t start, end;
		int32_t depth;
	} * ended;
	size_t nr_ended, size_ended;
};

struct frames_calls {
	/* A call was entered: its frame is the last one of the track. */
	void (*enter)(void *arg, const struct event *event, struct track *track);
	/*
	 * The last frame of the track ends at `ts`. `lasted` is its duration, from the record's own times if it has
	 * them; 0 if not `exited`: unknown.
	 */
	void (*leave)(void *arg, uint16_t buffer, struct track *track, uint64_t ts, uint64_t lasted, bool exited);
	/*
	 * A call that was not entered ends at the event. It began not before a call of its track that is still open,
	 * and not before the last gap of the track. May be NULL.
	 */
	void (*lone)(void *arg, const struct event *event, struct track *track, const struct frame *frame);
	void *arg;
};

struct frames;

/* NULL without memory. */
struct frames *frames_new(const struct schema_abi *abi, const struct frames_calls *calls);
void frames_free(struct frames *frames);

/* True when the event belongs to the function graph. */
bool frames_see(struct frames *frames, const struct event *event);

/* Leaves all open calls. */
void frames_end(struct frames *frames, uint16_t buffer, uint64_t ts);

/* The number of exits without an entry. */
uint64_t frames_orphans(const struct frames *frames);

/* Whether memory ran out, so that calls are missing. */
bool frames_starved(const struct frames *frames);

#endif
