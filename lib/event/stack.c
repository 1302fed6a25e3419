// SPDX-License-Identifier: GPL-2.0-only
#include "lib/event/stack.h"

#include "lib/event/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct stack stack_of(const struct place *caller, const struct schema_abi *abi, const struct event *event)
{
	uint32_t at = caller->offset < event->len ? caller->offset : event->len;

	return (struct stack){
		.left = bytes_of(event->data + at, caller->field ? event->len - at : 0, caller->swap),
		.size = abi->long_size == 4 ? 4 : 8,
		.end = abi->long_size == 4 ? UINT32_MAX : UINT64_MAX,
	};
}

void stack_of_kernel(const struct place *caller, const struct schema_abi *abi, const struct event *event,
		     struct stack *ret)
{
	*ret = stack_of(caller, abi, event);
}

void stack_as_printed(const struct place *caller, const struct schema_abi *abi, const struct event *event,
		      struct stack *ret)
{
	*ret = stack_of(caller, abi, event);
	/* trace_stack_print() goes on while an address begins before the end of the record. */
	if (event->more && ret->left.left)
		ret->left.left = (ret->left.left + event->more + ret->size - 1) / ret->size * ret->size;
}

void stack_of_user(const struct place *caller, const struct schema_abi *abi, const struct event *event,
		   struct stack *ret)
{
	*ret = stack_of(caller, abi, event);
	ret->user = true;
	ret->room = STACK_USER_ENTRIES;
	ret->end = 0;
}

bool stack_next(struct stack *stack, uint64_t *ret)
{
	uint64_t address = 0;
	uint32_t half = 0;

	if (stack->user && !stack->room)
		return false;
	stack->room -= stack->user;
	if (stack->size == 8 ? !bytes_u64(&stack->left, &address) : !bytes_u32(&stack->left, &half))
		return false;
	address |= half;
	if (address == stack->end)
		return false;
	*ret = address;
	return true;
}

bool stack_symbol(const struct symbols *symbols, uint64_t address, struct symbol *ret)
{
	return address != STACK_TRAMPOLINE && symbols_find(symbols, address, ret);
}

void stack_name(const struct symbols *symbols, uint64_t address, char text[STACK_NAME], struct symbol *ret)
{
	if (stack_symbol(symbols, address, ret))
		return;
	snprintf(text, STACK_NAME, address == STACK_TRAMPOLINE ? "[ftrace trampoline]" : "0x%" PRIx64, address);
	*ret = (struct symbol){ .name = text, .name_len = (uint32_t)strlen(text) };
}
