/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_REMOTE_H
#define WEFT_TRACEFS_REMOTE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct fail;
struct tracing;

/*
 * remotes/NAME of Linux 7.1: the ring buffers of something else than this kernel, such as a hypervisor, with events and a clock of its own
 * (kernel/trace/trace_remote.c). It hands out text only, trace and trace_pipe: no raw pages, so it cannot be recorded.
 */

/* "NAME", or "remotes/NAME". */
bool remote_is(const struct tracing *tracing, const char *name);
/* Why it is no instance, and what prints it: -EOPNOTSUPP. */
int remote_refuse(const char *name, struct fail *fail);
/* One after the other: 0, or the first non-zero that `each` returned. */
int must_check remote_each(const struct tracing *tracing, int (*each)(const char *name, void *data), void *data);

#endif
