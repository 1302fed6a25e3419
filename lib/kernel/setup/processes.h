/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_PROCESSES_H
#define WEFT_KERNEL_SETUP_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/follow/who.h"

struct fail;
struct instance;

/* A number of a task's /proc/PID/status, such as "Tgid" or "Threads". 0: there is none, or no such task. */
size_t process_status_number(pid_t pid, const char *name);

/*
 * Processes, as users mean them: all threads of a program that runs. The kernel's lists of tasks have the threads
 * (set_event_pid, set_ftrace_pid).
 */
struct pid_list {
	pid_t *pids; /* owned, as `has`; pid_list_release() */
	size_t nr;
	uint8_t *has; /* a bit for each PID that there can be; NULL: none is in the list */
};

bool must_check pid_list_add(struct pid_list *list, pid_t pid);
bool pid_list_has(const struct pid_list *list, pid_t pid);
void pid_list_release(struct pid_list *list);

/*
 * Adds the process of `word`: a number is its PID; other words are a glob of the names of programs, of which all that
 * run now are added, except for this process. A program is called as its file, or as its first thread. -ESRCH: there is
 * none, or the number is that of another thread of a process; the error says the process, or names that are near.
 */
int must_check processes_find(const char *word, struct pid_list *into, struct fail *fail);

/*
 * Control groups, as users mean them: services, containers, pods. -ESRCH: none that this word means has a task now; the
 * error has names that are near.
 */
int must_check groups_find(enum who_part part, const char *word, struct fail *fail);

/* Whom a user wants: all are borrowed. */
struct task_choice {
	const struct pid_list *processes;
	const struct who_want *groups; /* control groups, by what their paths say */
	size_t nr_groups;
	const struct pid_list *more; /* single tasks */
};

/*
 * Restricts an instance to all threads of these processes, to all tasks in these control groups, and to the `more`
 * tasks, as kernel_tasks_only() does; with `keeps` the tasks of the kernel's lists stay, too. What these tasks fork
 * from now on is traced as well, processes included: the kernel cannot follow threads alone.
 *
 * It is complete: the option event-fork comes first, then the list, and then the threads are looked at again until
 * all of them are in the kernel's list. A thread that begins later has a parent there. A write of the list loses what
 * a fork adds to it at that moment (trace_pid_write() of kernel/trace/trace_pid.c copies the list), so only a look
 * after which nothing is written ends it. -ESRCH: a process has ended. -EBUSY: threads come faster than they can be
 * listed. -EOPNOTSUPP: this is another PID namespace than the kernel's.
 */
int must_check processes_only(struct instance *instance, const struct task_choice *choice, bool functions, bool keeps,
			      struct fail *fail);

/*
 * Lists what has come into the control groups since, other than by a fork, which the kernel follows itself: `late` is
 * called for each task that is traced only from now on. Call it often.
 */
int must_check groups_follow(struct instance *instance, const struct task_choice *choice, bool functions,
			     void (*late)(pid_t pid, const char *name, void *arg), void *arg, struct fail *fail);

#endif
