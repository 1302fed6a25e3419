/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_SCHED_SCHED_COUNTS_INTERNAL_H
#define WEFT_ANSWERS_SCHED_SCHED_COUNTS_INTERNAL_H

#include "lib/answers/frame/pass.h"

/* What is counted for a row, of a task or of several. */

/* The longest case of something. */
struct sched_longest {
	uint64_t lasted, at; /* at: when it ended */
	uint32_t cpu, task;
};

/* The time during which a task was a real-time task: since an event first showed a real-time priority. */
struct sched_real_time {
	uint64_t spent[TASK_MODES], beside_idle;               /* of former such times; at the end of all of them */
	uint64_t spent_before[TASK_MODES], beside_idle_before; /* of the task, when the present one began */
	int32_t prio;                                          /* the last that is one */
	bool known, now, ever;
};

struct sched_counts {
	uint64_t voluntary, involuntary, wakeups, migrations, moves;
	struct samples delay; /* from waking, or else from the wakeup, until the task ran */
	struct sched_longest worst;
	uint32_t ran_on;    /* CPU + 1; 0: the task has not run */
	uint64_t left;      /* when the task lost its CPU; 0: it has not */
	uint64_t losses;    /* state::losses then */
	uint64_t off, late; /* before its run: the time without a CPU, and the part of it since the wakeup */
	struct sched_real_time *real_time; /* NULL unless options.rt */
};

/*
 * The columns of tasks and of tasks together that say how long they were what, and what is counted of them: of `spent`,
 * `counts`, `migrates` and `delay` (lib/answers/frame/columns.h).
 */
#define COUNTS_COLUMNS(X)                                                                                           \
	X("SLEEP", TIME, NULL, ADDS, table_cell_u64, spent[TASK_SLEEPING])                                          \
	X("D", TIME, "blocked_ns", BRIEF | ADDS, table_cell_u64, spent[TASK_BLOCKED])                               \
	X("OTHER", TIME, NULL, DATA | ADDS, table_cell_u64, spent[TASK_STOPPED] + spent[TASK_NEW])                  \
	X("UNKNOWN", TIME, NULL, ADDS | SPARE, table_cell_u64, spent[TASK_UNKNOWN])                                 \
	X("VOL", COUNT, "voluntary", ADDS | SPARE, table_cell_u64, counts->voluntary)                               \
	X("INVOL", COUNT, "involuntary", ADDS | SPARE, table_cell_u64, counts->involuntary)                         \
	X("WAKEUPS", COUNT, NULL, ADDS | SPARE, table_cell_u64, counts->wakeups)                                    \
	X("MIGR", COUNT, "migrations", ADDS | SPARE, table_cell_u64, migrates ? counts->migrations : counts->moves) \
	X("DELAYS", COUNT, NULL, DATA | ADDS, table_cell_u64, counts->delay.count)                                  \
	SPREAD(X, "", "delay_", BRIEF | SPARE, BRIEF, BRIEF, delay)                                                 \
	X("MAX AT", NUMBER, "delay_max_at", SPARE, table_cell_when, counts->worst.at)                               \
	X("CPU", NUMBER, "delay_max_cpu", DATA, table_cell_known, counts->worst.at, counts->worst.cpu)

#endif
