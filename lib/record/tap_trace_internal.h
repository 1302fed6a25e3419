/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_RECORD_TAP_TRACE_INTERNAL_H
#define WEFT_RECORD_TAP_TRACE_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stddef.h>

struct fail;
struct rig;
struct target;
struct trace;

/*
 * Makes the metadata that the file of a recording of these targets would have, as a trace without pages. The caller
 * frees it. The targets are those of the rig, or an instance beside them.
 */
int must_check tap_trace_new(const struct rig *rig, const struct target *targets, size_t nr, struct trace **ret,
			     struct fail *fail);

#endif
