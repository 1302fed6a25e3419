/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_UNDO_INSTANCE_OPEN_H
#define WEFT_KERNEL_UNDO_INSTANCE_OPEN_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;
struct undo;

/*
 * Makes an instance "weft-PID" (or "weft-PID-2"...) with tracing_on = 0. If there is an undo, the instance is journaled
 * before it exists, so that it is found and removed even after a kill.
 */
int must_check instance_new_private(const struct tracing *tracing, struct undo *undo, struct instance **ret,
				    struct fail *fail);
/* The same, but its events belong to no recording: nobody recovers them after a kill. */
int must_check instance_new_helper(const struct tracing *tracing, struct undo *undo, struct instance **ret,
				   struct fail *fail);
/*
 * Opens an existing instance by its name. If there is none and `create` is true, makes a private instance of that name,
 * otherwise fails with -ENOENT and similar names.
 */
int must_check instance_open(const struct tracing *tracing, const char *name, bool create, struct undo *undo,
			     struct instance **ret, struct fail *fail);
int must_check instance_open_top(const struct tracing *tracing, struct undo *undo, struct instance **ret,
				 struct fail *fail);
/*
 * Frees the instance, and removes a private one from the kernel. This process must have closed all its files. -EBUSY: a
 * file is open; the text names the instance and the processes. Call undo_restore() before, to restore the settings of
 * an existing instance.
 */
int instance_close(struct instance *instance, struct fail *fail);

/*
 * Makes instance_close() keep a private instance in the kernel after this process ends. Its journal must be held
 * (undo_hold()).
 */
void instance_leave(struct instance *instance);

#endif
