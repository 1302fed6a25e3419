/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_REPORT_STORED_H
#define WEFT_CMD_REPORT_STORED_H

#include "lib/base/cleanup.h"

struct fail;
struct trace;

/*
 * Prints the stored texts of this name to standard output, byte for byte as the kernel wrote them, in the order of the
 * file: "hist", "stack", "stat", or the name of a file, "events/sched/sched_switch/hist". `instance` NULL: of every
 * buffer. The message of -ENOENT lists the stored texts.
 */
int must_check report_stored(struct trace *trace, const char *instance, const char *name, struct fail *fail);

#endif
