/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_SCHED_INTERNAL_H
#define WEFT_ANALYSIS_SCHED_INTERNAL_H

#include "lib/analysis/pass.h"
#include "lib/analysis/sched.h"

/* The data of the two halves of the analysis: counting in the pass, and making the tables. */

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

/* The way from the waker's decision to the first instruction of the woken task. */
enum sched_part { PART_ENQUEUE, PART_RUN, PART_WHOLE, PARTS };

struct sched_analysis {
	struct pass *pass;
	struct sched_options options;
	struct sched_counts *tasks; /* by the task's index in the state */
	size_t nr_tasks;
	struct samples parts[PARTS];
	struct sched_longest worst[PARTS];
	uint64_t broken_waits, cut_waits;
	struct sched_chain *chain; /* NULL: the user did not ask for it */
	struct sched_map *map;
	struct sched_idle *idle;
};

/* Returns whether the user wants to see the task. */
bool sched_wants(const struct sched_analysis *sched, const struct state_task *task);

/* An event tells the task's priority: adds up how long it has been a real-time task. NULL without memory. */
struct sched_real_time *sched_see_prio(struct sched_analysis *sched, uint32_t task);
/* The same at the end of the trace; call it once. */
struct sched_real_time *sched_end_real_time(struct sched_analysis *sched, uint32_t task);

int sched_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
