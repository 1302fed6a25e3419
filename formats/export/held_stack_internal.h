/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_HELD_STACK_INTERNAL_H
#define WEFT_FORMATS_EXPORT_HELD_STACK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct place;

/*
 * The kernel's stack of the last event of a CPU, until the stack of the program is known, which comes behind it, or the
 * next event tells that there is none.
 */
enum { HELD_ADDRESSES = 256 };

struct held_stack {
	uint32_t left; /* index + 1 of the task that left the CPU in that event */
	uint32_t nr;   /* 0: it is counted, or there is none */
	/* For the exporter: the node + 1 of the program's stack, if it is known before that of the kernel. */
	uint32_t program;
	bool counts; /* for the exporter: `program` is the whole stack of an event, if none of the kernel follows */
	bool ticked; /* the event was a tick of the CPU (lib/meaning/follow/tick.h) that is not counted yet */
	int32_t pid;
	uint64_t ts;
	uint64_t addresses[HELD_ADDRESSES];
};

struct held_stacks {
	struct held_stack *at; /* by CPU */
	size_t nr;
};

/* NULL without memory. The next call may move it. */
struct held_stack *held_stacks_of(struct held_stacks *held, uint16_t cpu);
void held_stacks_release(struct held_stacks *held);

/* Takes the addresses of a kernel_stack. */
void held_stack_fill(struct held_stack *held, const struct place *caller, const struct event *event);
/* Leaves out the innermost `nr` addresses. */
void held_stack_drop(struct held_stack *held, size_t nr);

#endif
