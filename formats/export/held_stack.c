// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/held_stack_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"
#include "lib/meaning/follow/stack.h"

struct held_stack *held_stacks_of(struct held_stacks *held, uint16_t cpu)
{
	while (held->nr <= cpu)
		if (!vec_push(held->at, held->nr))
			return NULL;
	return &held->at[cpu];
}

void held_stacks_release(struct held_stacks *held)
{
	free(held->at);
	*held = (struct held_stacks){ .at = NULL };
}

void held_stack_fill(struct held_stack *held, const struct place *caller, const struct event *event)
{
	struct stack stack;

	held->nr = 0;
	held->pid = event->pid;
	held->ts = event->ts;
	stack_of_kernel(caller, event, &stack);
	while (held->nr < HELD_ADDRESSES && stack_next(&stack, &held->addresses[held->nr]))
		held->nr++;
}

void held_stack_drop(struct held_stack *held, size_t nr)
{
	held->nr -= (uint32_t)nr;
	memmove(held->addresses, held->addresses + nr, held->nr * sizeof(*held->addresses));
}
