/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_STACK_STORE_H
#define WEFT_ANSWERS_FRAME_STACK_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"
#include "lib/meaning/follow/stack.h"

struct context;
struct findings;
struct table;
struct user_stacks;

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
		int32_t tgid; /* of a user stack of which a function has no name; else 0 */
		bool user;
		bool cut;        /* of a user stack: callers may be missing */
		bool only_entry; /* all frames are the entry of a page fault, which a program had */
	} * stacks;
	size_t nr;
	uint64_t *frames;
	size_t nr_frames;
	struct u64_map ids;       /* by hash: uint32_t, index + 1 of stacks */
	struct u64_map functions; /* by address: struct stored_function */
	bool failed;              /* memory ran out */
	bool of_timer;            /* the stacks are of events in the timer's interrupt: it is no part of them */
};

bool stack_store_init(struct stack_store *store);
void stack_store_release(struct stack_store *store);

/* Returns the index of the stack; 0 if there is no room for it. */
uint32_t stack_store_add(struct stack_store *store, const struct context *context, struct stack *stack, int32_t tgid);

/* Returns the address of the function of the frame `inner`; 0 if the stack has no frames. */
uint64_t stack_store_function(const struct stack_store *store, uint32_t stack);

/*
 * Adds cells with the name of that function, and with all frames, the innermost first; behind those of the kernel come
 * those of the program. "..." is behind the last frame that the kernel records of a program.
 */
void stack_store_put_function(struct table *table, const struct stack_store *store, const struct context *context,
			      uint32_t stack);
void stack_store_put(struct table *table, const struct stack_store *store, const struct context *context,
		     uint32_t stack);
void stack_store_put_both(struct table *table, const struct stack_store *store, const struct context *context,
			  uint32_t stack, uint32_t program);

/* Says how stacks of programs are known that were unwound, and how many are not whole. */
void stack_store_tell_unwound(struct findings *findings, const struct user_stacks *unwound);

#endif
