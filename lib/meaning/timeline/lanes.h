/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_TIMELINE_LANES_H
#define WEFT_MEANING_TIMELINE_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/state/state.h"

struct event;
struct fail;
struct context;

/*
 * The slices of a timeline as lanes of columns, for a picture: one lane for each CPU, task, kind of interrupt and so
 * on. A column is 1 or 2 times a power of ten ns long (or units of a clock that does not count ns) and begins at a
 * multiple of its length, so that columns of any multiple of that length are made of whole ones. A column shows one
 * slice: the longest of the most important kind in it, not an average; its sums and counts are exact.
 * Memory is bounded by a number of cells, a half for the lanes of CPUs and a half for those of tasks: when it is
 * reached, two or five columns become one in all lanes of that half, and their `length` grows. After that
 * the part of the slice that a column shows may be shorter than the longest one there, but not less than a quarter of
 * it. The totals of a lane stay exact.
 */
enum lane_kind {
	LANE_EVENTS,   /* of a CPU: `count` events */
	LANE_CPU,      /* the tasks that had it; importance: any task, idle */
	LANE_HARDIRQ,  /* of a CPU: interrupts of devices and of the CPU itself */
	LANE_SOFTIRQ,  /* of a CPU: softirqs and tasklets */
	LANE_TASK,     /* its modes; importance: whatever takes long but sleeping, then sleeping */
	LANE_CALLS,    /* system calls of a task */
	LANE_MARK,     /* spans that a task marked, at one depth */
	LANE_ASYNC,    /* spans that a process marked */
	LANE_PAIR,     /* what two other events of a task, or of a CPU, begin and end */
	LANE_FUNCTION, /* calls of the function graph of a task, or of a CPU, at one depth */
	LANE_COUNTER,  /* `busy` is the largest value, `longest` the last one; both are int64_t */
	LANE_KINDS,
};

enum { LANE_DEPTHS = 8 }; /* deeper functions and marks are in no lane */

struct lane_cell {
	uint64_t column;  /* its first: the time divided by its length */
	uint64_t start;   /* of the slice that it shows; of a counter the moment of the largest value */
	uint64_t longest; /* the part of that slice which is in one column */
	uint64_t busy;    /* time in one column that counts as busy: all but idle tasks and sleep */
	uint64_t waited;  /* of a task: time in one column that it was runnable and had no CPU */
	uint32_t nr;      /* the number of columns that are the same */
	uint32_t label;   /* index of lanes_label() */
	uint32_t count;   /* slices that begin in the first column; events */
	uint16_t modes;   /* of a task: a bit for each enum task_mode */
	uint8_t mode;     /* enum task_mode, of the slice that it shows */
	uint8_t rank;     /* importance of the slice that it shows: 0 the least */
	bool lost;        /* events were lost in it */
};

struct lane {
	enum lane_kind kind;
	uint16_t buffer;
	uint32_t owner;  /* a CPU, or the PID of a task; of a counter what it counts for, or its label */
	uint8_t depth;   /* of a function, a mark; of a counter enum timeline_counter */
	bool of_task;    /* owner is a PID */
	uint32_t label;  /* the name of a task or a counter; LABEL_NONE: none */
	uint64_t length; /* of a column */
	/* Of a task: its first life began, and its last one ended, at these times; 0: that is not known. */
	uint64_t born, died;
	/* Of a task that was woken or got a CPU then, and of which no event was lost before; 0: another did. */
	uint64_t first;
	struct lane_cell *cells;
	size_t nr_cells;
	/* The totals: */
	uint64_t count, busy;
	uint64_t waited;              /* of a task */
	uint64_t longest, longest_at; /* the longest slice of the highest rank; of a task its longest wait for a CPU */
	int64_t largest, smallest;    /* of a counter */
};

struct lanes;

struct lanes_options {
	/* To begin with: the best one leaves about as many columns as can be kept, so that none folds. */
	uint64_t length;
	size_t cells_max; /* at least 1,024 */
	/* slices are cut to these times; 0 and UINT64_MAX: all */
	uint64_t from, to;
	/* fields that are counters, too: timeline_count_fields() */
	const char *const *counters;
	size_t nr_counters;
};

int must_check lanes_new(const struct lanes_options *options, bool preempt_rt, struct lanes **ret, struct fail *fail);
void lanes_free(struct lanes *lanes);

/* Adds a buffer before its first event. Borrows the context. False without memory. */
bool lanes_add_buffer(struct lanes *lanes, uint16_t buffer, const struct context *context);

/* Takes an event, in order. */
void lanes_see(struct lanes *lanes, const struct event *event);

/* After the last event: what is still open ends there. */
void lanes_end(struct lanes *lanes);

/* Whether memory ran out, so that slices are missing. */
bool lanes_starved(const struct lanes *lanes);

/* The lanes in the order of their first slices. A lane keeps its index. */
size_t lanes_count(const struct lanes *lanes);
const struct lane *lanes_at(const struct lanes *lanes, size_t index);
/*
 * The lane that is to these lanes what `like` is to its own: of the same kind, owner and depth; NULL: there is none.
 * Counters of programs and of fields have no number that all lanes agree on: `label` is the text of theirs, else NULL.
 */
const struct lane *lanes_find(const struct lanes *lanes, const struct lane *like, const char *label);
/* The length of the longest columns of any lane: a multiple of all others. */
uint64_t lanes_coarsest(const struct lanes *lanes);
/* The shortest column that is 1 or 2 times a power of ten long, and no shorter than `least`. */
uint64_t lanes_length(uint64_t least);
const char *lanes_label(const struct lanes *lanes, uint32_t label);

/*
 * The columns from `first` on, `nr` of them, so long, which must be a multiple of the lane's own. What is unknown, or
 * has no slice, has nr = 0; other cells have nr = 1.
 */
void lane_columns(const struct lane *lane, uint64_t length, uint64_t first, size_t nr, struct lane_cell *ret);

#endif
