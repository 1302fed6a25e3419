/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MADE_EXCERPT_H
#define WEFT_MADE_EXCERPT_H

#include "lib/base/cleanup.h"
#include "lib/made/recast.h"

#include <stddef.h>
#include <stdint.h>

struct event;
struct fail;
struct trace;

/*
 * An excerpt is a trace.dat with some of the events of a trace, and with the trace's texts, settings, byte order and
 * time stamps. A text about the whole trace is left out (as for a latency tracer), or is made for the excerpt
 * (per_cpu/cpuN/stats). Time stamps of a TSC are ns in the excerpt. The events of each CPU are added in their order.
 * Borrows the trace.
 */
struct excerpt;

int must_check excerpt_new(struct trace *trace, const struct recast_options *form, struct excerpt **ret,
			   struct fail *fail);
void excerpt_free(struct excerpt *excerpt);

/*
 * Adds an event of a buffer of the trace. `lost`: the number of events of its CPU lost just before it, or PAGE_LOST_*.
 */
int must_check excerpt_add(struct excerpt *excerpt, size_t buffer, const struct event *event, int64_t lost,
			   struct fail *fail);

/* Events added so far, and the bytes of their pages. */
uint64_t excerpt_count(const struct excerpt *excerpt);
uint64_t excerpt_size(const struct excerpt *excerpt);

/* Writes the file. Afterwards the excerpt can only be freed. */
int must_check excerpt_write(struct excerpt *excerpt, int fd, uint64_t *ret_size, struct fail *fail);

#endif
