/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_LATENCY_STACK_H
#define WEFT_ANALYSIS_LATENCY_STACK_H

#include "lib/analysis/stack_store.h"
#include "lib/base/cleanup.h"
#include "lib/base/u64_map.h"
#include "lib/event/place.h"
#include "lib/event/roles.h"

#include <stdbool.h>
#include <stdint.h>

struct event;
struct late;
struct lates;
struct pass;
struct table;

/*
 * Where the task was that kept a late one waiting, if the recording has stacks: the stack of the sched_switch by which
 * it left the CPU to that one.
 */
struct late_stacks {
	const struct pass *pass;
	struct roles roles;
	struct place caller;
	struct stack_store store;
	struct u64_map last; /* by CPU: struct late_switch */
	const struct context *context;
};

bool late_stacks_init(struct late_stacks *stacks, const struct pass *pass);
void late_stacks_release(struct late_stacks *stacks);

/* Returns whether late_stacks_see() needs the events of this type. */
bool late_stacks_look(struct late_stacks *stacks, const struct event *event);
/* The last event was the sched_switch to the task of `late`, which is among the longest. */
void late_stacks_expect(struct late_stacks *stacks, const struct late *late);
/* Sets the stack of the case among the longest to whose sched_switch it belongs. */
void late_stacks_see(struct late_stacks *stacks, const struct event *event, struct lates *lates);

/* Adds a cell with the stack of the task `culprit` if it is the one that left the CPU. */
void late_stacks_put(const struct late_stacks *stacks, const struct late *late, uint32_t culprit, struct table *table);

#endif
