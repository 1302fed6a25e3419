/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_STACK_H
#define WEFT_EVENT_STACK_H

#include "lib/base/bytes.h"
#include "lib/event/place.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol;
struct symbols;

/*
 * The addresses of a kernel_stack or user_stack event, innermost first. They reach from the field `caller` to the end
 * of the record: the array size in the format is that of old kernels. It borrows the record.
 */
struct stack {
	struct bytes left;
	uint8_t size;  /* size of an address */
	uint64_t end;  /* for a kernel stack: the value that ends it, all ones */
	unsigned room; /* for a user stack: the number of addresses that may still follow; a 0 ends it */
	bool user;
};

enum {
	STACK_USER_ENTRIES = 8,        /* FTRACE_STACK_ENTRIES */
	STACK_TRAMPOLINE = 0x7fffffff, /* FTRACE_TRAMPOLINE_MARKER, in place of an address: 6.12 and later */
};

void stack_of_kernel(const struct place *caller, const struct schema_abi *abi, const struct event *event,
		     struct stack *ret);
/* The same, with what the kernel prints of the bytes behind the record (event::more): an address too many. */
void stack_as_printed(const struct place *caller, const struct schema_abi *abi, const struct event *event,
		      struct stack *ret);
void stack_of_user(const struct place *caller, const struct schema_abi *abi, const struct event *event,
		   struct stack *ret);

/* The next address; false at the end. */
bool stack_next(struct stack *stack, uint64_t *ret);

/* Finds the symbol of a kernel address; false when there is none, or for STACK_TRAMPOLINE. */
bool stack_symbol(const struct symbols *symbols, uint64_t address, struct symbol *ret);

/* The name of an address; the number as text (in `text`) when it has no symbol. */
enum { STACK_NAME = 32 };
void stack_name(const struct symbols *symbols, uint64_t address, char text[STACK_NAME], struct symbol *ret);

#endif
