// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/stack_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/follow/frame_sort.h"
#include "lib/meaning/follow/user_stacks.h"
#include "lib/meaning/names/symbols.h"

struct stored_function {
	uint64_t start;
	uint8_t sort;
	bool known;
};

bool stack_store_init(struct stack_store *store)
{
	*store = (struct stack_store){ .nr = 0 };
	u64_map_init(&store->ids, sizeof(uint32_t));
	u64_map_init(&store->functions, sizeof(struct stored_function));
	return vec_push(store->stacks, store->nr);
}

void stack_store_release(struct stack_store *store)
{
	free(store->stacks);
	free(store->frames);
	u64_map_release(&store->ids);
	u64_map_release(&store->functions);
}

static struct stored_function function_of(struct stack_store *store, const struct context *context, uint64_t address)
{
	struct stored_function *function = u64_map_add(&store->functions, address);
	struct symbol symbol;

	if (!function) {
		store->failed = true;
		return (struct stored_function){ .start = address };
	}
	if (function->known)
		return *function;
	*function = (struct stored_function){ .start = address, .known = true };
	if (!stack_symbol(context->symbols, address, &symbol))
		return *function;
	function->start = symbol.address;
	function->sort = (uint8_t)frame_sort(&symbol);
	return *function;
}

static bool is_same(const struct stack_store *store, const struct stored_stack *one, const uint64_t *frames,
		    const struct stored_stack *other)
{
	return one->nr == other->nr && one->user == other->user && one->tgid == other->tgid && one->cut == other->cut &&
	       (!one->nr || !memcmp(&store->frames[one->at], frames, one->nr * sizeof(*frames)));
}

static uint32_t keep(struct stack_store *store, const uint64_t *frames, struct stored_stack *stack)
{
	struct stored_stack *added;
	uint64_t *frame;

	stack->at = store->nr_frames;
	added = vec_push(store->stacks, store->nr);
	if (!added) {
		store->failed = true;
		return 0;
	}
	*added = (struct stored_stack){ .nr = 0 };
	for (uint32_t i = 0; i < stack->nr; i++) {
		frame = vec_push(store->frames, store->nr_frames);
		if (!frame) {
			store->failed = true;
			return 0;
		}
		*frame = frames[i];
	}
	*added = *stack;
	return (uint32_t)store->nr - 1;
}

static struct stored_function user_function(const struct context *context, int32_t tgid, uint64_t address, bool inner)
{
	return (struct stored_function){ .start = stack_user_frame(context, tgid, address, inner) };
}

uint32_t stack_store_add(struct stack_store *store, const struct context *context, struct stack *stack, int32_t tgid)
{
	struct stored_stack stored = { .user = stack->user, .inner = UINT32_MAX };
	uint64_t frames[STORED_FRAMES], address, hash = UINT64_C(14695981039346656037);
	struct stored_function function;
	bool timer = store->of_timer, unnamed = false;
	uint32_t *id, faults = 0;

	while (stored.nr < STORED_FRAMES && stack_next(stack, &address)) {
		/* The tracer timerlat writes zeros behind its frames. */
		if (!address && !stack->user)
			continue;
		function = stack->user ? user_function(context, tgid, address, !stored.nr) :
					 function_of(store, context, address);
		unnamed |= stack->user && function.start == address;
		if (!stored.nr && frame_is_event((enum frame_sort)function.sort, &timer))
			continue;
		/* What faulted is above the code that every page fault enters by. */
		if (stored.inner == UINT32_MAX && function.sort != FRAME_SCHEDULER && function.sort != FRAME_FAULT)
			stored.inner = stored.nr;
		faults += function.sort == FRAME_FAULT;
		frames[stored.nr++] = function.start;
		hash = (hash ^ function.start) * UINT64_C(1099511628211);
	}
	if (stored.inner == UINT32_MAX)
		stored.inner = 0;
	/* A function is the same one in every process. An address is not. */
	stored.tgid = unnamed ? tgid : 0;
	hash ^= (uint32_t)stored.tgid;
	/* The kernel records no more entries of a program's stack. */
	stored.cut = stack->unwound ? stack->cut || stored.nr == STORED_FRAMES :
				      stack->user && stored.nr == STACK_USER_ENTRIES;
	stored.only_entry = stored.nr && faults == stored.nr;
	/* Stacks with equal hashes take consecutive keys. */
	while ((id = u64_map_find(&store->ids, hash)) && !is_same(store, &store->stacks[*id - 1], frames, &stored))
		hash++;
	if (id)
		return *id - 1;
	if (!stored.nr || store->nr >= STORED_MAX)
		return 0;
	id = u64_map_add(&store->ids, hash);
	if (!id) {
		store->failed = true;
		return 0;
	}
	*id = keep(store, frames, &stored) + 1;
	return *id - 1;
}

uint64_t stack_store_function(const struct stack_store *store, uint32_t stack)
{
	const struct stored_stack *stored = &store->stacks[stack];

	return stored->nr ? store->frames[stored->at + stored->inner] : 0;
}

static size_t put_frame(const struct stored_stack *stack, const struct context *context, uint64_t address, char *text,
			size_t room)
{
	char own[STACK_NAME];
	struct symbol symbol;
	int len;

	if (stack->user)
		return stack_user_name(context, stack->tgid, address, text, room);
	stack_name(context->symbols, address, own, &symbol);
	len = snprintf(text, room, "%.*s", (int)symbol.name_len, symbol.name);
	return (size_t)len < room ? (size_t)len : room - 1;
}

void stack_store_put_function(struct table *table, const struct stack_store *store, const struct context *context,
			      uint32_t stack)
{
	const struct stored_stack *stored = &store->stacks[stack];
	char text[STORED_TEXT];

	if (stored->nr)
		table_cell_mem(table, text,
			       put_frame(stored, context, store->frames[stored->at + stored->inner], text,
					 sizeof(text)));
	else
		table_cell(table, "(others)");
}

/* Adds the frames behind the first `len` bytes of the text, as far as there is room. */
static size_t put_frames(const struct stack_store *store, const struct context *context, uint32_t stack, char *text,
			 size_t len)
{
	const struct stored_stack *stored = &store->stacks[stack];

	for (uint32_t i = 0; i < stored->nr && len < STORED_TEXT - 8; i++) {
		if (len)
			len += (size_t)snprintf(text + len, STORED_TEXT - len, " < ");
		len += put_frame(stored, context, store->frames[stored->at + i], text + len, STORED_TEXT - len);
	}
	if (stored->cut && len < STORED_TEXT - 8)
		len += (size_t)snprintf(text + len, STORED_TEXT - len, " < ...");
	return len;
}

void stack_store_put(struct table *table, const struct stack_store *store, const struct context *context,
		     uint32_t stack)
{
	char text[STORED_TEXT];

	table_cell_mem(table, text, put_frames(store, context, stack, text, 0));
}

void stack_store_put_both(struct table *table, const struct stack_store *store, const struct context *context,
			  uint32_t stack, uint32_t program)
{
	char text[STORED_TEXT];
	size_t len = put_frames(store, context, stack, text, 0);

	table_cell_mem(table, text, put_frames(store, context, program, text, len));
}

void stack_store_tell_unwound(struct findings *findings, const struct user_stacks *unwound)
{
	struct user_stacks_counts counts = user_stacks_counts(unwound);

	if (counts.found)
		findings_note(findings,
			      "%s stack%s of programs by the rules of their own files (.eh_frame): %s %s cut "
			      "where the copy of the stack ended, of %s "
			      "no rule leads to the caller of the last frame",
			      text_count((char[TEXT_HUMAN]){ 0 }, counts.found), text_plural(counts.found),
			      text_count((char[TEXT_HUMAN]){ 0 }, counts.cut), counts.cut == 1 ? "is" : "are",
			      text_count((char[TEXT_HUMAN]){ 0 }, counts.unknown));
}
