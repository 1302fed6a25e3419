/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_STATE_NAMING_H
#define WEFT_MEANING_STATE_NAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meaning/event/tasks.h"

struct state_task;

/*
 * Which tasks had a wanted name, and when: an exec or prctl() renames a task. An interval, such as a wait or a call, is
 * wanted if its task had a wanted name at any moment of it; of the sums of such intervals each ns belongs to the name
 * that the task had at that moment. Names come from the events. Before the first event that
 * tells a task's name it is called as that event calls it, or, if that is an exec, as the file calls it.
 * Followed only after state_follow_names(): otherwise nothing is kept, and no task has a wanted name.
 */
typedef bool naming_wants(const void *arg, const struct state_task *task);

/*
 * What tells at any moment whether a task is wanted, such as the service that it belongs to, needs no names to be
 * followed: how long of the time from `from` to `to` it was not wanted. `wants` then answers for the present moment.
 */
typedef uint64_t naming_away(const void *arg, const struct state_task *task, uint64_t from, uint64_t to);

/* The modes of lib/meaning/state/state.h, which includes this file. */
enum { NAMING_MODES = 10 };

struct naming_task {
	char comm[TASK_COMM_LEN];         /* the present name */
	char wanted[TASK_COMM_LEN];       /* the last one that is wanted; "" none */
	char other[TASK_COMM_LEN];        /* the last one that is not; "" not known */
	uint64_t changed;                 /* when it last changed from one of these to the other */
	uint64_t until;                   /* the end of the last time with a wanted name */
	uint64_t elsewhere[NAMING_MODES]; /* the part of state_task::spent with names that are not wanted */
	uint64_t away;                    /* that part of the present mode, up to `changed` */
	bool known, now;                  /* now: its present name is a wanted one */
	bool ever, others;                /* whether it had wanted names, and others */
};

/* Told of each time that a task has spent in a mode, when it ends. */
typedef void naming_spent(void *arg, const struct state_task *task, unsigned mode, uint64_t from, uint64_t to);

struct naming {
	naming_spent *spent; /* NULL: nobody asks */
	void *spent_arg;
	naming_wants *wants; /* NULL: not followed */
	naming_away *away;   /* NULL: names are followed */
	const void *arg;
	struct naming_task *tasks; /* by the index of the task in the state */
	size_t nr;
};

#endif
