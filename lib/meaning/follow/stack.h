/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_STACK_H
#define WEFT_MEANING_FOLLOW_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/bytes.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/place.h"

struct symbol;
struct symbols;

/*
 * The addresses of a kernel_stack or user_stack event, innermost first. They reach from the field `caller` to the end
 * of the record: the array size in the format is from old kernels. It borrows the record.
 */
struct stack {
	struct bytes left;
	uint8_t size; /* size of an address */
	uint64_t end; /* the value that ends it: all ones in a kernel stack, 0 in a user stack */
	bool user;
	bool unwound; /* lib/meaning/follow/user_stacks.h: it has as many frames as there were */
	bool cut;     /* unwound: callers are missing */
};

enum {
	STACK_USER_ENTRIES = 8,        /* FTRACE_STACK_ENTRIES */
	STACK_TRAMPOLINE = 0x7fffffff, /* FTRACE_TRAMPOLINE_MARKER, in place of an address: 6.12 and later */
};

/* Inline with stack_next(), so that a loop has its stack in registers. */
static inline void stack_of_kernel(const struct place *caller, const struct event *event, struct stack *ret)
{
	const uint32_t size = event->type->context->abi.long_size == 4 ? 4 : 8;
	uint32_t at = caller->offset < event->len ? caller->offset : event->len;

	ret->left = bytes_of(event->data + at, caller->field ? event->len - at : 0, caller->swap);
	ret->size = (uint8_t)size;
	ret->end = size == 4 ? UINT32_MAX : UINT64_MAX;
	ret->user = ret->unwound = ret->cut = false;
}

void stack_of_user(const struct place *caller, const struct event *event, struct stack *ret);

/*
 * Adds what the kernel prints of the bytes behind the record (event::more): trace_stack_print() goes on while an
 * address begins before the end of the record.
 */
static inline void stack_add_more(struct stack *stack, const struct event *event)
{
	if (event->more && stack->left.left)
		stack->left.left = (stack->left.left + event->more + stack->size - 1) / stack->size * stack->size;
}

/* The next address; false at the end. */
static inline bool stack_next(struct stack *stack, uint64_t *ret)
{
	uint32_t half = 0;

	if (stack->size == 8) {
		if (!bytes_u64(&stack->left, ret))
			return false;
	} else {
		if (!bytes_u32(&stack->left, &half))
			return false;
		*ret = half;
	}
	return *ret != stack->end;
}

/*
 * A frame of a user stack as a number that is the same for all addresses of one function, in every process: stacks of
 * the same functions are then the same. `inner`: the address is where the task was, and not where a call returns to.
 * Without a name it is the address. Such a number is of a function.
 */
#define STACK_FUNCTION (UINT64_C(1) << 47)
uint64_t stack_user_frame(const struct context *context, int32_t tgid, uint64_t address, bool inner);
/*
 * The rules that lead from an address to the caller (lib/meaning/names/unwind.h), and the place of the address in their
 * code. False: there are none.
 */
bool stack_user_rules(const struct context *context, int32_t tgid, uint64_t address, const char **ret, size_t *ret_len,
		      uint64_t *ret_offset);
/* Whether an executable file is mapped there. */
bool stack_user_is_code(const struct context *context, int32_t tgid, uint64_t address);
/* All frames of such a record, the innermost first; returns their number. `caller` is its field of addresses. */
size_t stack_user_frames(const struct place *caller, int32_t tgid, const struct event *event,
			 uint64_t frames[STACK_USER_ENTRIES]);

/*
 * Writes the name of such a frame: "main"; "libc.so.6+0x1234" without a name of the function; the number without a
 * known file. Returns its length.
 */
enum { STACK_USER_NAME = 768 }; /* room for most of them */
size_t stack_user_name(const struct context *context, int32_t tgid, uint64_t frame, char *text, size_t room);

/* Finds the symbol of a kernel address; false when there is none, or for STACK_TRAMPOLINE. */
bool stack_symbol(const struct symbols *symbols, uint64_t address, struct symbol *ret);

/* The name of an address; the number as text (in `text`) when it has no symbol. */
enum { STACK_NAME = 32 };
void stack_name(const struct symbols *symbols, uint64_t address, char text[STACK_NAME], struct symbol *ret);

#endif
