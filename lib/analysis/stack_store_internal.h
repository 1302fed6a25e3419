/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_STACK_STORE_INTERNAL_H
#define WEFT_ANALYSIS_STACK_STORE_INTERNAL_H

#include "lib/base/u64_map.h"
#include "lib/follow/stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct table;

/*
 * A set of stacks, each kept once. Frames are functions, so two addresses in one function are the same frame; the first
 * frames, which belong to the event itself, are dropped. Memory grows with the number of different stacks, of which
 * there are at most STORED_MAX. All further ones count as stack 0, which has no frames.
 */
enum { STORED_MAX = 1 << 16, STORED_FRAMES = 48, STORED_TEXT = 4096 };

struct stack_store {
	struct stored_stack {
		size_t at; /* index of its first frame in frames[] */
		uint32_t nr;
		/* The first frame that is neither of the scheduler nor of the entry of a page fault; 0: none. */
		uint32_t inner;
		int32_t tgid; /* of a user stack */
		bool user;
		bool only_entry; /* all frames are the entry of a page fault, which a program had */
	} * stacks;
	size_t nr;
	uint64_t *frames;
	size_t nr_frames;
	struct u64_map ids;       /* by hash: uint32_t, index + 1 of stacks */
	struct u64_map functions; /* by address: struct stored_function */
	bool failed;              /* memory ran out */
};

bool stack_store_init(struct stack_store *store);
void stack_store_release(struct stack_store *store);

/* Returns the index of the stack; 0 if there is no room for it. */
uint32_t stack_store_add(struct stack_store *store, const struct context *context, struct stack *stack, int32_t tgid);

/* Returns the address of the function of the frame `inner`; 0 if the stack has no frames. */
uint64_t stack_store_function(const struct stack_store *store, uint32_t stack);

/* Adds cells with the name of that function, and with all frames, the innermost first. */
void stack_store_put_function(const struct stack_store *store, const struct context *context, uint32_t stack,
			      struct table *table);
void stack_store_put(const struct stack_store *store, const struct context *context, uint32_t stack,
		     struct table *table);

#endif
