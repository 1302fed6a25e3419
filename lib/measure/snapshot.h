/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_MEASURE_SNAPSHOT_H
#define WEFT_MEASURE_SNAPSHOT_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/event_select.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>

struct fail;

/*
 * The snapshot of an instance: a second buffer, with which the kernel swaps the first one (CONFIG_TRACER_SNAPSHOT;
 * tracing_snapshot_write() of kernel/trace/trace.c). `cpu` -1: of all CPUs. Everything fails with -EOPNOTSUPP and the
 * kernel's option where there is no such file, and with -EBUSY under a latency tracer, which keeps its worst case
 * there.
 * Functions that allocate the snapshot journal that first, so that undo frees it again.
 */
enum { SNAPSHOT_ALL_CPUS = -1 };

/* 1: allocated, 0: not. */
int snapshot_allocated(const struct instance *instance, struct fail *fail);

int must_check snapshot_take(struct instance *instance, int cpu, struct fail *fail);
/* Empties it, and leaves it allocated. */
int must_check snapshot_clear(const struct instance *instance, int cpu, struct fail *fail);
/*
 * -EBUSY where an event has a snapshot trigger, and the text names it: without a snapshot the trigger would stop
 * tracing.
 */
int must_check snapshot_free(const struct instance *instance, struct fail *fail);

/* The file with its text; -ENODATA where it is not allocated. */
int must_check snapshot_open(const struct instance *instance, int cpu, int *ret_fd, struct fail *fail);

/*
 * Sets a trigger on these events that takes a snapshot: at most `count` times (0: always), only if `filter` (NULL:
 * always) is true.
 */
int must_check snapshot_on(struct instance *instance, const struct event_set *events, unsigned long count,
			   const char *filter, struct fail *fail);

#endif
