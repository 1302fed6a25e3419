/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SETUP_LATE_H
#define WEFT_SETUP_LATE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;
struct instance;

/*
 * Triggers and function commands with a count ("stacktrace:2", "vfs_read:traceoff:1"). The kernel counts from the
 * moment when they are set, also while tracing is off, so that whatever happens until the workload begins would use
 * them up. So they are tried while the instance is set up, taken back, and set again right after tracing was turned on
 * (lib/record/switches.h).
 */
struct late {
	struct late_item {
		struct instance *instance;
		char *file, *text;
	} * items;
	size_t nr;
};

/* Whether a trigger, or the command behind the name of a function, has a count. */
bool late_is_counted(const char *text);

/*
 * Whether the text is left out now, and only kept for later: the script of a plan sets everything once, in the order in
 * which it has to be set.
 */
bool late_is_untried(const struct late *late, const struct instance *instance, const char *text);

/* Takes back the text that was just set in the file (unless it was left out), and keeps both for later. */
int must_check late_add(struct late *late, struct instance *instance, const char *file, const char *text,
			struct fail *fail);
void late_release(struct late *late);

#endif
