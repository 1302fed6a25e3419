/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_PROCESS_MAPS_H
#define WEFT_KERNEL_TRACEFS_PROCESS_MAPS_H

#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/settings.h"

struct fail;

/*
 * /proc/PID/maps of living processes, as settings "proc/PID/maps": the option sym-userobj needs them to name the file
 * of an address. A process that has ended, has no maps (a kernel thread) or may not be read is left out. Limits:
 * PROCESS_MAPS_NR processes and PROCESS_MAPS_SIZE bytes of each. A newer text replaces an older one.
 */
enum { PROCESS_MAPS_NR = 256, PROCESS_MAPS_SIZE = 1 << 18 };

/*
 * Puts the maps of a process, unless it still runs weft's own program (between fork and exec). 1: the text is new or
 * has changed.
 */
int must_check process_maps_put(struct settings *settings, pid_t pid, struct fail *fail);

/*
 * Puts the maps of a process and of its descendants that have a higher PID. /proc/PID/task/TID/children would list the
 * children, but few kernels have it. 1: a text is new or has changed.
 */
int must_check process_maps_put_tree(struct settings *settings, pid_t pid, struct fail *fail);

/* Puts the maps of living processes of which saved_cmdlines names a task: the trace may contain their events. */
int must_check process_maps_put_known(struct settings *settings, const struct tracing *tracing, struct fail *fail);

#endif
