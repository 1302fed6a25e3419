/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_TAP_TRACE_INTERNAL_H
#define WEFT_KERNEL_RECORD_TAP_TRACE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct rig;
struct target;
struct trace;

/*
 * Makes the metadata that the file of a recording of these targets would have, as a trace without pages. The caller
 * frees it. The targets are those of the rig, or an instance beside them. `tasks`: also which tasks and control groups
 * there are now.
 */
int must_check tap_trace_new(const struct rig *rig, const struct target *targets, size_t nr, bool tasks,
			     struct trace **ret, struct fail *fail);

#endif
