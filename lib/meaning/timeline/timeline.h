/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_TIMELINE_TIMELINE_H
#define WEFT_MEANING_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/timeline/frames.h"
#include "lib/meaning/timeline/runs.h"

struct context;
struct event;
struct event_type;
struct near;
struct selection;
struct state;

/*
 * The events of one or several buffers as slices of time, each with its owner and its name. Runs and states are those
 * of lib/meaning/state (runs.h), system calls those of open_calls_internal.h, functions those of frames.h; interrupts
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
	TIMELINE_MARK,     /* a span of a thread, by marks (lib/meaning/follow/marks.h) */
	TIMELINE_ASYNC,    /* a span of a process, by marks */
	TIMELINE_INSTANT,  /* a moment, by a mark */
	TIMELINE_PAIR,     /* what else two events of the table of pairs begin and end (lib/meaning/follow/pairs.h) */
};

enum { TIMELINE_KINDS = TIMELINE_PAIR + 1 };

/* TIMELINE_MARKED: a counter of a program, by marks. */
enum timeline_counter { TIMELINE_FREQUENCY, TIMELINE_IDLE, TIMELINE_MEMORY, TIMELINE_COUNTERS, TIMELINE_MARKED };

/* Members that a kind does not name are zero. */
struct timeline_slice {
	enum timeline_kind kind;
	enum runs_end end;         /* of a run, a state, a function, a mark; others are known */
	bool cut;                  /* of a run and a state: it goes on, without the choice (timeline_choose()) */
	uint64_t start, to;        /* a counter, an instant and a loss are a moment */
	uint16_t buffer;           /* index; of a run and a state the first buffer of the timeline */
	uint32_t cpu;              /* not of a state or a call; of a mark, where it began */
	int32_t pid;               /* of a run, a state, a call, a mark, a pair of events of a task */
	int32_t begun_by;          /* of an interrupt and a pair: in which task it began */
	const struct event *event; /* the event that ended it; NULL for a run, a state, a function, a mark */
	/* Of a run and a state: an index of state::tasks; and what begin() returned for a run. */
	uint32_t task, note;
	const struct runs_mode *mode; /* of a state */
	/*
	 * Of an interrupt of a device, a softirq, a call of raw_syscalls (others have 0); the value of a counter; the
	 * cookie of a mark.
	 */
	int64_t number;
	/* Without a NUL: of an interrupt and a pair the name of its event without "_exit"; the name of a mark. */
	const char *stem;
	size_t stem_len;
	/* Of a mark: how many are around it in its thread; its track, NULL: that of the thread, or of its name. */
	uint32_t depth;
	const char *of_track;
	size_t of_track_len;
	const char *system;   /* of a pair */
	bool of_task, on_cpu; /* of a pair: it is one of the task, or of the CPU; or of neither */
	/* Of a function: its track, of which it is the last frame; how long it lasted, if it has exited. */
	const struct track *track;
	uint64_t lasted;
	bool exited;
	/*
	 * Of a counter: who has the number, and which of several numbers that is. Of a mark or its counter: the owner
	 * is a process, and `part` a number of the counter's name or of the track.
	 */
	enum timeline_counter counter;
	uint64_t owner, part;
};

/* What an event is for the timeline. */
enum timeline_part {
	TIMELINE_NO_PART,  /* nothing; or it only changes a counter or a state */
	TIMELINE_A_SWITCH, /* of sched:sched_switch */
	TIMELINE_AN_END,   /* begins or ends a system call or an interrupt */
	TIMELINE_A_VECTOR, /* begins or ends an interrupt of the CPU itself */
	TIMELINE_A_MARK,   /* of a span, a counter or a moment of a program */
	TIMELINE_A_FUNCTION,
};

struct timeline_calls {
	void *arg;
	uint32_t wanted; /* a bit for each kind */
	void (*slice)(void *arg, const struct timeline_slice *slice);
	/*
	 * A run begins: returns the caller's note of it; may be NULL. Is not called for a task that is not chosen then:
	 * if it becomes one in the run, the note is TIMELINE_NO_NOTE.
	 */
	uint32_t (*begin)(void *arg, uint32_t task);
	/* A function begins: the last frame of the track, which has room for a note (frames.h); may be NULL. */
	void (*enter)(void *arg, const struct event *event, struct track *track);
	/*
	 * An event that is not of the function graph, after the runs and states that end with it, and before its other
	 * slices; may be NULL.
	 */
	void (*event)(void *arg, const struct event *event, enum timeline_part part);
	bool all_runs;        /* also runs of tasks that are not chosen */
	bool one_wait;        /* being woken and being queued are one mode, TASK_WAKING */
	bool only_with_entry; /* no functions of which only the exit is in the trace */
	bool no_causes;       /* nobody asks for whom an interrupt woke a task (state::no_causes) */
};

#define TIMELINE_NO_NOTE UINT32_MAX

struct timeline;

/* NULL without memory. `preempt_rt`: of the kernel. */
struct timeline *timeline_new(const struct timeline_calls *calls, bool preempt_rt);
void timeline_free(struct timeline *timeline);

/* Adds the buffer of this index, before its first event. Borrows the context. False without memory. */
bool timeline_add(struct timeline *timeline, uint16_t buffer, const struct context *context);

/*
 * The values of these fields are counters, too: "EVENT:FIELD" or "SYSTEM:EVENT:FIELD", with the owner 0, and called so.
 * Borrows the texts. Call it before the first event. timeline_field_known(): whether a buffer has such a field, which
 * is a number.
 */
void timeline_count_fields(struct timeline *timeline, const char *const *fields, size_t nr);
bool timeline_field_known(const struct context *context, const char *field);
/* Offers all that are known, with their systems if the word names one. */
void timeline_fields_offer(const struct context *context, struct near *near);

/*
 * For a choice of tasks (selection_part(); NULL: all): the parts of runs and states in which the task is chosen are
 * slices; of what else a task does what has a moment in which it is; of interrupts those that end on top of a chosen
 * task, of requests those that begin or end in one; all losses. Borrows the selection. Call it after timeline_add().
 */
void timeline_choose(struct timeline *timeline, uint16_t buffer, struct selection *chosen);
/* Whether that chooses the task at a moment of this time. */
bool timeline_chooses(const struct timeline *timeline, uint16_t buffer, int32_t pid, uint64_t from, uint64_t to);

/*
 * For a caller that has a state of the same buffers: the timeline then has none of its own. The state is borrowed, and
 * sees each event before the timeline does. Call it before the first event.
 */
void timeline_follow(struct timeline *timeline, const struct state *state);

/* Takes an event of a buffer that was added, in order. Slices that end with it come before it returns. */
enum timeline_part timeline_see(struct timeline *timeline, const struct event *event);
/* The same for an event that is not chosen: it only changes what tasks and CPUs do, and is not given to calls.event. */
enum timeline_part timeline_pass(struct timeline *timeline, const struct event *event);

static inline enum timeline_part timeline_take(struct timeline *timeline, const struct event *event, bool chosen)
{
	return __builtin_expect(chosen, 1) ? timeline_see(timeline, event) : timeline_pass(timeline, event);
}

/* Gives what is still open, once, after the last event: functions end at `ts`. */
void timeline_end(struct timeline *timeline, uint64_t ts);

/* After the last event: whether a task is in a system call that has no slice, because its end is not in the trace. */
bool timeline_in_call(const struct timeline *timeline, uint16_t buffer, int32_t pid);

/* What the tasks and CPUs do after the last event that was seen. */
const struct state *timeline_state(const struct timeline *timeline);

/* Adds the numbers of calls of which an end is missing. */
void timeline_count(const struct timeline *timeline, struct frames_left *sum);

/* The number of marks that end what none began; and of spans that are not there because too many were open. */
void timeline_count_marks(const struct timeline *timeline, uint64_t *ret_unbegun, uint64_t *ret_dropped);

/*
 * The name of a slice, without a NUL: of a run or a state the task's, of a call "read", of an interrupt "irq 24 eth0",
 * "softirq NET_RX", "local_timer", of a function its symbol, of a mark what it says. It is borrowed from the text, the
 * context or the slice.
 */
enum { TIMELINE_NAME = 96 };
const char *timeline_name(const struct timeline *timeline, const struct timeline_slice *slice, char text[TIMELINE_NAME],
			  size_t *ret_len);

/* Whether memory ran out, so that slices are missing. */
bool timeline_starved(const struct timeline *timeline);

/*
 * The name of the system call that ends with an event: of a sys_exit_NAME, or of raw_syscalls:sys_exit; `number` is
 * that of its entry. `text` is room for the name of a call that has none.
 */
enum { CALL_NAME = 32 };

const char *call_name(const struct context *context, int64_t number, const struct event *event, char text[CALL_NAME]);

#endif
