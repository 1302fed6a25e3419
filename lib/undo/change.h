/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_UNDO_CHANGE_H
#define WEFT_UNDO_CHANGE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct fail;
struct instance;

/*
 * The only door through which files of an instance are written.
 * Invariant: whatever was there before is changed only through instance_set() and instance_add(), which journal first (undo.h); in a
 * private instance nothing is journaled but the instance itself, because everything in it disappears with it.
 */

/*
 * Changes a setting: remembers the old value where it is not ours, then writes `value` (truncating first, as a shell's `>`)
 * or adds it (`>>`: for files that are lists). Writes nothing where the file already holds exactly that value, because
 * some files (trace_clock) empty the buffer when written. Errors name the file, the value and the kernel's reason, with
 * the error_log entry of this very write where it made one (error_log.h) and the names that would have fitted; names that
 * cannot be right are refused before anything is written (precheck.h), with -ENOENT.
 */
int must_check instance_set(struct instance *instance, const char *file, const char *value, struct fail *fail);
int must_check instance_add(struct instance *instance, const char *file, const char *value, struct fail *fail);

/*
 * Journals a setting that something else will change, as instance_set() would; nothing in an instance that is ours. -EINVAL: there
 * is no undo.
 */
int must_check instance_remember(struct instance *instance, const char *file, struct fail *fail);

/* Only the write: for what is no setting (trace_marker, "0" to `trace`) or is journaled by other means. */
int must_check instance_write(const struct instance *instance, const char *file, const char *value, struct fail *fail);
int must_check instance_append(const struct instance *instance, const char *file, const char *value, struct fail *fail);

/* tracing_on, journaled; and emptying the buffer. */
int must_check instance_turn(struct instance *instance, bool on, struct fail *fail);
int must_check instance_clear(struct instance *instance, struct fail *fail);

#endif
