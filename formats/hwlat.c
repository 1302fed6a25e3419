// SPDX-License-Identifier: GPL-2.0-only
/* Mirrors kernel/trace/trace_output.c: trace_hwlat_print(), trace_hwlat_raw(). */
#include "formats/renderers.h"

#include "formats/ftrace.h"
#include "lib/base/out.h"

enum { SEQNUM, DURATION, OUTER_DURATION, TV_SEC, TV_NSEC, COUNT, NMI_COUNT, NMI_TOTAL_TS };

static const char *const fields[] = {
	"seqnum", "duration", "outer_duration", "tv_sec", "tv_nsec", "count", "nmi_count", "nmi_total_ts", NULL,
};

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	const struct place *places = binding->places;
	unsigned nmi_count = (unsigned)place_int(&places[NMI_COUNT], ftrace, event);
	uint64_t nmi_total = place_int(&places[NMI_TOTAL_TS], ftrace, event);

	out_f(out, "#%-5u inner/outer(us): %4llu/%-5llu ts:%lld.%09lld count:%d",
	      (unsigned)place_int(&places[SEQNUM], ftrace, event),
	      (unsigned long long)place_int(&places[DURATION], ftrace, event),
	      (unsigned long long)place_int(&places[OUTER_DURATION], ftrace, event),
	      (long long)place_int(&places[TV_SEC], ftrace, event),
	      (long long)place_int(&places[TV_NSEC], ftrace, event),
	      (int)place_int(&places[COUNT], ftrace, event));
	if (nmi_count) {
		/* Kernels with the generic sched_clock() neither measure nor print the time. */
		if (nmi_total)
			out_f(out, " nmi-total:%llu", (unsigned long long)nmi_total);
		out_f(out, " nmi-count:%u", nmi_count);
	}
	out_char(out, '\n');
}

static void raw(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		struct out *out)
{
	const struct place *places = binding->places;

	out_f(out, "%llu %lld %lld %09lld %u\n",
	      (unsigned long long)place_int(&places[DURATION], ftrace, event),
	      (long long)place_int(&places[OUTER_DURATION], ftrace, event),
	      (long long)place_int(&places[TV_SEC], ftrace, event),
	      (long long)place_int(&places[TV_NSEC], ftrace, event),
	      (unsigned)place_int(&places[SEQNUM], ftrace, event));
}

const struct renderer hwlat_renderer = {
	.format_name = "hwlat",
	.fields = fields,
	.format = format,
	.raw = raw,
};
