/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_CLOCK_CLOCKS_H
#define WEFT_MEANING_CLOCK_CLOCKS_H

#include <stdbool.h>
#include <time.h>

enum clock_counts { CLOCK_COUNTS_NS, CLOCK_COUNTS_CYCLES, CLOCK_COUNTS_JIFFIES, CLOCK_COUNTS_EVENTS };

/* A trace clock of the kernel: trace_clocks[] of kernel/trace/trace.c, and ARCH_TRACE_CLOCKS of arch/. */
struct clock_kind {
	const char *name;
	enum clock_counts counts; /* without in_ns there: not ns */
	bool is_read;             /* programs read it, too: as `id` */
	clockid_t id;
	bool even;         /* it runs as evenly as the time of day does, with its corrections */
	bool runs_on;      /* also while the machine is suspended */
	unsigned perfetto; /* enum BuiltinClock of Perfetto; 0: it has none */
};

/* Returns the clock of this name. One that is not known counts ns, and nothing else is known of it. */
const struct clock_kind *clock_kind(const char *name);
/* Returns the name of the clock that programs read as `id`, or NULL. */
const char *clock_read_as(clockid_t id);

#endif
