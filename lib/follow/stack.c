// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/follow/stack.h"

#include "lib/names/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void stack_of_user(const struct place *caller, const struct event *event, struct stack *ret)
{
	stack_of_kernel(caller, event, ret);
	ret->user = true;
	if (ret->left.left > (size_t)STACK_USER_ENTRIES * ret->size)
		ret->left.left = (size_t)STACK_USER_ENTRIES * ret->size;
	ret->end = 0;
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
