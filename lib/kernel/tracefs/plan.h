/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_PLAN_H
#define WEFT_KERNEL_TRACEFS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

/*
 * A plan is the shell script of a dry run. While struct tracing has a plan, instances write nothing: each write becomes
 * a line of the script, in order, and reading a setting gives the value that the plan last set. A new instance of the
 * plan is represented by an empty private instance, so that the files and tracers of a new instance are known;
 * undo_restore() removes it.
 */
struct plan {
	struct buf script;
	struct plan_value *values;
	size_t nr;
};

#define PLAN_INIT                  \
	{                          \
		.script = BUF_INIT \
	}

void plan_release(struct plan *plan);

/* `name` is the name of the instance, "" for the top instance. False: no memory. */
bool plan_mkdir(struct plan *plan, const char *name);
bool plan_write(struct plan *plan, const char *name, const char *file, bool append, const char *value);
/* The value that the plan last set. NULL: the plan has not set the file, or has appended to it since. */
const char *plan_value(const struct plan *plan, const char *name, const char *file);

/* Adds a word as a shell reads it: in single quotes if it needs them. */
bool plan_quote(struct buf *buf, const char *word);

#endif
