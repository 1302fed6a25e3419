/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_UNDO_CHANGE_H
#define WEFT_KERNEL_UNDO_CHANGE_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct instance;

/*
 * The only code that writes files of an instance. Invariant: existing settings are changed only through instance_set()
 * and instance_add(), which journal them first (undo.h). For a private instance only the instance itself is journaled,
 * because its settings disappear with it.
 */

/*
 * Changes a setting. Journals the old value unless the instance is private; then writes `value`, with truncation as by
 * `>` of a shell, or appended as by `>>` (for lists). Writes nothing if the file already holds exactly that value,
 * because a write to some files (trace_clock) empties the buffer. An error names the file, the value and the kernel's
 * reason, with the entry of error_log for this write if there is one (error_log.h) and the names that the kernel would
 * accept. -ENOENT: the value names something that the kernel does not have; nothing is written (precheck.h).
 */
int must_check instance_set(struct instance *instance, const char *file, const char *value, struct fail *fail);
int must_check instance_add(struct instance *instance, const char *file, const char *value, struct fail *fail);

/*
 * Journals a setting that other code will change, as instance_set() would. Does nothing for a private instance.
 * -EINVAL: the instance has no undo.
 */
int must_check instance_remember(struct instance *instance, const char *file, struct fail *fail);

/*
 * Writes without journaling: for files that are no settings (trace_marker, "0" to `trace`), or that are journaled by
 * other code.
 */
int must_check instance_write(const struct instance *instance, const char *file, const char *value, struct fail *fail);
int must_check instance_append(const struct instance *instance, const char *file, const char *value, struct fail *fail);

/* Restores a list or setting to `was`, the text that was read from the file (control_restore()). */
int must_check instance_restore(const struct instance *instance, const char *file, const char *was, struct fail *fail);

/* instance_turn() sets tracing_on, journaled. instance_clear() empties the buffer. */
int must_check instance_turn(struct instance *instance, bool on, struct fail *fail);
int must_check instance_clear(struct instance *instance, struct fail *fail);

#endif
