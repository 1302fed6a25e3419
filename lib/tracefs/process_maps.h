/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_PROCESS_MAPS_H
#define WEFT_TRACEFS_PROCESS_MAPS_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/settings.h"

#include <sys/types.h>

struct fail;

/*
 * /proc/PID/maps of living processes, as settings "proc/PID/maps": what the option sym-userobj needs to name the file of an
 * address. A process that is gone, that has no maps (a kernel thread), or that may not be looked at is left out.
 * Bounded: PROCESS_MAPS_NR processes, PROCESS_MAPS_SIZE bytes of each; a text that is there already is replaced by a newer one.
 */
enum { PROCESS_MAPS_NR = 256, PROCESS_MAPS_SIZE = 1 << 18 };

/* Of a process that runs another program than we do: between fork and exec it has nothing to tell. 1: it was put, or is new. */
int must_check process_maps_put(struct settings *settings, pid_t pid, struct fail *fail);

/*
 * Of a process and of all that descend from it and have a higher number: /proc/PID/task/TID/children would tell without
 * looking at others, but few kernels have it. 1: some were new, or changed.
 */
int must_check process_maps_put_tree(struct settings *settings, pid_t pid, struct fail *fail);

/* Of those that live and have a task in saved_cmdlines: the trace may be about them. */
int must_check process_maps_put_known(struct settings *settings, const struct tracing *tracing, struct fail *fail);

#endif
