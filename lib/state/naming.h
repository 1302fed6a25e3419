/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_STATE_NAMING_H
#define WEFT_STATE_NAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct state_task;

/*
 * Which tasks had a wanted name, and when: an exec or prctl() renames a task. An interval, such as a wait or a call, is
 * wanted if its task had a wanted name at any moment of it. Names come from the events. Before the first event that
 * tells a task's name it is called as that event calls it, or, if that is an exec, as the file calls it.
 * Followed only after state_follow_names(): otherwise nothing is kept, and no task has a wanted name.
 */
typedef bool naming_wants(const void *arg, const struct state_task *task);

/* State_task::comm and the modes of lib/state/state.h, which includes this file. */
enum { NAMING_COMM = 16, NAMING_MODES = 10 };

struct naming_task {
	char comm[NAMING_COMM];           /* the present name */
	char wanted[NAMING_COMM];         /* the last one that is wanted; "" none */
	char other[NAMING_COMM];          /* the last one that is not; "" not known */
	uint64_t changed;                 /* when it last changed from one of these to the other */
	uint64_t until;                   /* the end of the last time with a wanted name */
	uint64_t elsewhere[NAMING_MODES]; /* the part of state_task::spent in intervals that are not wanted */
	bool known, now;                  /* now: its present name is a wanted one */
	bool ever, others;                /* whether it had wanted names, and others */
};

struct naming {
	naming_wants *wants; /* NULL: not followed */
	const void *arg;
	struct naming_task *tasks; /* by the index of the task in the state */
	size_t nr;
};

#endif
