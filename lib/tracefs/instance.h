/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TRACEFS_INSTANCE_H
#define WEFT_TRACEFS_INSTANCE_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/tracing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fail;
struct undo;

/*
 * One ring buffer of the kernel with its control files: the top one or a directory of instances/.
 * Here it is only read. It is opened or made by instance_open.h, and written to by change.h alone.
 * Files are named relative to the instance: "trace_clock", "events/sched/sched_switch/filter", "options/stacktrace"; with the
 * top one also sysctls of tracing, by their whole path: "/proc/sys/kernel/stack_tracer_enabled".
 */
enum instance_kind {
	INSTANCE_TOP,
	INSTANCE_EXISTING, /* somebody's: left as it was found */
	INSTANCE_PRIVATE,  /* ours: removed by instance_close(), instance_open.h */
};

struct instance {
	const struct tracing *tracing; /* borrowed */
	enum instance_kind kind;
	char *name; /* "" for the top one */
	char *dir;
	struct undo *undo; /* borrowed; may be NULL, then nothing can be undone */
};

/* One after the other for each name in instances/: 0, or the first non-zero that `each` returned. */
int must_check instance_each(const struct tracing *tracing, int (*each)(const char *name, void *data), void *data,
			     struct fail *fail);

/* The top one, only to look at: borrows the tracing, and is not to be closed. */
static inline struct instance instance_top(const struct tracing *tracing)
{
	return (struct instance){ .tracing = tracing, .kind = INSTANCE_TOP, .name = (char *)"", .dir = tracing->dir };
}

/* The path of a file; to be freed. */
int must_check instance_path(const struct instance *instance, const char *file, char **ret, struct fail *fail);

bool instance_has(const struct instance *instance, const char *file);

/* Appends the file to the buf. instance_read_word() gives it without the newline at its end, in memory of the caller. */
int must_check instance_read(const struct instance *instance, const char *file, struct buf *buf, struct fail *fail);
int must_check instance_read_word(const struct instance *instance, const char *file, char *into, size_t size,
				  struct fail *fail);
int must_check instance_open_file(const struct instance *instance, const char *file, int flags, int *ret_fd,
				  struct fail *fail);

#endif
