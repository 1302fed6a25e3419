/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_STACKS_H
#define WEFT_FORMATS_EXPORT_STACKS_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct export;
struct export_input;
struct event;
struct fail;

/*
 * All call stacks of a trace as a tree, and how much each weighs. The outermost frame is the task's name. A node's weight is its own, without
 * that of what stands on it:
 *	self-time	what functions of the function graph lasted, without those that they called
 *	off-cpu		from a sched_switch with a stack until the task runs again, with a frame [blocked] or [runnable] on top
 *	count		stacks recorded with events
 * Thread states here are as much as a stack needs: from a switch to the waking, and from there to the next switch to the task.
 * Invariant: a node comes behind its parent; node 0 is the root. The number of nodes has a bound: what is beyond weighs on the
 * node below it, and stacks_cut() tells.
 */
enum weight { WEIGHT_SELF_TIME, WEIGHT_OFF_CPU, WEIGHT_COUNT, NR_WEIGHTS };

extern const char *const weight_names[NR_WEIGHTS];

struct stack_node {
	uint32_t parent;
	uint32_t name; /* of stacks_name() */
	uint64_t weights[NR_WEIGHTS];
};

struct stacks;

int must_check stacks_new(const struct export_input *input, struct stacks **ret, struct fail *fail);
void stacks_free(struct stacks *stacks);

void stacks_see(struct stacks *stacks, struct export *export, const struct event *event);
/* What is left of the trace's end, and notes of what could not be known. */
void stacks_end(struct stacks *stacks, struct export *export);

const struct stack_node *stacks_nodes(const struct stacks *stacks, size_t *ret_nr);
const char *stacks_name(const struct stacks *stacks, uint32_t name, size_t *ret_len);
size_t stacks_names(const struct stacks *stacks);

/* The weight to show: that of --weight, or the first of which there is any. */
enum weight stacks_weight(const struct stacks *stacks);
/* Whether --weight named it. */
bool stacks_is_chosen(const struct stacks *stacks);
uint64_t stacks_total(const struct stacks *stacks, enum weight weight);

#endif
