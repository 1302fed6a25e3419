/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_MEASURE_SNAPSHOT_H
#define WEFT_KERNEL_MEASURE_SNAPSHOT_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/event_select.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;
struct late;

/*
 * The snapshot of an instance: a second buffer, with which the kernel swaps the first one (CONFIG_TRACER_SNAPSHOT;
 * tracing_snapshot_write() of kernel/trace/trace.c). `cpu` -1 means all CPUs. Without the file, every function returns
 * -EOPNOTSUPP and names the kernel's option. With a latency tracer, which keeps its longest case in the snapshot, every
 * function returns -EBUSY.
 * Functions that allocate the snapshot journal that first, so that undo frees it again.
 */
enum { SNAPSHOT_ALL_CPUS = -1 };

/* Returns 1 if it is allocated, 0 if not. */
int snapshot_allocated(const struct instance *instance, struct fail *fail);

int must_check snapshot_take(struct instance *instance, int cpu, struct fail *fail);
/* Empties it, and leaves it allocated. */
int must_check snapshot_clear(const struct instance *instance, int cpu, struct fail *fail);
/*
 * Returns -EBUSY if an event has a snapshot trigger, which the message names: without a snapshot the trigger would stop
 * tracing.
 */
int must_check snapshot_free(const struct instance *instance, struct fail *fail);

/* Opens the file with its text. Returns -ENODATA if the snapshot is not allocated. */
int must_check snapshot_open(const struct instance *instance, int cpu, int *ret_fd, struct fail *fail);

/*
 * Sets a trigger on these events that takes a snapshot: at most `count` times (0: no limit), and only if `filter` is
 * true (NULL: always). `late` (NULL: it is set at once): it is only tried, and kept there to be armed.
 */
int must_check snapshot_on(struct instance *instance, const struct event_set *events, unsigned long count,
			   const char *filter, struct late *late, struct fail *fail);

#endif
