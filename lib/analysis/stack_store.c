// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/stack_store_internal.h"

#include "lib/base/cleanup.h"
#include "lib/base/table.h"
#include "lib/base/text.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/names/maps.h"
#include "lib/names/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum sort { FRAME_OTHER, FRAME_TRACING, FRAME_SCHEDULER, FRAME_TIMERLAT, FRAME_TIMER, FRAME_FAULT };

struct stored_function {
	uint64_t start;
	uint8_t sort;
	bool known;
};

static const struct {
	const char *glob;
	enum sort sort;
} sorts[] = {
	{ "trace_event_raw_event_*", FRAME_TRACING },
	{ "trace_event_buffer_*", FRAME_TRACING },
	{ "__traceiter_*", FRAME_TRACING },
	{ "__trace_event_*", FRAME_TRACING },
	{ "ftrace_*", FRAME_TRACING },
	{ "__ftrace_*", FRAME_TRACING },
	{ "perf_trace_*", FRAME_TRACING },
	{ "trace_stack*", FRAME_TRACING },
	{ "do_trace_event_raw_event_*", FRAME_TRACING },
	{ "__schedule*", FRAME_SCHEDULER },
	{ "schedule", FRAME_SCHEDULER },
	{ "schedule_*", FRAME_SCHEDULER },
	{ "preempt_schedule*", FRAME_SCHEDULER },
	{ "*cond_resched*", FRAME_SCHEDULER },
	{ "io_schedule*", FRAME_SCHEDULER },
	{ "timerlat_*", FRAME_TIMERLAT },
	{ "*hrtimer_run_queues*", FRAME_TIMER },
	{ "hrtimer_interrupt", FRAME_TIMER },
	{ "*apic_timer_interrupt", FRAME_TIMER },
	{ "asm_call_irq_on_stack", FRAME_TIMER },
	{ "arch_timer_handler_*", FRAME_TIMER },
	{ "handle_percpu_devid_irq", FRAME_TIMER },
	{ "generic_handle_domain_irq", FRAME_TIMER },
	{ "gic_handle_irq", FRAME_TIMER },
	{ "call_on_irq_stack", FRAME_TIMER },
	{ "do_interrupt_handler", FRAME_TIMER },
	{ "el1_interrupt", FRAME_TIMER },
	{ "el1h_64_irq*", FRAME_TIMER },
	{ "*exc_page_fault", FRAME_FAULT },
	{ "async_page_fault", FRAME_FAULT },
	{ "page_fault", FRAME_FAULT },
	{ "*do_page_fault", FRAME_FAULT },
	{ "do_user_addr_fault", FRAME_FAULT },
	{ "do_kern_addr_fault", FRAME_FAULT },
	{ "handle_page_fault", FRAME_FAULT },
	{ "do_mem_abort", FRAME_FAULT },
	{ "do_translation_fault", FRAME_FAULT },
	{ "el0_da", FRAME_FAULT },
	{ "el0_ia", FRAME_FAULT },
	{ "el1_abort", FRAME_FAULT },
	{ "el0t_64_sync*", FRAME_FAULT },
	{ "el1h_64_sync*", FRAME_FAULT },
	{ "ret_from_exception", FRAME_FAULT },
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
	char name[128];

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
	snprintf(name, sizeof(name), "%.*s", (int)symbol.name_len, symbol.name);
	for (size_t i = 0; i < array_size(sorts) && function->sort == FRAME_OTHER; i++)
		if (text_glob(sorts[i].glob, name))
			function->sort = (uint8_t)sorts[i].sort;
	return *function;
}

static bool is_same(const struct stack_store *store, const struct stored_stack *one, const uint64_t *frames,
		    const struct stored_stack *other)
{
	return one->nr == other->nr && one->user == other->user && one->tgid == other->tgid &&
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

/* Whether the event itself is in this first frame. The timer's interrupt takes the stack for the tracer timerlat. */
static bool is_event(enum sort sort, bool *timerlat)
{
	*timerlat |= sort == FRAME_TIMERLAT;
	return sort == FRAME_TRACING || sort == FRAME_TIMERLAT || (sort == FRAME_TIMER && *timerlat);
}

uint32_t stack_store_add(struct stack_store *store, const struct context *context, struct stack *stack, int32_t tgid)
{
	struct stored_stack stored = { .user = stack->user, .tgid = tgid, .inner = UINT32_MAX };
	uint64_t frames[STORED_FRAMES], address, hash = UINT64_C(14695981039346656037) ^ (uint32_t)tgid;
	struct stored_function function;
	bool timerlat = false;
	uint32_t *id, faults = 0;

	while (stored.nr < STORED_FRAMES && stack_next(stack, &address)) {
		/* The tracer timerlat writes zeros behind its frames. */
		if (!address && !stack->user)
			continue;
		function = stack->user ? (struct stored_function){ .start = address } :
					 function_of(store, context, address);
		if (!stored.nr && is_event(function.sort, &timerlat))
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
	const char *name;
	struct symbol symbol;
	struct map map;
	int len;

	if (!stack->user && stack_symbol(context->symbols, address, &symbol)) {
		len = snprintf(text, room, "%.*s", (int)symbol.name_len, symbol.name);
	} else if (stack->user && context->maps && maps_find(context->maps, stack->tgid, address, &map) && map.path &&
		   address >= map.start) {
		name = memrchr(map.path, '/', map.path_len);
		name = name ? name + 1 : map.path;
		len = snprintf(text, room, "%.*s+0x%" PRIx64, (int)(map.path + map.path_len - name), name,
			       address - map.start);
	} else {
		len = snprintf(text, room, "0x%" PRIx64, address);
	}
	return (size_t)len < room ? (size_t)len : room - 1;
}

void stack_store_put_function(const struct stack_store *store, const struct context *context, uint32_t stack,
			      struct table *table)
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

void stack_store_put(const struct stack_store *store, const struct context *context, uint32_t stack,
		     struct table *table)
{
	const struct stored_stack *stored = &store->stacks[stack];
	char text[STORED_TEXT];
	size_t len = 0;

	for (uint32_t i = 0; i < stored->nr && len < sizeof(text) - 8; i++) {
		if (i)
			len += (size_t)snprintf(text + len, sizeof(text) - len, " < ");
		len += put_frame(stored, context, store->frames[stored->at + i], text + len, sizeof(text) - len);
	}
	table_cell_mem(table, text, len);
}
