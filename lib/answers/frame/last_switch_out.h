/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_LAST_SWITCH_OUT_H
#define WEFT_ANSWERS_FRAME_LAST_SWITCH_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answers/frame/stack_store.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"

struct context;
struct event;
struct pass;

/*
 * When each task left its CPU last, and with which kernel stack, if the recording has stacks: a stack is the event that
 * follows the sched_switch on its CPU.
 */
struct last_switch_out {
	const struct pass *pass;
	struct roles roles;
	struct place caller;
	struct stack_store store;
	struct u64_map last;           /* by CPU: struct out_switch */
	struct u64_map last_outs;      /* by task: struct task_out */
	const struct context *context; /* of the buffer with stacks; NULL: no stack was seen */
};

struct task_out {
	uint32_t task;
	uint64_t at;
	uint32_t stack; /* in outs::store; 0: none */
};

bool last_switch_out_init(struct last_switch_out *last_outs, const struct pass *pass);
void last_switch_out_release(struct last_switch_out *last_outs);

/* Returns whether the event is a kernel stack, and last_switch_out_see() needs the events of this type. */
bool last_switch_out_look(struct last_switch_out *last_outs, const struct event *event);
/* The last event of the CPU was a sched_switch. */
void last_switch_out_switch(struct last_switch_out *last_outs, uint32_t cpu);
/*
 * Takes a kernel stack. Returns what the sched_switch before it on the CPU made of its task; NULL: the stack is of
 * another event, or memory ran out (outs::store.failed).
 */
const struct task_out *last_switch_out_see(struct last_switch_out *last_outs, const struct event *event);
/* When the task left a CPU with a stack; NULL: that is not known. */
const struct task_out *last_switch_out_of(const struct last_switch_out *last_outs, uint32_t task);
/* Adds the stack of any event to the store. */
uint32_t last_switch_out_add_stack(struct last_switch_out *last_outs, const struct event *event);

#endif
