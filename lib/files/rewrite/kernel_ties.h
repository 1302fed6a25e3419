/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_REWRITE_KERNEL_TIES_H
#define WEFT_FILES_REWRITE_KERNEL_TIES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct trace;

/*
 * What the kernel prints stands in a log ("kernel: TEXT") and, as events printk:console, in a recording: lines with the
 * same text tie both. Lines of a text that one of them has more often than the other tie nothing. A log has the time at
 * which it got a line, so no line is earlier than its event.
 */
struct kernel_ties {
	size_t nr;
	/* By so much the lines are later in the log: the least and the most, in ns. */
	int64_t least, most;
	/* The event of the least: its buffer, its time in the recording, and the time of day that the log has. */
	size_t buffer;
	uint64_t ts;
	int64_t ns;
};

/* If the recording does not tell the time of day, only the difference of most and least means something. */
int must_check kernel_ties_find(struct trace *recording, struct trace *log, struct kernel_ties *ret, struct fail *fail);

#endif
