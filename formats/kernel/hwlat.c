// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_output.c: trace_hwlat_print(), trace_hwlat_raw(). */
#include "formats/kernel/renderers_internal.h"

#include "formats/kernel/ftrace.h"
#include "lib/ground/base/out.h"

enum { SEQNUM, DURATION, OUTER_DURATION, TV_SEC, TV_NSEC, COUNT, NMI_COUNT, NMI_TOTAL_TS };

static const char *const fields[] = {
	"seqnum", "duration", "outer_duration", "tv_sec", "tv_nsec", "count", "nmi_count", "nmi_total_ts", NULL,
};

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	const struct place *places = binding->places;
	unsigned nmi_count = (unsigned)place_u64(&places[NMI_COUNT], event);
	uint64_t nmi_total = place_u64(&places[NMI_TOTAL_TS], event);

	(void)ftrace;
	out_f(out, "#%-5u inner/outer(us): %4llu/%-5llu ts:%lld.%09lld", (unsigned)place_u64(&places[SEQNUM], event),
	      (unsigned long long)place_u64(&places[DURATION], event),
	      (unsigned long long)place_u64(&places[OUTER_DURATION], event),
	      (long long)place_u64(&places[TV_SEC], event), (long long)place_u64(&places[TV_NSEC], event));
	/* Before 5.8 there is no count. */
	if (places[COUNT].size)
		out_f(out, " count:%d", (int)place_u64(&places[COUNT], event));
	if (nmi_count) {
		/* Kernels with the generic sched_clock() neither measure nor print the time. */
		if (nmi_total)
			out_f(out, " nmi-total:%llu", (unsigned long long)nmi_total);
		out_f(out, " nmi-count:%u", nmi_count);
	}
	out_char(out, '\n');
}

static void raw(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	const struct place *places = binding->places;

	(void)ftrace;
	out_f(out, "%llu %lld %lld %09lld %u\n", (unsigned long long)place_u64(&places[DURATION], event),
	      (long long)place_u64(&places[OUTER_DURATION], event), (long long)place_u64(&places[TV_SEC], event),
	      (long long)place_u64(&places[TV_NSEC], event), (unsigned)place_u64(&places[SEQNUM], event));
}

const struct renderer hwlat_renderer = {
	.format_name = "hwlat",
	.fields = fields,
	.format = format,
	.raw = raw,
};
