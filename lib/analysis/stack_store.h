/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_STACK_STORE_H
#define WEFT_ANALYSIS_STACK_STORE_H

#include "lib/base/u64_map.h"
#include "lib/event/stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct table;

/*
 * Stacks, each kept once: as functions, so that two places in one function are one frame, without the frames in front
 * that only tell of the event. Memory grows with different stacks, of which there are at most STORED_MAX; all others
 * count as stack 0, which has no frames.
 */
enum { STORED_MAX = 1 << 16, STORED_FRAMES = 48, STORED_TEXT = 4096 };

struct stack_store {
	struct stored_stack {
		size_t at; /* of frames */
		uint32_t nr;
		uint32_t inner; /* the first frame that is none of the scheduler's; nr: there is none */
		int32_t tgid;   /* of a user's stack */
		bool user;
	} * stacks;
	size_t nr;
	uint64_t *frames;
	size_t nr_frames;
	struct u64_map ids;       /* by hash: uint32_t, index + 1 of stacks */
	struct u64_map functions; /* by address: struct stored_function */
	bool failed;              /* no memory */
};

bool stack_store_init(struct stack_store *store);
void stack_store_release(struct stack_store *store);

/* The index of the stack; 0 where there is no room. */
uint32_t stack_store_add(struct stack_store *store, const struct context *context, struct stack *stack, int32_t tgid);

/* The address of the function where it is, without those of the scheduler; 0 of one without frames. */
uint64_t stack_store_function(const struct stack_store *store, uint32_t stack);

/* Cells with the name of that function, and with all frames, innermost first. */
void stack_store_put_function(const struct stack_store *store, const struct context *context, uint32_t stack,
			      struct table *table);
void stack_store_put(const struct stack_store *store, const struct context *context, uint32_t stack,
		     struct table *table);

#endif
