// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_output.c: trace_stack_print(), trace_user_stack_print() and seq_print_user_ip(). */
#include "formats/kernel/renderers_internal.h"

#include "formats/kernel/ftrace.h"
#include "formats/kernel/symbol.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/names/maps.h"

enum { CALLER, TGID }; /* TGID: user stacks only */

static const char *const fields[] = { "caller", NULL }, *const user_fields[] = { "caller", "tgid", NULL };

static bool bind_user(struct ftrace *ftrace, struct binding *binding)
{
	(void)ftrace;
	return binding->places[CALLER].field;
}

static bool bind_kernel(struct ftrace *ftrace, struct binding *binding)
{
	binding->data = function_names();
	return bind_user(ftrace, binding);
}

static void format_kernel(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			  struct out *out)
{
	struct stack stack;
	uint64_t ip;

	stack_of_kernel(&binding->places[CALLER], event, &stack);
	stack_add_more(&stack, event);
	out_str(out, "<stack trace>\n");
	while (stack_next(&stack, &ip)) {
		out_mem(out, " => ", 4);
		if (ip == STACK_TRAMPOLINE)
			out_str(out, "[FTRACE TRAMPOLINE]");
		else
			function_print_ip(ftrace, binding, ip, out);
		out_char(out, '\n');
	}
}

/* seq_print_user_ip(): uses the maps of the thread group, because the thread may have ended. */
static void print_user_ip(const struct ftrace *ftrace, int32_t tgid, bool find, uint64_t ip, struct out *out)
{
	const struct context *context = ftrace->context;
	struct map map = { .path = NULL };

	if (find && maps_find(context->maps, tgid, ip, &map) && map.path) {
		out_mem(out, map.path, map.path_len);
		out_str(out, "[+0x");
		out_hex(out, context->abi.long_size == 4 ? (uint32_t)(ip - map.start) : ip - map.start);
		out_char(out, ']');
	}
	if (!map.path || context_option(context, OPTION_SYM_ADDR))
		symbol_print_address(context, ip, out);
}

static void format_user(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			struct out *out)
{
	bool find = context_option(ftrace->context, OPTION_SYM_USEROBJ) && binding->places[TGID].field;
	int32_t tgid = find ? (int32_t)place_u64(&binding->places[TGID], event) : 0;
	struct stack stack;
	uint64_t ip;

	stack_of_user(&binding->places[CALLER], event, &stack);
	out_str(out, "<user stack trace>\n");
	while (stack_next(&stack, &ip)) {
		out_mem(out, " => ", 4);
		print_user_ip(ftrace, tgid, find, ip, out);
		out_char(out, '\n');
	}
}

const struct renderer kernel_stack_renderer = {
	.lines = true,
	.format_name = "kernel_stack",
	.fields = fields,
	.bind = bind_kernel,
	.format = format_kernel,
};

const struct renderer user_stack_renderer = {
	.lines = true,
	.format_name = "user_stack",
	.fields = user_fields,
	.bind = bind_user,
	.format = format_user,
};
