/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_PIDS_H
#define WEFT_KERNEL_TRACEFS_PIDS_H

#include <dirent.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

/*
 * The PIDs that live now, as the names in /proc. The kernel's list of threads ends early if a thread ends while it is
 * read (next_tid() of fs/proc/base.c), so only one that is as long as "Threads" in /proc/PID/status is whole.
 */

/* PID_MAX_LIMIT of include/linux/threads.h, on 64 bits. */
enum { PID_MAX = 4194304 };

/* 0: the text is no PID. */
pid_t pids_parse(const char *name);

/* The processes; the threads of one. NULL: errno says why, ENOENT of a process that has ended. */
DIR *pids_of_all(void);
DIR *pids_of_threads(pid_t process);
/* 0: there are no more. NULL has none. */
pid_t pids_next(DIR *dir);

static inline void cleanup_pids_close(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}
#define cleanup_pids __attribute__((cleanup(cleanup_pids_close)))

#endif
