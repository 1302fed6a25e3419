/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BUFFER_RING_WATCH_H
#define WEFT_BUFFER_RING_WATCH_H

#include "lib/buffer/ring_buffer.h"
#include "lib/tracefs/instance.h"

#include <stdint.h>

/*
 * What the buffer of one CPU has counted since a moment, although others may clear it: that sets all of its counts to zero and tells
 * no reader. Whoever writes to `trace`, `trace_clock`, `current_tracer` or the size does so, a tracer of functions when tracing goes
 * on, and the kernel when a module or a probe goes whose events are recorded. Counts that only grow have become smaller then: who looks
 * often, above all before and after pages are taken, misses next to none.
 * Invariant: a buffer that nobody clears is never said to be cleared.
 * Not supported: knowing what the buffer held when it was cleared; a clear before the first page was taken, unless it held much.
 */
struct ring_watch {
	int fd;                        /* per_cpu/cpuN/stats; -1: there is nothing to look at */
	struct ring_buffer_stats base; /* what was counted before */
	struct ring_buffer_stats last;
	uint64_t taken;                            /* at the last look */
	uint64_t overrun, commit_overrun, dropped; /* since `base` until it was last cleared */
	unsigned cleared;
};
#define RING_WATCH_INIT  \
	{                \
		.fd = -1 \
	}

/* From `base` on, the counts of a moment that is over. Without the file it never sees anything. */
struct ring_watch ring_watch_open(const struct instance *instance, uint32_t cpu, const struct ring_buffer_stats *base);
void ring_watch_close(struct ring_watch *watch);

/* `taken`: events that were taken out of the buffer since `base`, as far as somebody counts them; 0 where nobody does. */
void ring_watch_look(struct ring_watch *watch, uint64_t taken);
/* The same with counts that were read already. */
void ring_watch_add(struct ring_watch *watch, const struct ring_buffer_stats *stats, uint64_t taken);

/* Since `base`, with `stats` as the last counts. Commit overruns are losses of `all`, and no overruns. */
uint64_t ring_watch_overrun(const struct ring_watch *watch, const struct ring_buffer_stats *stats);
uint64_t ring_watch_dropped(const struct ring_watch *watch, const struct ring_buffer_stats *stats);
uint64_t ring_watch_lost(const struct ring_watch *watch, const struct ring_buffer_stats *stats);

#endif
