// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Mirrors kernel/trace/trace_output.c: trace_osnoise_print(), trace_osnoise_raw(), and trace_osnoise.c:
 * print_osnoise_headers().
 */
#include "formats/kernel/renderers_internal.h"

#include "formats/kernel/ftrace.h"
#include "lib/ground/base/out.h"

enum { RUNTIME, NOISE, MAX_SAMPLE, HW_COUNT, NMI_COUNT, IRQ_COUNT, SOFTIRQ_COUNT, THREAD_COUNT };

static const char *const fields[] = {
	"runtime", "noise", "max_sample", "hw_count", "nmi_count", "irq_count", "softirq_count", "thread_count", NULL,
};

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	const struct place *places = binding->places;
	uint64_t runtime = place_u64(&places[RUNTIME], event);
	uint64_t noise = place_u64(&places[NOISE], event);
	(void)ftrace;
	/* do_div() divides by 32 bits. A runtime of zero is never recorded. */
	uint32_t base = (uint32_t)runtime;
	uint64_t ratio = base ? (runtime - noise) * 10000000 / base : 0;

	out_u64(out, runtime);
	out_char(out, ' ');
	out_u64_pad(out, noise, 10, ' ');
	out_char(out, ' ');
	out_u64_pad(out, ratio / 100000, 3, ' ');
	out_char(out, '.');
	out_u64_pad(out, ratio % 100000, 5, '0');
	out_char(out, ' ');
	out_u64_pad(out, place_u64(&places[MAX_SAMPLE], event), 7, ' ');
	for (unsigned i = HW_COUNT; i <= THREAD_COUNT; i++) {
		out_char(out, ' ');
		out_u64_pad(out, (uint32_t)place_u64(&places[i], event), 6, ' ');
	}
	out_char(out, '\n');
}

static void raw(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	const struct place *places = binding->places;

	(void)ftrace;
	out_s64(out, (int64_t)place_u64(&places[RUNTIME], event));
	out_char(out, ' ');
	out_u64(out, place_u64(&places[NOISE], event));
	out_char(out, ' ');
	out_u64(out, place_u64(&places[MAX_SAMPLE], event));
	for (unsigned i = HW_COUNT; i <= THREAD_COUNT; i++) {
		out_char(out, ' ');
		out_u64(out, (uint32_t)place_u64(&places[i], event));
	}
	out_char(out, '\n');
}

/* The doubled percent sign is the kernel's. */
static const char legend_rt[] =
	"#                                _-------=> irqs-off\n"
	"#                               / _------=> need-resched\n"
	"#                              | / _-----=> need-resched-lazy\n"
	"#                              || / _----=> hardirq/softirq\n"
	"#                              ||| / _---=> preempt-depth\n"
	"#                              |||| / _--=> preempt-lazy-depth\n"
	"#                              ||||| / _-=> migrate-disable\n"
	"#                              |||||| /                                               MAX\n"
	"#                              ||||| /                        "
	"                     SINGLE      Interference counters:\n"
	"#                              |||||||               RUNTIME  "
	"    NOISE  %% OF CPU  NOISE    +-----------------------------+\n"
	"#           TASK-PID      CPU# |||||||   TIMESTAMP    IN US   "
	"    IN US  AVAILABLE  IN US     HW    NMI    IRQ   SIRQ THREAD\n"
	"#              | |         |   |||||||      |           |     "
	"        |    |            |      |      |      |      |      |\n";
static const char legend[] = "#                                _-----=> irqs-off\n"
			     "#                               / _----=> need-resched\n"
			     "#                              | / _---=> hardirq/softirq\n"
			     "#                              || / _--=> preempt-depth\n"
			     "#                              ||| / _-=> migrate-disable                         MAX\n"
			     "#                              |||| /     delay               "
			     "                    SINGLE      Interference counters:\n"
			     "#                              |||||               RUNTIME    "
			     "  NOISE  %% OF CPU  NOISE    +-----------------------------+\n"
			     "#           TASK-PID      CPU# |||||   TIMESTAMP    IN US     "
			     "  IN US  AVAILABLE  IN US     HW    NMI    IRQ   SIRQ THREAD\n"
			     "#              | |         |   |||||      |           |       "
			     "      |    |            |      |      |      |      |      |\n";

const struct renderer osnoise_renderer = {
	.format_name = "osnoise",
	.fields = fields,
	.format = format,
	.raw = raw,
};

const struct tracer osnoise_tracer = { .name = "osnoise", .legend = legend, .legend_rt = legend_rt };
