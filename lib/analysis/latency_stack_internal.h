/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_LATENCY_STACK_INTERNAL_H
#define WEFT_ANALYSIS_LATENCY_STACK_INTERNAL_H

#include "lib/analysis/latency_function_internal.h"
#include "lib/analysis/outs_internal.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct event;
struct late;
struct lates;
struct pass;
struct table;

/*
 * Where the task was that kept a late one waiting, if the recording has stacks: the stack of the sched_switch by which
 * it left the CPU. The tracer timerlat also writes stacks: what its timer's interrupt hit. And in which function the
 * task was, if the recording has functions.
 */
struct late_stacks {
	struct late_functions functions;
	struct outs outs; /* late::stack is a stack of outs.store */
};

bool late_stacks_init(struct late_stacks *stacks, const struct pass *pass);
void late_stacks_release(struct late_stacks *stacks);

/* Sets the function of a case that is among the longest, and its stack if its culprit had left the CPU already. */
void late_stacks_find(const struct late_stacks *stacks, struct late *late);
/* Keeps the stack of the sched_switch before it, and sets the stack of the case among the longest that it ended. */
void late_stacks_see(struct late_stacks *stacks, const struct event *event, struct lates *lates);

void late_stacks_put(const struct late_stacks *stacks, const struct late *late, struct table *table);

#endif
