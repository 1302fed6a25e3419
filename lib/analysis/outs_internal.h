/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_OUTS_INTERNAL_H
#define WEFT_ANALYSIS_OUTS_INTERNAL_H

#include "lib/analysis/stack_store_internal.h"
#include "lib/base/cleanup.h"
#include "lib/base/u64_map.h"
#include "lib/event/place.h"
#include "lib/follow/roles.h"

#include <stdbool.h>
#include <stdint.h>

struct context;
struct event;
struct pass;

/*
 * When each task left its CPU last, and with which kernel stack, if the recording has stacks: a stack is the event that
 * follows the sched_switch on its CPU.
 */
struct outs {
	const struct pass *pass;
	struct roles roles;
	struct place caller;
	struct stack_store store;
	struct u64_map last;           /* by CPU: struct out_switch */
	struct u64_map outs;           /* by task: struct task_out */
	const struct context *context; /* of the buffer with stacks; NULL: no stack was seen */
};

struct task_out {
	uint32_t task;
	uint64_t at;
	uint32_t stack; /* in outs::store; 0: none */
};

bool outs_init(struct outs *outs, const struct pass *pass);
void outs_release(struct outs *outs);

/* Returns whether the event is a kernel stack, and outs_see() needs the events of this type. */
bool outs_look(struct outs *outs, const struct event *event);
/* The last event of the CPU was a sched_switch. */
void outs_switch(struct outs *outs, uint32_t cpu);
/*
 * Takes a kernel stack. Returns what the sched_switch before it on the CPU made of its task; NULL: the stack is of
 * another event, or memory ran out (outs::store.failed).
 */
const struct task_out *outs_see(struct outs *outs, const struct event *event);
/* When the task left a CPU with a stack; NULL: that is not known. */
const struct task_out *outs_of(const struct outs *outs, uint32_t task);
/* Adds the stack of any event to the store. */
uint32_t outs_add_stack(struct outs *outs, const struct event *event);

#endif
