// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_output.c: trace_func_repeats_print(), trace_func_repeats_raw(). */
#include "formats/kernel/renderers_internal.h"

#include "formats/kernel/ftrace.h"
#include "formats/kernel/symbol.h"
#include "lib/ground/base/out.h"

enum { IP, PARENT_IP, COUNT, TOP_DELTA, BOTTOM_DELTA };

static const char *const fields[] = { "ip", "parent_ip", "count", "top_delta_ts", "bottom_delta_ts", NULL };

static uint64_t last_delta(const struct place *places, const struct event *event)
{
	return place_u64(&places[TOP_DELTA], event) << 32 | place_u64(&places[BOTTOM_DELTA], event);
}

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	const struct place *places = binding->places;
	uint64_t parent_ip = place_u64(&places[PARENT_IP], event);

	symbol_print_ip(ftrace->context, place_u64(&places[IP], event), out);
	if (parent_ip && context_option(ftrace->context, OPTION_PRINT_PARENT)) {
		out_mem(out, " <-", 3);
		symbol_print_ip(ftrace->context, parent_ip, out);
	}
	out_str(out, " (repeats: ");
	out_u64(out, place_u64(&places[COUNT], event));
	out_str(out, ", last_ts:");
	columns_time(&ftrace->columns, event->ts - last_delta(places, event), out);
	out_mem(out, ")\n", 2);
}

static void raw(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	const struct place *places = binding->places;

	(void)ftrace;
	/* The addresses are in decimal. */
	out_f(out, "%llu %llu %u %llu\n", (unsigned long long)place_u64(&places[IP], event),
	      (unsigned long long)place_u64(&places[PARENT_IP], event), (unsigned)place_u64(&places[COUNT], event),
	      (unsigned long long)last_delta(places, event));
}

const struct renderer func_repeats_renderer = {
	.format_name = "func_repeats",
	.fields = fields,
	.format = format,
	.raw = raw,
};
