/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_SETUP_TASKS_H
#define WEFT_SETUP_TASKS_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

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

/* Empties the lists of tasks, of events and of functions: all are traced, or none is left out. */
int must_check kernel_tasks_all(struct instance *instance, bool notrace, struct fail *fail);

/*
 * A list is installed, or it is not. While event-fork and function-fork are on the kernel takes tasks that end out of the lists; one that has
 * become empty stays installed, and traces nobody. set_ftrace_pid reads as "no pid" when it is not installed, and as '' when it is empty;
 * set_event_pid reads as '' both times: nothing tells from outside. Opening a list with truncation uninstalls it.
 */
/* All four, whatever they read as, and whoever has installed them: nothing is journaled. */
int must_check kernel_tasks_uninstall(const struct instance *instance, struct fail *fail);

/* Why this list, "set_ftrace_pid" or "set_event_pid", traces nobody, in words that go behind its name; NULL: it does, or it cannot be seen. */
const char *kernel_tasks_nobody(const struct instance *instance, const char *file);

#endif
