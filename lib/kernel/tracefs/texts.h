/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_TEXTS_H
#define WEFT_KERNEL_TRACEFS_TEXTS_H

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/settings.h"

struct fail;

/*
 * Texts that the kernel makes from its own counters and that cannot be made from events later
 * (kernel/trace/trace_events_hist.c, trace_stack.c, trace_stat.c). They become settings under the names of their files.
 * Reading them changes nothing. A text that this kernel does not have is left out.
 */
enum texts {
	TEXTS_HIST = 1 << 0,  /* events/SYSTEM/EVENT/hist and trigger, of events with a histogram */
	TEXTS_STACK = 1 << 1, /* stack_trace, stack_max_size, stack_trace_filter: of the whole kernel */
	TEXTS_STAT = 1 << 2,  /* trace_stat/NAME: of the whole kernel */
};

/* Reads the histograms of those events of the set that have one. */
int must_check texts_of_hists(struct settings *settings, const struct instance *instance,
			      const struct event_set *events, struct fail *fail);
/* `which`: TEXTS_STACK, TEXTS_STAT or both. */
int must_check texts_of_kernel(struct settings *settings, const struct tracing *tracing, unsigned which,
			       struct fail *fail);

#endif
