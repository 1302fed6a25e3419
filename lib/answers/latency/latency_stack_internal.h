/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_LATENCY_LATENCY_STACK_INTERNAL_H
#define WEFT_ANSWERS_LATENCY_LATENCY_STACK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answers/frame/last_switch_out.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"

struct event;
struct late;
struct pass;
struct table;

/*
 * In which function the task was that kept a late one waiting, if the recording has events of the tracer function: the
 * one after whose call it called no other for the longest time of the wait. Such a pause ends also when the task leaves
 * its CPU, and a function of an interrupt cuts it in two.
 */
struct late_functions {
	const struct pass *pass;
	struct roles roles;
	struct place function, caller;
	struct u64_map tasks; /* by task: struct called */
	const struct context *context;
	bool failed;
};

void late_functions_init(struct late_functions *functions, const struct pass *pass);
void late_functions_release(struct late_functions *functions);

/* Returns whether late_functions_see() needs the events of this type. */
bool late_functions_look(struct late_functions *functions, const struct event *event);
void late_functions_see(struct late_functions *functions, const struct event *event);
/* The task has left its CPU. Call it before the wait that this ends is explained. */
void late_functions_switch(struct late_functions *functions, uint32_t task);
/* Events were lost: nobody knows which functions were called meanwhile. */
void late_functions_lose(struct late_functions *functions);

/* Sets the function of a case, if its culprit has called any. */
void late_functions_find(const struct late_functions *functions, struct late *late);
/* A cell with the name of a function, or "" for 0. */
void late_functions_put(struct table *table, const struct late_functions *functions, uint64_t address);

struct lates;

/*
 * Where the task was that kept a late one waiting, if the recording has stacks: the stack of the sched_switch by which
 * it left the CPU. The tracer timerlat also writes stacks: what its timer's interrupt hit. And in which function the
 * task was, if the recording has functions.
 */
struct late_stacks {
	struct late_functions functions;
	struct last_switch_out last_outs; /* late::stack is a stack of outs.store */
};

bool late_stacks_init(struct late_stacks *stacks, const struct pass *pass);
void late_stacks_release(struct late_stacks *stacks);

/* Sets the function of a case that is among the longest, and its stack if its culprit had left the CPU already. */
void late_stacks_find(const struct late_stacks *stacks, struct late *late);
/* Keeps the stack of the sched_switch before it, and sets the stack of the case among the longest that it ended. */
void late_stacks_see(struct late_stacks *stacks, const struct event *event, struct lates *wakeups,
		     struct lates *preemptions);

void late_stacks_put(struct table *table, const struct late_stacks *stacks, const struct late *late);

#endif
