/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_TASKS_TASKS_INTERNAL_H
#define WEFT_ANSWERS_TASKS_TASKS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/extreme.h"
#include "lib/answers/frame/pass.h"
#include "lib/answers/tasks/tasks.h"
#include "lib/meaning/follow/lives.h"

/* What the analysis `tasks` knows. */

/* What the analysis adds to a task of lib/meaning/event/lives, at the same index. */
struct tasks_own {
	uint64_t since;  /* when it executed its program */
	uint64_t ran;    /* what it ran as other tasks of the state: the kernel gives an exec of a thread another PID */
	uint64_t spent;  /* what it had run as its last one of these when it ended */
	uint64_t losses; /* of the state at the last event about the task */
	uint32_t task;   /* the state's index, or STATE_NO_TASK */
	uint32_t program; /* the one that it runs; LIFE_NONE: it has ended, or no exec was seen */
	bool wanted;
	bool ended; /* `ran` is all that it ran */
};

/* Runs of a program: from an exec until the next one, or until the task ends. */
struct tasks_program {
	struct samples runs; /* those that ended */
	struct extreme longest;
	uint64_t execs, running, failed;
	bool chosen; /* a task that the user wants executed it, with whatever name */
};

struct tasks_analysis {
	struct pass *pass;
	struct tasks_options options;
	struct lives *lives;
	struct tasks_own *owns;
	size_t nr_owns;
	struct tasks_program *programs; /* by their number among the lives */
	size_t nr_programs;
	uint64_t *execs; /* life << 32 | program: whether the user wants the task is known at the end */
	size_t nr_execs;
	struct tasks_parent {
		struct samples lasted;
		uint64_t started, threads, ended, failed;
		uint32_t life;
	} * parents;
	size_t nr_parents;
	bool ends_recorded; /* exits are in the file, or there were none */
	bool ends_known;    /* or switches, the last one of each task */
	uint64_t broken;    /* runs in which events were lost */
};

/* The figures of the facts below the tables, of the wanted tasks. */
struct tasks_counts {
	uint64_t seen, began, ended, alive, older, replaced, doubtful, execs;
};

/* Whether it is known when the task ended, or that it has not ended. */
enum tasks_end { TASKS_ENDED, TASKS_ALIVE, TASKS_END_UNKNOWN };

/* tasks_lives.c: what is known of one life. Times are ns. */

/* The names of a task and of its parent; "<...>" if unknown. */
const char *tasks_name(const struct tasks_analysis *tasks, const struct life *life);
const char *tasks_parent_name(const struct tasks_analysis *tasks, const struct life *life);
/* The task of the state whose switches are those of the life; NULL if no event shows it. */
const struct state_task *tasks_state_of(const struct tasks_analysis *tasks, const struct life *life);
enum tasks_end tasks_end_of(const struct tasks_analysis *tasks, const struct life *life);
/* How long it lived, as far as the recording goes. */
uint64_t tasks_lasted(const struct tasks_analysis *tasks, const struct life *life);
/* Whether the task failed, as far as it is known. */
bool tasks_failed(const struct life *life);
/* Whether any event shows how tasks ended; otherwise it is not known how many failed. */
bool tasks_know_status(const struct tasks_analysis *tasks);
/* Whether the user wants a row of the task; `own` is NULL for a task that no event is about. */
bool tasks_wants(const struct tasks_analysis *tasks, const struct life *life, const struct tasks_own *own);

/* The table of the tasks themselves. */
extern const struct table_column tasks_columns[];

/* tasks_tables.c: the tables of --by, and the longest lives. Sets `failed` of the pass without memory. */
void tasks_put_tables(struct tasks_analysis *tasks, struct findings *findings);

#endif
