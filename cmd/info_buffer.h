/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_INFO_BUFFER_H
#define WEFT_CMD_INFO_BUFFER_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;
struct out;
struct trace;

/*
 * Prints the report of weft info about one buffer: its CPUs and, unless no_events is set, the time span, losses and
 * events of each type. Damage inside its pages is reported as a warning; what was counted before it is printed.
 */
int must_check info_buffer(struct trace *trace, size_t buffer, bool no_events, struct out *out, bool *ret_damaged,
			   struct fail *fail);

#endif
