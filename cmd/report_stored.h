/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_REPORT_STORED_H
#define WEFT_CMD_REPORT_STORED_H

#include "lib/base/cleanup.h"

struct fail;
struct trace;

/*
 * Prints the texts of that name on standard output, byte for byte as the kernel gave them: "hist", "stack", "stat" or
 * the name of a file, "events/sched/sched_switch/hist", in the order of the file. `instance` NULL: of every buffer.
 * -ENOENT comes with what there is.
 */
int must_check report_stored(struct trace *trace, const char *instance, const char *name, struct fail *fail);

#endif
