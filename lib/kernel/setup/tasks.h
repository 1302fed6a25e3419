/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_TASKS_H
#define WEFT_KERNEL_SETUP_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;

/*
 * Restricts an instance to these tasks: writes set_event_pid, and with `functions` also set_ftrace_pid. Without
 * `functions` it does not touch set_ftrace_pid, because a kernel that refuses function tracing (lockdown) still traces
 * events. With `follow`, children that these tasks fork from now on are traced too (options event-fork and
 * function-fork).
 */
int must_check kernel_tasks_only(struct instance *instance, const pid_t *pids, size_t nr, bool functions, bool follow,
				 struct fail *fail);

/* The same for tasks that are traced besides the tasks of the lists. */
int must_check kernel_tasks_add(struct instance *instance, const pid_t *pids, size_t nr, bool functions,
				struct fail *fail);

/*
 * Excludes these tasks: writes set_event_notrace_pid, and with `functions` also set_ftrace_notrace_pid. With `keeps`
 * the tasks of these lists stay excluded.
 */
int must_check kernel_tasks_exclude(struct instance *instance, const pid_t *pids, size_t nr, bool functions, bool keeps,
				    struct fail *fail);
/*
 * Removes these tasks from the lists for events and functions that have them; with `notrace` from those of excluded
 * tasks. The kernel has no way to remove a task: the list is replaced by the others, and a child that a listed task
 * forks at that moment is not added to it. *ret_empty names a list of which no task is left, or is NULL.
 */
int must_check kernel_tasks_remove(struct instance *instance, const pid_t *pids, size_t nr, bool notrace,
				   const char **ret_empty, struct fail *fail);
/* Sets only the options event-fork and function-fork, for the children of tasks that are already listed. */
int must_check kernel_tasks_follow(struct instance *instance, bool functions, struct fail *fail);

/*
 * Removes the lists of tasks for events and functions, so that all tasks are traced; with `notrace` the lists of
 * excluded tasks, so that no task is left out.
 */
int must_check kernel_tasks_all(struct instance *instance, bool notrace, struct fail *fail);

/*
 * A list of tasks is either installed or not. With event-fork and function-fork the kernel removes tasks from the lists
 * when they end. A list that has become empty stays installed, and then no task is traced. set_ftrace_pid reads "no
 * pid" if it is not installed, and is empty if the installed list is empty. set_event_pid is empty in both cases, so
 * its state cannot be seen. Opening a list with truncation uninstalls it.
 */
/* Uninstalls all four lists, whatever they contain and whoever installed them. Nothing is journaled. */
int must_check kernel_tasks_uninstall(const struct instance *instance, struct fail *fail);

/*
 * If this list ("set_ftrace_pid" or "set_event_pid") lets no task be traced, returns the reason, worded so that it can
 * follow the name of the list. NULL: tasks are traced, or the state of the list cannot be seen.
 */
const char *kernel_tasks_nobody(const struct instance *instance, const char *file);

#endif
