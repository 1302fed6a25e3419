/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_USERS_H
#define WEFT_TRACEFS_USERS_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/tracing.h"

#include <sys/types.h>

struct fail;

/*
 * Processes that hold files of tracefs open: who reads a buffer, and keeps an instance from being removed. Found in /proc/PID/fd, so
 * without privilege only one's own are seen.
 */
struct tracing_user {
	pid_t pid;
	const char *comm;
	const char *file; /* relative to the mount: "instances/foo/per_cpu/cpu0/trace_pipe_raw" */
};

/*
 * One call for each open file; 0, or the first non-zero that `each` returned. Strings are valid during the call. The calling process
 * itself is left out. A process that ends meanwhile is none.
 */
int must_check tracing_each_user(const struct tracing *tracing,
				 int (*each)(const struct tracing_user *user, void *data), void *data);

/* The file's name relative to that instance ("" is the top one); NULL: it belongs to another. */
const char *tracing_user_file(const struct tracing_user *user, const char *instance);

/* fail_set(): why the instance could not be removed; where it is in use, by whom. Returns err. */
int tracing_instance_kept(const struct tracing *tracing, const char *instance, int err, struct fail *fail);

#endif
