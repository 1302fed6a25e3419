/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REFUSALS_ERROR_LOG_H
#define WEFT_KERNEL_REFUSALS_ERROR_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/text.h"

struct buf;
struct instance;

/*
 * Why the kernel refused a filter, a trigger, a probe, a histogram or a synthetic event: `error_log`, which keeps the
 * last eight refusals (tracing_log_err() in kernel/trace/trace.c):
 *	[  123.456789] hist:sched:sched_switch: error: Couldn't find field
 *	  Command: hist:keys=pidd
 *	                     ^
 * Refusals of probes and synthetic events are in the log of the top instance, the others in the log of their instance.
 * An entry borrows the text of the log. Other programs may add entries at the same time: an entry belongs to our write
 * only if it was not there before. If there are several new entries, it is the one with our command.
 */
struct error_entry {
	struct text_word where;   /* "hist:sched:sched_switch"; empty when weft itself found the error */
	struct text_word text;    /* "Couldn't find field" */
	struct text_word command; /* as the kernel understood it, without "Command: " */
	size_t caret;             /* index into the command; at most its length */
};

/* Returns whether error_log explains refusals of writes to this file. */
bool error_log_explains(const char *file);

/* Reads the log. It is empty if there is none (kernels before 5.2), or if it cannot be read. */
void error_log_read(const struct instance *instance, struct buf *buf);

/*
 * Finds the entry that writing `value` has added to the log. Returns false if none was added. The texts may contain any
 * bytes.
 */
bool error_log_find(const char *before, const char *after, const char *value, struct error_entry *ret);

/* Returns the name under the caret, or the last name before it, without its modifiers; "" if there is none. */
void error_entry_culprit(const struct error_entry *entry, char *into, size_t size);

/*
 * Appends "TEXT", the command on a line of its own, and the caret under the culprit. Only the part of a long command
 * around the caret is shown.
 */
bool error_entry_print(const struct error_entry *entry, struct buf *buf);

#endif
