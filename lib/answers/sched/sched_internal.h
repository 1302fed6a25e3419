/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_SCHED_SCHED_INTERNAL_H
#define WEFT_ANSWERS_SCHED_SCHED_INTERNAL_H

#include "lib/answers/frame/pass.h"
#include "lib/answers/frame/vcpu_times.h"
#include "lib/answers/sched/sched.h"
#include "lib/answers/sched/sched_counts_internal.h"

/* The data of the two halves of the analysis: counting in the pass, and making the tables. */

/* The way from the waker's decision to the first instruction of the woken task. */
enum sched_part { PART_ENQUEUE, PART_RUN, PART_WHOLE, PARTS };

struct sched_analysis {
	struct pass *pass;
	struct sched_options options;
	struct sched_counts *tasks; /* by the task's index in the state */
	size_t nr_tasks;
	struct samples parts[PARTS];
	struct sched_longest worst[PARTS];
	char worst_comm[TASK_COMM_LEN]; /* of the task of worst[PART_WHOLE], then */
	uint64_t broken_waits, cut_waits, cut_runs;
	struct sched_chain *chain; /* NULL: the user did not ask for it */
	struct sched_map *map;
	struct sched_idle *idle;
	struct sched_by *by;     /* NULL: rows are tasks */
	struct vcpu_times vcpus; /* of a guest; else empty */
};

/* Returns whether the user wants to see the task. */
bool sched_wants(const struct sched_analysis *sched, const struct state_task *task);

/* Makes room for the counts of a task; NULL without memory. */
struct sched_counts *sched_add_counts(struct sched_analysis *sched, uint32_t task);

/* Returns the counts of a task; NULL without memory. */
static inline struct sched_counts *sched_counts_of(struct sched_analysis *sched, uint32_t task)
{
	return __builtin_expect(task < sched->nr_tasks, 1) ? &sched->tasks[task] : sched_add_counts(sched, task);
}

/*
 * An event tells the task's priority: adds up how long it has been a real-time task. `ran`: how long the run lasted
 * that a sched_switch ends, else 0. If its task is a real-time one only now, as chrt makes one, all of that run counts.
 * NULL without memory, as `counts` of the task are then.
 */
struct sched_real_time *sched_see_prio(struct sched_analysis *sched, uint32_t task, struct sched_counts *counts,
				       uint64_t ran);
/* The same at the end of the trace; call it once. */
struct sched_real_time *sched_end_real_time(struct sched_analysis *sched, uint32_t task, struct sched_counts *counts);

extern const struct table_column sched_columns[];
int sched_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
