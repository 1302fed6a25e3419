/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_REMOTE_H
#define WEFT_KERNEL_TRACEFS_REMOTE_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct tracing;

/*
 * remotes/NAME of Linux 7.1: the ring buffers of another system, such as a hypervisor, with its own events and clock
 * (kernel/trace/trace_remote.c). The kernel offers only their text (trace and trace_pipe) and no raw pages, so they
 * cannot be recorded.
 */

/* Whether "NAME" or "remotes/NAME" names a remote. */
bool remote_is(const struct tracing *tracing, const char *name);
/* Calls fail_set(): why a remote is not an instance, and which command prints it. Returns -EOPNOTSUPP. */
int remote_refuse(const char *name, struct fail *fail);
/* Calls `each` for each remote. Returns 0, or the first non-zero value that `each` returned. */
int must_check remote_each(const struct tracing *tracing, int (*each)(const char *name, void *data), void *data);

#endif
