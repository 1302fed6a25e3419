// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mirrors kernel/trace/trace_output.c: trace_timerlat_print(), trace_timerlat_raw(), and trace_osnoise.c:
 * print_timerlat_headers().
 */
#include "formats/kernel/renderers_internal.h"

#include "formats/kernel/ftrace.h"
#include "lib/ground/base/out.h"

enum { SEQNUM, CONTEXT, TIMER_LATENCY };

static const char *const fields[] = { "seqnum", "context", "timer_latency", NULL };

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	static const char *const contexts[] = { "irq", "thread", "user-ret" };
	uint64_t context = place_u64(&binding->places[CONTEXT], event);

	(void)ftrace;
	out_f(out, "#%-5u context %6s timer_latency %9llu ns\n", (unsigned)place_u64(&binding->places[SEQNUM], event),
	      contexts[context < array_size(contexts) ? context : 1],
	      (unsigned long long)place_u64(&binding->places[TIMER_LATENCY], event));
}

static void raw(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	const struct place *places = binding->places;

	(void)ftrace;
	out_f(out, "%u %d %llu\n", (unsigned)place_u64(&places[SEQNUM], event), (int)place_u64(&places[CONTEXT], event),
	      (unsigned long long)place_u64(&places[TIMER_LATENCY], event));
}

static const char legend_rt[] =
	"#                                _-------=> irqs-off\n"
	"#                               / _------=> need-resched\n"
	"#                              | / _-----=> need-resched-lazy\n"
	"#                              || / _----=> hardirq/softirq\n"
	"#                              ||| / _---=> preempt-depth\n"
	"#                              |||| / _--=> preempt-lazy-depth\n"
	"#                              ||||| / _-=> migrate-disable\n"
	"#                              |||||| /\n"
	"#                              |||||||             ACTIVATION\n"
	"#           TASK-PID      CPU# |||||||   TIMESTAMP    ID            CONTEXT                LATENCY\n"
	"#              | |         |   |||||||      |         |                  |                       |\n";
static const char legend[] =
	"#                                _-----=> irqs-off\n"
	"#                               / _----=> need-resched\n"
	"#                              | / _---=> hardirq/softirq\n"
	"#                              || / _--=> preempt-depth\n"
	"#                              ||| / _-=> migrate-disable\n"
	"#                              |||| /     delay\n"
	"#                              |||||            ACTIVATION\n"
	"#           TASK-PID      CPU# |||||   TIMESTAMP   ID            CONTEXT                 LATENCY\n"
	"#              | |         |   |||||      |         |                  |                       |\n";

const struct renderer timerlat_renderer = {
	.format_name = "timerlat",
	.fields = fields,
	.format = format,
	.raw = raw,
};

const struct tracer timerlat_tracer = { .name = "timerlat", .legend = legend, .legend_rt = legend_rt };
