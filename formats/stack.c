// SPDX-License-Identifier: GPL-2.0-only
/* Mirrors kernel/trace/trace_output.c: trace_stack_print() and trace_user_stack_print(). */
#include "formats/stack.h"

#include "formats/ftrace.h"
#include "formats/function.h"
#include "formats/symbol.h"
#include "lib/base/out.h"

enum {
	CALLER,
	USER_ENTRIES = 8,               /* FTRACE_STACK_ENTRIES */
	TRAMPOLINE = 0x7fffffff,        /* FTRACE_TRAMPOLINE_MARKER: 6.12 and later */
};

static const char *const fields[] = { "caller", NULL };

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

/* The addresses of a stack, from its first to the end of the record: the format's array size is that of old kernels. */
struct frames {
	struct bytes left;
	uint8_t size;
	uint64_t end;                   /* all ones */
};

static struct frames frames_of(const struct ftrace *ftrace, const struct binding *binding, const struct event *event)
{
	const struct context *context = ftrace->context;
	uint32_t offset = binding->places[CALLER].field->offset;
	uint32_t at = offset < event->len ? offset : event->len;

	return (struct frames){
		.left = bytes_of(event->data + at, event->len - at, context->abi.swap),
		.size = context->abi.long_size == 4 ? 4 : 8,
		.end = context->abi.long_size == 4 ? UINT32_MAX : UINT64_MAX,
	};
}

static bool frames_next(struct frames *frames, uint64_t *ret)
{
	uint32_t half;

	if (frames->size == 8)
		return bytes_u64(&frames->left, ret);
	if (!bytes_u32(&frames->left, &half))
		return false;
	*ret = half;
	return true;
}

static void format_kernel(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			  struct out *out)
{
	struct frames frames = frames_of(ftrace, binding, event);
	uint64_t ip;

	out_str(out, "<stack trace>\n");
	while (frames_next(&frames, &ip) && ip != frames.end) {
		out_mem(out, " => ", 4);
		if (ip == TRAMPOLINE)
			out_str(out, "[FTRACE TRAMPOLINE]");
		else
			function_print_ip(ftrace, binding, ip, out);
		out_char(out, '\n');
	}
}

static void format_user(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
			struct out *out)
{
	struct frames frames = frames_of(ftrace, binding, event);
	uint64_t ip;

	out_str(out, "<user stack trace>\n");
	for (unsigned i = 0; i < USER_ENTRIES && frames_next(&frames, &ip) && ip; i++) {
		out_mem(out, " => ", 4);
		symbol_print_address(ftrace->context, ip, out);
		out_char(out, '\n');
	}
}

const struct renderer kernel_stack_renderer = {
	.format_name = "kernel_stack",
	.fields = fields,
	.bind = bind_kernel,
	.format = format_kernel,
};

const struct renderer user_stack_renderer = {
	.format_name = "user_stack",
	.fields = fields,
	.bind = bind_user,
	.format = format_user,
};
