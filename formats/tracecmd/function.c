// SPDX-License-Identifier: LGPL-2.1-or-later
/* The texts of libtraceevent's plugin function: functions indented below their parents, and stacks. */
#include "formats/tracecmd/tracecmd_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/digits.h"
#include "lib/ground/base/memo.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/names/symbols.h"

enum { IP, PARENT_IP, COUNT, TOP, BOTTOM };
enum { CALLER };
enum { INDENT = 3, STACK_MAX = 1024, US_PER_S = 1000000 };

static const char *const fields[] = { "ip", "parent_ip", "count", "top_delta_ts", "bottom_delta_ts", NULL };
static const char *const stack_fields[] = { "caller", NULL };

/* The functions of a CPU that called each other last, outermost first. Entries behind a new one stay. */
struct function_stack {
	uint32_t len;
	struct function_name {
		const char *name;
		uint32_t len;
	} at[STACK_MAX];
};

void tracecmd_time(const struct tracecmd *tracecmd, uint64_t ts, struct out *out)
{
	uint64_t seconds, us;

	out_need(out, TRACECMD_HEAD_MAX);
	if (tracecmd->counts || tracecmd->own.raw_ts) {
		out->at = digits_put_right(out->at, ts, 12);
		return;
	}
	*out->at++ = ' ';
	if (tracecmd->options.nanoseconds) {
		out->at = digits_put_seconds(out->at, ts, 5);
		return;
	}
	us = (ts + 500) / 1000;
	seconds = us / US_PER_S;
	out->at = digits_put_right(out->at, seconds, 5);
	*out->at++ = '.';
	out->at = digits_put_6(out->at, (uint32_t)(us - seconds * US_PER_S));
}

void tracecmd_stacks_release(struct tracecmd *tracecmd)
{
	uint64_t cpu;
	size_t at = 0;

	for (void **stack; (stack = u64_map_next(&tracecmd->stacks, &at, &cpu));)
		free(*stack);
	u64_map_release(&tracecmd->stacks);
}

static bool put_symbol(const struct tracecmd *tracecmd, uint64_t address, bool offset, struct out *out)
{
	struct symbol symbol;

	if (!symbols_find(tracecmd->context->symbols, address, &symbol))
		return false;
	out_mem(out, symbol.name, symbol.name_len);
	if (offset)
		out_f(out, "+0x%x ", (unsigned)(address - symbol.address));
	return true;
}

bool tracecmd_function(const struct tracecmd *tracecmd, uint64_t address, struct out *out)
{
	size_t start = out_len(out);

	if (memo_print(tracecmd->names, address, out))
		return true;
	if (!put_symbol(tracecmd, address, tracecmd->own.offset, out))
		return false;
	if (!out->failed && tracecmd->names)
		memo_add(tracecmd->names, address, out->start + start, out_len(out) - start);
	return true;
}

bool tracecmd_name(const struct tracecmd *tracecmd, uint64_t address, struct out *out)
{
	return tracecmd->own.offset ? put_symbol(tracecmd, address, false, out) :
				      tracecmd_function(tracecmd, address, out);
}

static void stack_set(struct function_stack *stack, uint32_t at, const struct symbol *symbol)
{
	if (!symbol || at >= STACK_MAX)
		return;
	stack->at[at] = (struct function_name){ symbol->name, symbol->name_len };
	if (at == stack->len)
		stack->len++;
}

/* The depth below which a function is printed: that of its parent, by name, among the last calls of the CPU. */
static uint32_t depth_of(struct function_stack *stack, const struct symbol *parent, const struct symbol *child)
{
	for (uint32_t i = 0; i < stack->len; i++) {
		if (stack->at[i].len != parent->name_len || memcmp(stack->at[i].name, parent->name, parent->name_len))
			continue;
		stack_set(stack, i + 1, child);
		return i;
	}
	stack_set(stack, 0, parent);
	stack_set(stack, 1, child);
	return 0;
}

static bool settle(struct tracecmd *tracecmd, const struct tracecmd_binding *binding, struct events *events,
		   struct event *event)
{
	struct symbol child, parent;
	struct function_stack **stack;
	bool found;

	(void)events;
	if (tracecmd->own.no_indent)
		return true;
	if (!symbols_find(tracecmd->context->symbols, place_u64(&binding->places[PARENT_IP], event), &parent))
		return true;
	stack = u64_map_get(&tracecmd->stacks, event->cpu);
	if (stack && !*stack)
		*stack = calloc(1, sizeof(**stack));
	if (!stack || !*stack) {
		context_lacks_memory(tracecmd->context);
		return true;
	}
	found = symbols_find(tracecmd->context->symbols, place_u64(&binding->places[IP], event), &child);
	tracecmd_note(event)->value = depth_of(*stack, &parent, found ? &child : NULL);
	return true;
}

static void put_function(const struct tracecmd *tracecmd, uint64_t address, struct out *out)
{
	if (tracecmd_function(tracecmd, address, out))
		return;
	out_mem(out, "0x", 2);
	out_hex(out, address);
}

static bool text(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding, const struct event *event,
		 struct out *out)
{
	out_fill(out, ' ', (size_t)tracecmd_note_of(event)->value * INDENT);
	put_function(tracecmd, place_u64(&binding->places[IP], event), out);
	if (tracecmd->own.parent) {
		out_str(out, " <-- ");
		put_function(tracecmd, place_u64(&binding->places[PARENT_IP], event), out);
	}
	return true;
}

static bool text_repeats(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
			 const struct event *event, struct out *out)
{
	uint64_t delta = place_u64(&binding->places[TOP], event) << 32 | place_u64(&binding->places[BOTTOM], event);

	text(tracecmd, binding, event, out);
	out_str(out, " (count: ");
	out_u64(out, place_u64(&binding->places[COUNT], event));
	out_str(out, "  last_ts: ");
	tracecmd_time(tracecmd, event->ts - delta, out);
	out_char(out, ')');
	return true;
}

static bool text_stack(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
		       const struct event *event, struct out *out)
{
	struct stack stack;
	uint64_t ip;

	if (!binding->places[CALLER].field) {
		out_str(out, "<CANT FIND FIELD caller>");
		return true;
	}
	stack_of_kernel(&binding->places[CALLER], event, &stack);
	out_str(out, "<stack trace >\n");
	while (stack_next(&stack, &ip) && (uint32_t)ip != UINT32_MAX) {
		out_mem(out, "=> ", 3);
		if (tracecmd_function(tracecmd, ip, out)) {
			out_mem(out, " (", 2);
			out_hex(out, ip);
			out_mem(out, ")\n", 2);
		} else {
			out_hex(out, ip);
			out_char(out, '\n');
		}
	}
	return true;
}

/* clang-format off */
const struct tracecmd_text tracecmd_function_texts[] = {
	{ "ftrace", "function", .symbols = true, .fields = fields, .text = text, .settle = settle },
	{ "ftrace", "func_repeats", .symbols = true, .fields = fields, .text = text_repeats, .settle = settle },
	{ "ftrace", "kernel_stack", .symbols = true, .lines = true, .fields = stack_fields, .text = text_stack },
	{ 0 },
};
/* clang-format on */
