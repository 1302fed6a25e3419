/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_KERNEL_PIDS_H
#define WEFT_KERNEL_SETUP_KERNEL_PIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct tracing;
struct undo;

/*
 * Events and the kernel's lists of tasks have the PIDs of the initial PID namespace. In another one (a container) the
 * same task has another PID, and no file there tells the kernel's.
 */

/* Whether this process runs in the initial PID namespace, so that its PIDs are the kernel's. */
bool kernel_pids_are_ours(void);

/* Whether there is a task with this PID. */
bool kernel_pids_is_there(pid_t pid);

/*
 * Finds the kernel's PIDs of `pids`. In another namespace they can only be threads or children of this process: it
 * sends them a signal that they ignore, and an event of a private instance says to which PID the kernel sent it.
 * -EOPNOTSUPP: a task is somebody else's, or the kernel does not say it. -ESRCH: there is no such task. In the initial
 * namespace nothing is asked, and the PIDs may be of no task.
 */
int must_check kernel_pids_find(const struct tracing *tracing, struct undo *undo, const pid_t *pids, size_t nr,
				pid_t *ret, struct fail *fail);

#endif
