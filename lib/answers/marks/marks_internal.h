/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_MARKS_MARKS_INTERNAL_H
#define WEFT_ANSWERS_MARKS_MARKS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/extreme.h"
#include "lib/answers/frame/history.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/slowest.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/samples.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/marks.h"
#include "lib/meaning/follow/roles.h"

/*
 * Private to the room: marks.c follows the spans, marks_parts.c finds out what the time of a span was spent on,
 * marks_tables.c makes the tables, marks_divide.c cuts intervals.
 */

/* The parts of a span's time, which add up to it. Interrupts are those that came while the task had its CPU. */
enum marks_part { MARKS_ON_CPU, MARKS_IRQ, MARKS_WAIT, MARKS_BLOCKED, MARKS_UNKNOWN, MARKS_PARTS };

/* What a task did in its life up to some moment; the parts of a span are the difference of two. */
struct marks_time {
	uint64_t running, irq, waiting, blocked;
};

/* A part of a part: blocked in this call until this task woke it; waiting while this task had the CPU. */
struct marks_detail {
	enum marks_part part;
	uint32_t call, whom; /* labels of marks_analysis::texts */
	uint64_t time, count;
};

/* The rows of `details` hold so many; what has no room is added to one without a call and without a task. */
enum { MARKS_DETAILS_MAX = 256, MARKS_NAMES_MAX = 0xffff, MARKS_TEXTS_MAX = 1 << 20 };

struct marks_details {
	struct marks_detail *items;
	size_t nr;
	uint32_t next_free; /* index + 1 */
};

/* The note of an open span. */
struct marks_note {
	struct marks_note *outer;
	struct marks_time then;
	uint64_t inner;   /* the time of the spans directly inside it */
	uint32_t task;    /* STATE_NO_TASK: not known, and so are the parts */
	uint32_t details; /* index + 1 */
};

/* What is known of a task, by its index in the state. */
struct marks_task {
	struct marks_note *top; /* the innermost of its open spans; NULL: none, and nothing else is kept up to date */
	uint64_t irq;      /* interrupts that took time from it, up to when it lost its CPU, or began the interval */
	uint64_t irq_base; /* those of its CPU when it got that */
	uint32_t irq_cpu;  /* that CPU */
	uint64_t left_blocked, left_waited; /* how long it had been when it lost its CPU */
	uint32_t call;                      /* the label of the system call that it is in + 1; 0: none */
	bool runs;                          /* irq_base is set */
	struct history_wait *wait;
};

struct marks_row {
	bool async;
	uint64_t count, total, self, lost;
	uint64_t parts[MARKS_PARTS];
	uint64_t known; /* spans of which the parts are known */
	struct samples lasted;
	struct extreme longest;
};

struct marks_slow {
	uint64_t lasted, at;
	uint64_t parts[MARKS_PARTS];
	int64_t cookie;
	uint32_t name; /* of the row; of MARKS_BY_WHO the label of marks_analysis::texts of its name */
	uint32_t task, cpu, call, whom;
	int32_t pid, tgid;
	enum marks_part most; /* of the largest detail, whose call and task these are */
	bool async, known;
};

/* Rows; the options of marks_analysis are struct row_options. From MARKS_BY_WHO on enum who_part, in its order. */
enum marks_by { MARKS_BY_NAME, MARKS_BY_WHO };

struct marks_analysis {
	struct pass *pass;
	enum marks_by by;
	enum who_part part; /* of MARKS_BY_WHO */
	struct row_options options;
	struct roles roles;
	struct kinds sources; /* struct mark_source */
	struct place number[2];
	struct out scratch;
	struct marks marks;
	/* Of spans, an asynchronous one with a tab in front; of MARKS_BY_WHO those whom tasks belong to. */
	struct labels names;
	struct labels texts;    /* of calls and tasks */
	struct marks_row *rows; /* by label of the name + 1; 0: names for which there is no room */
	size_t nr_rows;
	struct u64_map details; /* by marks_detail_key(): struct marks_detail */
	struct marks_details *pool;
	size_t nr_pool;
	uint32_t free_pool; /* index + 1 */
	struct history history;
	struct marks_task *tasks;
	size_t nr_tasks;
	struct slowest slowest; /* struct marks_slow */
	uint64_t generation, open;
	uint32_t cpu; /* of the event */
	bool told;    /* the mark is of a log, or of a span of another recorder: its CPU means nothing */
	bool some;    /* there are types of events that may be marks */
	bool any;     /* there was a mark */
};

static inline uint64_t marks_detail_key(uint32_t row, const struct marks_detail *detail)
{
	return (uint64_t)row << 48 | (uint64_t)detail->part << 45 | (uint64_t)(detail->call & 0x3fffff) << 23 |
	       (detail->whom & 0x7fffff);
}

/* The task of a span: of one of a process that which began it. */
static inline uint32_t marks_task_of(const struct marks_analysis *marks, const struct marks_span *span)
{
	uint32_t id = ((const struct marks_note *)span->note)->task;

	return id == STATE_NO_TASK && span->pid ? state_task_once(&marks->pass->state, span->pid) : id;
}

/* marks_tables.c: whether the user wants a span of this task, which may not have ended. */
bool marks_wants(const struct marks_analysis *marks, const struct marks_span *span);

/* marks_parts.c */

/* The entry of a task; NULL without memory. It is valid until the next one is added. */
struct marks_task *marks_task(struct marks_analysis *marks, uint32_t id);
/* What the task did in its life up to now. */
struct marks_time marks_time_of(const struct marks_analysis *marks, uint32_t id);
/* The parts of a span of a task, which began with what `note` has. */
void marks_parts_of(const struct marks_analysis *marks, const struct marks_note *note, uint64_t lasted,
		    uint64_t parts[MARKS_PARTS]);
/* The task has this CPU from now on. */
void marks_parts_run(const struct marks_analysis *marks, struct marks_task *task, uint32_t cpu);
/* An event after the state has seen it: who waits and is blocked. */
void marks_parts_see(struct marks_analysis *marks, const struct event *event);
void marks_parts_call(struct marks_analysis *marks, const struct event *event, bool enters, int64_t number,
		      const char *name);
void marks_details_add(struct marks_analysis *marks, struct marks_note *note, const struct marks_detail *detail);
/* Gives the details of a span that ends to its row and to the span around it, and the largest one to *ret_most. */
void marks_details_end(struct marks_analysis *marks, struct marks_note *note, uint32_t row,
		       struct marks_detail *ret_most);
uint32_t marks_text(struct marks_analysis *marks, const char *text, size_t len);
void marks_parts_release(struct marks_analysis *marks);

/* marks_divide.c */
void marks_divide(void *arg);
void marks_carry(void *arg, void *before);

/* marks_tables.c */
extern const struct table_column marks_columns[];
int marks_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
