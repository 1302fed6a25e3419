/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_TASKS_INTERNAL_H
#define WEFT_ANALYSIS_TASKS_INTERNAL_H

#include "lib/analysis/extreme_internal.h"
#include "lib/analysis/pass.h"
#include "lib/analysis/tasks.h"
#include "lib/base/u64_map.h"
#include "lib/follow/lives.h"

/* What the analysis `tasks` knows, between tasks.c, which follows the events, and the files that fill its tables. */

/* What the analysis adds to a task of lib/event/lives, at the same index. */
struct tasks_own {
	uint64_t since;  /* when it executed its program */
	uint64_t ran;    /* what it ran as other tasks of the state: the kernel gives an exec of a thread another PID */
	uint64_t losses; /* of the state at the last event about the task */
	uint32_t task;   /* the state's index, or STATE_NO_TASK */
	uint32_t program; /* the one that it runs; LIFE_NONE: it has ended, or no exec was seen */
	bool wanted;
};

/* Runs of a program: from an exec until the next one, or until the task ends. */
struct tasks_program {
	struct samples runs; /* those that ended */
	struct extreme longest;
	uint64_t execs, running, failed;
};

struct tasks_analysis {
	struct pass *pass;
	struct tasks_options options;
	struct lives *lives;
	struct tasks_own *owns;
	size_t nr_owns;
	struct tasks_program *programs; /* by their number among the lives */
	size_t nr_programs;
	struct tasks_parent {
		struct samples lasted;
		uint64_t started, threads, ended, failed;
		uint32_t life;
	} * parents;
	size_t nr_parents;
	bool ends_recorded; /* exits are in the file, or there were none */
	uint64_t broken;    /* runs in which events were lost */
};

/* The figures of the facts below the tables, of the wanted tasks. */
struct tasks_counts {
	uint64_t seen, began, ended, alive, older, replaced, doubtful, execs;
};

/* Whether the user wants a row of the task. */
bool tasks_wants(const struct tasks_analysis *tasks, const struct life *life, const struct tasks_own *own);
/* Whether it is known when the task ended, or that it has not ended. */
enum tasks_end { TASKS_ENDED, TASKS_ALIVE, TASKS_END_UNKNOWN };
enum tasks_end tasks_end_of(const struct tasks_analysis *tasks, const struct life *life);
/* How long it lived, as far as the recording goes. */
uint64_t tasks_lasted(const struct tasks_analysis *tasks, const struct life *life);
/* The names of a task and of its parent; "<...>" if unknown. */
const char *tasks_name(const struct tasks_analysis *tasks, const struct life *life);
const char *tasks_parent_name(const struct tasks_analysis *tasks, const struct life *life);
/* Whether the task failed, as far as it is known. */
bool tasks_failed(const struct life *life);

/* The tables. */
void tasks_put_rows(struct tasks_analysis *tasks, struct findings *findings);
int must_check tasks_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
