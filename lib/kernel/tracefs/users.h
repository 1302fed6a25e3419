/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_USERS_H
#define WEFT_KERNEL_TRACEFS_USERS_H

#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/tracing.h"

struct fail;

/*
 * Processes that have files of tracefs open: they read a buffer, or prevent that an instance is removed. They are found
 * in /proc/PID/fd, so without privilege only the processes of the user are seen.
 */
struct tracing_user {
	pid_t pid;
	const char *comm;
	const char *file; /* relative to the mount directory: "instances/foo/per_cpu/cpu0/trace_pipe_raw" */
};

/*
 * Calls `each` for each open file. Returns 0, or the first non-zero value that `each` returned. The strings are valid
 * only during the call. The calling process and processes that end meanwhile are left out.
 */
int must_check tracing_each_user(const struct tracing *tracing,
				 int (*each)(const struct tracing_user *user, void *data), void *data);

/*
 * The name of the file relative to that instance ("" is the top instance). NULL: the file belongs to another instance.
 */
const char *tracing_user_file(const struct tracing_user *user, const char *instance);

/* Calls fail_set(): why the instance could not be removed, and which processes use it. Returns err. */
int tracing_instance_kept(const struct tracing *tracing, const char *instance, int err, struct fail *fail);

#endif
