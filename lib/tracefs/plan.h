/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_PLAN_H
#define WEFT_TRACEFS_PLAN_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * What would be written to tracefs, as a shell script. While struct tracing has a plan, instances write nothing (instance.h):
 * every write is a line here, in order; reading a setting gives what the plan has last set it to. An instance that would be
 * made is stood for by an empty one of another name, so that what a new one offers is known; undo_restore() removes it.
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

/* `name` is that of the instance, "" for the top one. False: no memory. */
bool plan_mkdir(struct plan *plan, const char *name);
bool plan_write(struct plan *plan, const char *name, const char *file, bool append, const char *value);
/* What the file was last set to; NULL: never, or it was added to since. */
const char *plan_value(const struct plan *plan, const char *name, const char *file);

/* A word as a shell reads it: in single quotes where it needs them. */
bool plan_quote(struct buf *buf, const char *word);

#endif
