/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_TIMELINE_TIMELINE_H
#define WEFT_TIMELINE_TIMELINE_H

#include "lib/base/cleanup.h"
#include "lib/timeline/frames.h"
#include "lib/timeline/turns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct event;
struct event_type;
struct state;

/*
 * The events of one or several buffers as slices of time, each with its owner and its name. Runs and states are those
 * of lib/state (turns.h), system calls those of open_calls_internal.h, functions those of frames.h; interrupts
 * are pairs of events of one CPU. So every consumer has the same slices. A loss of events ends what it may have
 * changed, and only that: on its CPU the open interrupts and functions, elsewhere what the tasks of that CPU may have
 * done. Unknown time has no slice.
 */
enum timeline_kind {
	TIMELINE_RUN,      /* a task had a CPU */
	TIMELINE_STATE,    /* a mode of a task */
	TIMELINE_CALL,     /* a system call of a task */
	TIMELINE_IRQ,      /* a handler of a device's interrupt, on a CPU */
	TIMELINE_SOFTIRQ,  /* on a CPU */
	TIMELINE_TASKLET,  /* on a CPU */
	TIMELINE_VECTOR,   /* an interrupt of the CPU itself (irq_vectors) */
	TIMELINE_FUNCTION, /* a call of the function graph */
	TIMELINE_COUNTER,  /* a number that holds from an event on */
	TIMELINE_LOSS,     /* events of a CPU were lost: a moment */
};

enum timeline_counter { TIMELINE_FREQUENCY, TIMELINE_IDLE, TIMELINE_MEMORY, TIMELINE_COUNTERS };

/* Members that a kind does not name are zero. */
struct timeline_slice {
	enum timeline_kind kind;
	enum turns_end end;        /* of a run, a state, a function; others are known */
	uint64_t start, to;        /* a counter and a loss are a moment */
	uint16_t buffer;           /* index; of a run and a state the first buffer of the timeline */
	uint32_t cpu;              /* not of a state or a call */
	int32_t pid;               /* of a run, a state, a call */
	const struct event *event; /* the event that ended it; NULL for a run, a state, a function */
	/* Of a run and a state: an index of state::tasks; and what begin() returned for a run. */
	uint32_t task, note;
	const struct turns_mode *mode; /* of a state */
	/* Of an interrupt of a device, a softirq, a call of raw_syscalls (others have 0); the value of a counter. */
	int64_t number;
	/* Of an interrupt: the name of its event without "_exit", without a NUL. */
	const char *stem;
	size_t stem_len;
	/* Of a function: its track, of which it is the last frame; how long it lasted, if it has exited. */
	const struct track *track;
	uint64_t lasted;
	bool exited;
	/* Of a counter: who has the number, and which of several numbers that is. */
	enum timeline_counter counter;
	uint64_t owner, part;
};

/* What an event is for the timeline. */
enum timeline_part {
	TIMELINE_NO_PART,  /* nothing; or it only changes a counter or a state */
	TIMELINE_A_SWITCH, /* of sched:sched_switch */
	TIMELINE_AN_END,   /* begins or ends a system call or an interrupt */
	TIMELINE_A_VECTOR, /* begins or ends an interrupt of the CPU itself */
	TIMELINE_A_FUNCTION,
};

struct timeline_calls {
	void *arg;
	uint32_t wanted; /* a bit for each kind */
	void (*slice)(void *arg, const struct timeline_slice *slice);
	/* A run begins: returns the caller's note of it; may be NULL. */
	uint32_t (*begin)(void *arg, uint32_t task);
	/* A function begins: the last frame of the track, which has room for a note (frames.h); may be NULL. */
	void (*enter)(void *arg, const struct event *event, struct track *track);
	/*
	 * An event that is not of the function graph, after the runs and states that end with it, and before its other
	 * slices; may be NULL.
	 */
	void (*event)(void *arg, const struct event *event, enum timeline_part part);
	bool one_wait;        /* being woken and being queued are one mode, TASK_WAKING */
	bool only_with_entry; /* no functions of which only the exit is in the trace */
};

struct timeline;

/* NULL without memory. `preempt_rt`: of the kernel. */
struct timeline *timeline_new(const struct timeline_calls *calls, bool preempt_rt);
void timeline_free(struct timeline *timeline);

/* Adds the buffer of this index, before its first event. Borrows the context. False without memory. */
bool timeline_add(struct timeline *timeline, uint16_t buffer, const struct context *context);

/*
 * For a caller that has a state of the same buffers: the timeline then has none of its own. The state is borrowed, and
 * sees each event before the timeline does. Call it before the first event.
 */
void timeline_follow(struct timeline *timeline, const struct state *state);

/* Takes an event of a buffer that was added, in order. Slices that end with it come before it returns. */
enum timeline_part timeline_see(struct timeline *timeline, const struct event *event);

/* Gives what is still open, once, after the last event: functions end at `ts`. */
void timeline_end(struct timeline *timeline, uint64_t ts);

/* After the last event: whether a task is in a system call that has no slice, because its end is not in the trace. */
bool timeline_in_call(const struct timeline *timeline, uint16_t buffer, int32_t pid);

/* What the tasks and CPUs do after the last event that was seen. */
const struct state *timeline_state(const struct timeline *timeline);

/* Adds the numbers of calls of which an end is missing. */
void timeline_count(const struct timeline *timeline, struct frames_left *sum);

/*
 * The name of a slice, without a NUL: of a run or a state the task's, of a call "read", of an interrupt "irq 24 eth0",
 * "softirq NET_RX", "local_timer", of a function its symbol. It is borrowed from the text or from the context.
 */
enum { TIMELINE_NAME = 96 };
const char *timeline_name(const struct timeline *timeline, const struct timeline_slice *slice, char text[TIMELINE_NAME],
			  size_t *ret_len);

/* Whether memory ran out, so that slices are missing. */
bool timeline_starved(const struct timeline *timeline);

#endif
