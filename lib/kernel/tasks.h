/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_KERNEL_TASKS_H
#define WEFT_KERNEL_TASKS_H

#include "lib/base/cleanup.h"
#include "lib/kernel/instance.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fail;

/*
 * Restricts an instance to these tasks: set_event_pid, and with `functions` set_ftrace_pid too. Without `functions`
 * set_ftrace_pid is not touched: kernels that refuse it (lockdown of function tracing) still trace events.
 * `follow` adds the children that they fork from now on (options event-fork and function-fork).
 */
int must_check kernel_tasks_only(struct instance *instance, const pid_t *pids, size_t nr, bool functions, bool follow,
				 struct fail *fail);

/* Keeps these tasks out: set_event_notrace_pid, and with `functions` set_ftrace_notrace_pid. Adds to those that are. */
int must_check kernel_tasks_exclude(struct instance *instance, const pid_t *pids, size_t nr, bool functions,
				    struct fail *fail);
/* Only the options: children of the tasks that are listed already. */
int must_check kernel_tasks_follow(struct instance *instance, bool functions, struct fail *fail);

/* Adds one task to those. */
int must_check kernel_tasks_add(struct instance *instance, pid_t pid, bool functions, struct fail *fail);

/* Empties the lists of tasks, of events and of functions: all are traced, or none is left out. */
int must_check kernel_tasks_all(struct instance *instance, bool notrace, struct fail *fail);

#endif
