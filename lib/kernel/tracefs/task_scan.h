/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_TASK_SCAN_H
#define WEFT_KERNEL_TRACEFS_TASK_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;

/*
 * All tasks and control groups that live now, from /proc and the cgroup file system, as the lines of the settings
 * weft/tasks and weft/cgroups (weft-dat(5)). Readers learn from them which process a thread belongs to, which program
 * runs there, and in which group (lib/meaning/follow/who.h).
 * Limits: TASK_SCAN_TASKS threads and as many groups, and TASK_SCAN_SIZE bytes of each; the last line of a
 * longer list says how many are missing. What ends while it is read is left out.
 */
enum { TASK_SCAN_TASKS = 1 << 16, TASK_SCAN_SIZE = 4 << 20 };

/* A process that is about to execute `program`: it is listed with this program. pid 0: there is none. */
struct task_scan_command {
	pid_t pid;
	const char *program;
};

/* -ENOMEM; what cannot be read is left out. */
int must_check task_scan(const struct task_scan_command *command, struct buf *tasks, struct buf *groups,
			 struct fail *fail);

/* Adds a text in which whatever separates fields and lines is \xNN. */
bool task_scan_text(struct buf *into, const char *text, size_t len);

/*
 * Calls `see` with each control group that lives now, until it returns an error, which is returned: of version 2 if it
 * is in use, else of systemd's hierarchy. `dir` is its directory, open during the call.
 */
int must_check cgroups_each(int (*see)(const char *path, int dir, void *arg), void *arg);
/* Adds the PIDs of the threads in a group, without those in groups below it: one a line. */
int must_check cgroup_threads(int dir, struct buf *into);

/* The path of the file that a task executes, by its link /proc/PID/exe. "": there is none, as for a kernel thread. */
void task_file(const char *link, char *into, size_t size);

#endif
