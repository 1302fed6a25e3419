/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_BUFFER_RING_WATCH_H
#define WEFT_KERNEL_BUFFER_RING_WATCH_H

#include <stdint.h>

#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/tracefs/instance.h"

/*
 * Counts the events of one CPU's buffer from a moment on, although other programs may clear the buffer. A clear sets
 * all counters to zero, and no reader is told. A write to `trace`, `trace_clock`, `current_tracer` or the size clears
 * the buffer; so does a function tracer when tracing is turned on again, and the kernel when a module or a probe is
 * removed whose events were recorded. A clear is noticed when counters that only grow have become smaller. A caller
 * that looks often, above all before and after it takes pages, misses almost none. Invariant: a clear is never reported
 * if there was none. Not supported: knowing what the buffer held when it was cleared; a clear before the first page was
 * taken, unless the buffer held much.
 */
struct ring_watch {
	int fd;                        /* per_cpu/cpuN/stats; -1: the file does not exist */
	struct ring_buffer_stats base; /* the counters from which to count; zero after a clear */
	struct ring_buffer_stats last;
	uint64_t taken;                            /* events taken before the last look */
	uint64_t overrun, commit_overrun, dropped; /* the counts between `base` and the last clear */
	unsigned cleared;
};
#define RING_WATCH_INIT  \
	{                \
		.fd = -1 \
	}

/* `base` has the counters at the moment from which to count. If the file does not exist, the watch counts nothing. */
struct ring_watch ring_watch_open(const struct instance *instance, uint32_t cpu, const struct ring_buffer_stats *base);
void ring_watch_close(struct ring_watch *watch);

/*
 * Reads the counters. `taken`: the number of events taken out of the buffer since `base`, or 0 if the caller does not
 * count them.
 */
void ring_watch_look(struct ring_watch *watch, uint64_t taken);
/* The same with counters that the caller has read. */
void ring_watch_add(struct ring_watch *watch, const struct ring_buffer_stats *stats, uint64_t taken);

/*
 * The counts since `base`, with `stats` as the present counters. ring_watch_lost() has the commit overruns,
 * ring_watch_overrun() does not.
 */
uint64_t ring_watch_overrun(const struct ring_watch *watch, const struct ring_buffer_stats *stats);
uint64_t ring_watch_dropped(const struct ring_watch *watch, const struct ring_buffer_stats *stats);
uint64_t ring_watch_lost(const struct ring_watch *watch, const struct ring_buffer_stats *stats);

#endif
