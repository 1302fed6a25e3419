/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_UNDO_INSTANCE_OPEN_H
#define WEFT_UNDO_INSTANCE_OPEN_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

#include <stdbool.h>

struct fail;
struct undo;

/* How an instance is opened, or made and removed. */

/*
 * Makes "weft-PID" (or "weft-PID-2"...), starting with tracing_on = 0. The undo, if any, knows it before it exists, so that
 * it is found and removed after a kill, too.
 */
int must_check instance_new_private(const struct tracing *tracing, struct undo *undo, struct instance **ret,
				    struct fail *fail);
/* An instance by name: an existing one, or, with `create`, a private one of that name. -ENOENT comes with near names. */
int must_check instance_open(const struct tracing *tracing, const char *name, bool create, struct undo *undo,
			     struct instance **ret, struct fail *fail);
int must_check instance_open_top(const struct tracing *tracing, struct undo *undo, struct instance **ret,
				 struct fail *fail);
/*
 * Frees it, and removes a private one from the kernel: every file of it that this process opened must be closed by then
 * (-EBUSY names the instance, and who else has one open). Settings of others are put back by undo_restore(), before this.
 */
int instance_close(struct instance *instance, struct fail *fail);

/* A private one shall outlive us: instance_close() will not remove it. Its journal is then to be held (undo_hold()). */
void instance_leave(struct instance *instance);

#endif
