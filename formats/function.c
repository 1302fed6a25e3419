// SPDX-License-Identifier: GPL-2.0-only
/* Mirrors kernel/trace/trace_output.c: trace_fn_trace(). */
#include "formats/function.h"

#include "formats/ftrace.h"
#include "formats/symbol.h"
#include "lib/base/out.h"

enum { IP, PARENT_IP };

static const char *const fields[] = { "ip", "parent_ip", NULL };

static bool bind(struct ftrace *ftrace, struct binding *binding)
{
	(void)ftrace;
	return binding->places[IP].size;
}

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	const struct context *context = ftrace->context;
	uint64_t parent_ip = place_int(&binding->places[PARENT_IP], ftrace, event);

	symbol_print_ip(context, place_int(&binding->places[IP], ftrace, event), out);
	if (parent_ip && context_option(context, OPTION_PRINT_PARENT)) {
		out_mem(out, " <-", 3);
		symbol_print_ip(context, parent_ip, out);
	}
	out_char(out, '\n');
}

const struct renderer function_renderer = {
	.format_name = "function",
	.fields = fields,
	.bind = bind,
	.format = format,
};
