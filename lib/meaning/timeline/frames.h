/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_TIMELINE_FRAMES_H
#define WEFT_MEANING_TIMELINE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/timeline/calls_without_caller.h"

struct event;

/*
 * The function graph as balanced calls: each entered call is left once, the inner one first. Calls belong to a track:
 * that of their task, of a CPU's idle task, or, in a hard interrupt or NMI, of their CPU, because the current task is
 * unrelated to the interrupt. A gap of a CPU leaves the open calls of its own tracks and of the tasks that were seen
 * there last, because their exits may be lost; so does a task that comes to a CPU after a gap there. The times of inner
 * calls are those of lib/meaning/follow/calls.h; this file knows which call is nested in which.
 */
struct frame {
	uint64_t func;
	uint64_t start;  /* the event's time */
	uint64_t nested; /* the time of the calls inside it */
	int32_t depth;
	uint32_t note; /* the caller's: set in enter() */
	bool whole;    /* false: calls inside it may be missing, so that its own time is not known */
	bool late;     /* of frames_calls.late */
	/*
	 * When a late call begins in a picture in which no call crosses another; `start` is what its record says, which
	 * knows nothing of the time in which the task slept. Only with a clock that counts ns. 0: there is no room.
	 */
	uint64_t from;
	/* private: when the first call inside it returned, in the record's own time; 0: none has */
	uint64_t inner_first;
	uint64_t losses; /* private: the number of gaps before it */
};

struct track {
	uint64_t key; /* unique in its buffer */
	int32_t pid;
	uint16_t cpu; /* of the last event */
	bool known;
	bool interrupt;       /* the track of the CPU's interrupts, whichever task they interrupt */
	struct frame *frames; /* open calls, the outermost first */
	size_t nr_frames, size;
	uint64_t losses;                      /* private: the number of gaps before the last event */
	struct calls_without_caller uncalled; /* private */
};

struct frames_calls {
	/* A call was entered: its frame is the last one of the track. */
	void (*enter)(void *arg, const struct event *event, struct track *track);
	/*
	 * The last frame of the track ends at `ts`. `lasted` is its duration, from the record's own times if it has
	 * them; 0 if not `exited`: unknown.
	 */
	void (*leave)(void *arg, uint16_t buffer, struct track *track, uint64_t ts, uint64_t lasted, bool exited);
	void *arg;
	/*
	 * Also calls of which only the exit is in the trace, if it has their duration (tracing_thresh records no
	 * entries). They are entered and left after they have ended, so that these times go back; the event of enter()
	 * has their time, CPU and task only.
	 */
	bool late;
};

struct frames;

/* NULL without memory. */
struct frames *frames_new(const struct frames_calls *calls);
void frames_free(struct frames *frames);

/* True when the event belongs to the function graph. */
bool frames_see(struct frames *frames, const struct event *event);

/* Leaves all open calls. */
void frames_end(struct frames *frames, uint16_t buffer, uint64_t ts);

/* The number of calls of which an end is missing. */
struct frames_left {
	uint64_t cut;                   /* entered before the first event */
	uint64_t open;                  /* not left at the end */
	uint64_t lost_entry, lost_exit; /* it may be among the lost events */
	uint64_t unpaired;              /* the trace has no entries at all */
	uint64_t unentered;             /* no entry, and nothing was lost */
	uint64_t dropped;               /* no exit, and nothing was lost: the trace goes on in the caller */
};

/* Adds the numbers to `sum`. */
void frames_count(const struct frames *frames, struct frames_left *sum);

/* Whether memory ran out, so that calls are missing. */
bool frames_starved(const struct frames *frames);

#endif
