/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EXPLAIN_ERROR_LOG_H
#define WEFT_EXPLAIN_ERROR_LOG_H

#include "lib/base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct instance;

/*
 * Why the kernel refused a filter, a trigger, a probe, a histogram or a synthetic event: `error_log`, which keeps the
 * last eight refusals (tracing_log_err() in kernel/trace/trace.c):
 *	[  123.456789] hist:sched:sched_switch: error: Couldn't find field
 * 	  Command: hist:keys=pidd
 * 	                     ^
 * Probes and synthetic events are explained in the log of the top instance, the others in that of their own.
 * An entry borrows the text of the log. Nobody else is kept from writing there: an entry is that of our write only if
 * it was not there before, and of several new ones the one with our command counts.
 */
struct error_entry {
	struct text_word where;   /* "hist:sched:sched_switch"; empty when weft itself found the error */
	struct text_word text;    /* "Couldn't find field" */
	struct text_word command; /* as the kernel understood it, without "Command: " */
	size_t caret;             /* index into the command; its length at most */
};

/* Whether error_log explains refusals of this file. */
bool error_log_explains(const char *file);

/* Reads the log; empty where there is none (kernels before 5.2, or not readable). */
void error_log_read(const struct instance *instance, struct buf *buf);

/* Finds the entry that writing `value` has added to the log. False: none was added. The texts may hold any bytes. */
bool error_log_find(const char *before, const char *after, const char *value, struct error_entry *ret);

/* The name under the caret, or the last name before it, without its modifiers: "" when there is none. */
void error_entry_culprit(const struct error_entry *entry, char *into, size_t size);

/*
 * Appends "TEXT", the command in a line of its own, and the caret under the culprit. A long command is cut to the part
 * around it.
 */
bool error_entry_print(const struct error_entry *entry, struct buf *buf);

#endif
