/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_KERNEL_INSTANCE_H
#define WEFT_KERNEL_INSTANCE_H

#include "lib/base/cleanup.h"
#include "lib/kernel/tracing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fail;
struct undo;

/*
 * One ring buffer of the kernel with its control files: the top one or a directory of instances/.
 * Invariant: whatever was there before is changed only through instance_set(), which journals first (undo.h); in a private
 * instance nothing is journaled but the instance itself, because everything in it disappears with it.
 * Files are named relative to the instance: "trace_clock", "events/sched/sched_switch/filter", "options/stacktrace"; with the
 * top one also sysctls of tracing, by their whole path: "/proc/sys/kernel/stack_tracer_enabled".
 */
enum instance_kind {
	INSTANCE_TOP,
	INSTANCE_EXISTING,      /* somebody's: left as it was found */
	INSTANCE_PRIVATE,       /* ours: removed by instance_close() */
};

struct instance {
	const struct tracing *tracing;  /* borrowed */
	enum instance_kind kind;
	char *name;                     /* "" for the top one */
	char *dir;
	struct undo *undo;              /* borrowed; may be NULL, then nothing can be undone */
};

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

/* One after the other for each name in instances/: 0, or the first non-zero that `each` returned. */
int must_check instance_each(const struct tracing *tracing, int (*each)(const char *name, void *data), void *data,
			     struct fail *fail);

/* The top one, only to look at: borrows the tracing, and is not to be closed. */
static inline struct instance instance_top(const struct tracing *tracing)
{
	return (struct instance){ .tracing = tracing, .kind = INSTANCE_TOP, .name = (char *)"", .dir = tracing->dir };
}

bool instance_has(const struct instance *instance, const char *file);

/* Appends the file to the buf. instance_read_word() gives it without the newline at its end, in memory of the caller. */
int must_check instance_read(const struct instance *instance, const char *file, struct buf *buf, struct fail *fail);
int must_check instance_read_word(const struct instance *instance, const char *file, char *into, size_t size,
				  struct fail *fail);
int must_check instance_open_file(const struct instance *instance, const char *file, int flags, int *ret_fd,
				  struct fail *fail);

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
int must_check instance_append(const struct instance *instance, const char *file, const char *value,
			       struct fail *fail);

/* tracing_on, journaled; and emptying the buffer. */
int must_check instance_turn(struct instance *instance, bool on, struct fail *fail);
int must_check instance_clear(struct instance *instance, struct fail *fail);

#endif
