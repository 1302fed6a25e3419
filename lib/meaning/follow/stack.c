// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/meaning/names/functions.h"
#include "lib/meaning/names/maps.h"
#include "lib/meaning/names/symbols.h"

void stack_of_user(const struct place *caller, const struct event *event, struct stack *ret)
{
	stack_of_kernel(caller, event, ret);
	ret->user = true;
	if (ret->left.left > (size_t)STACK_USER_ENTRIES * ret->size)
		ret->left.left = (size_t)STACK_USER_ENTRIES * ret->size;
	ret->end = 0;
}

/* The kernel's own words of new maps come first: they are complete, also for a program that ended at once. */
static bool find_map(const struct context *context, int32_t tgid, uint64_t address, struct map *ret)
{
	if (maps_find(context->watched, tgid, address, ret) && ret->path && address >= ret->start)
		return true;
	return maps_find(context->maps, tgid, address, ret) && ret->path && address >= ret->start;
}

uint64_t stack_user_frame(const struct context *context, int32_t tgid, uint64_t address, bool inner)
{
	struct function function;
	struct map map;

	if (context->functions && find_map(context, tgid, address - !inner, &map) &&
	    functions_find(context->functions, &map, address - !inner, &function))
		return STACK_FUNCTION | function.id;
	return address;
}

bool stack_user_rules(const struct context *context, int32_t tgid, uint64_t address, const char **ret, size_t *ret_len,
		      uint64_t *ret_offset)
{
	struct function function;
	struct map map;

	if (!context->unwind || !find_map(context, tgid, address, &map) ||
	    !functions_find(context->unwind, &map, address, &function))
		return false;
	*ret = function.name;
	*ret_len = function.name_len;
	*ret_offset = function.offset;
	return true;
}

bool stack_user_is_code(const struct context *context, int32_t tgid, uint64_t address)
{
	struct map map;

	return find_map(context, tgid, address, &map) && map.executable;
}

size_t stack_user_frames(const struct place *caller, int32_t tgid, const struct event *event,
			 uint64_t frames[STACK_USER_ENTRIES])
{
	struct stack stack;
	size_t nr = 0;

	stack_of_user(caller, event, &stack);
	while (nr < STACK_USER_ENTRIES && stack_next(&stack, &frames[nr])) {
		frames[nr] = stack_user_frame(event->type->context, tgid, frames[nr], !nr);
		nr++;
	}
	return nr;
}

size_t stack_user_name(const struct context *context, int32_t tgid, uint64_t frame, char *text, size_t room)
{
	const char *name;
	uint32_t name_len;
	struct map map;
	int len;

	if ((frame & ~(uint64_t)(FUNCTIONS_MAX - 1)) == STACK_FUNCTION && context->functions) {
		name = functions_name(context->functions, (uint32_t)(frame & (FUNCTIONS_MAX - 1)), &name_len);
		len = name ? snprintf(text, room, "%.*s", (int)name_len, name) :
			     snprintf(text, room, "0x%" PRIx64, frame);
	} else if (find_map(context, tgid, frame, &map)) {
		name = memrchr(map.path, '/', map.path_len);
		name = name ? name + 1 : map.path;
		len = snprintf(text, room, "%.*s+0x%" PRIx64, (int)(map.path + map.path_len - name), name,
			       frame - map.start + map.offset);
	} else {
		len = snprintf(text, room, "0x%" PRIx64, frame);
	}
	return (size_t)len < room ? (size_t)len : room - 1;
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
