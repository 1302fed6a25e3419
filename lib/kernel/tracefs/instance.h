/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_INSTANCE_H
#define WEFT_KERNEL_TRACEFS_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/tracing.h"

struct buf;
struct fail;
struct undo;

/*
 * One ring buffer of the kernel with its control files: the top instance or a directory of instances/. This header only
 * reads it: instance_open.h opens or makes an instance, and change.h alone writes to it. Files are named relative to
 * the instance: "trace_clock", "events/sched/sched_switch/filter", "options/stacktrace". With the top instance, a whole
 * path names a sysctl of tracing: "/proc/sys/kernel/stack_tracer_enabled".
 */
enum instance_kind {
	INSTANCE_TOP,
	INSTANCE_EXISTING, /* weft did not make it: weft leaves it as it was */
	INSTANCE_PRIVATE,  /* weft made it: instance_close() of instance_open.h removes it */
};

struct instance {
	const struct tracing *tracing; /* borrowed */
	enum instance_kind kind;
	char *name; /* "" for the top instance */
	char *dir;
	struct undo *undo; /* borrowed; NULL: changes are not journaled and cannot be undone */
};

/* Calls `each` for each name in instances/. Returns 0, or the first non-zero value that `each` returned. */
int must_check instance_each(const struct tracing *tracing, int (*each)(const char *name, void *data), void *data,
			     struct fail *fail);

/* The top instance, for reading only. It borrows `tracing` and must not be closed. */
static inline struct instance instance_top(const struct tracing *tracing)
{
	return (struct instance){ .tracing = tracing, .kind = INSTANCE_TOP, .name = (char *)"", .dir = tracing->dir };
}

/* The path of a file. The caller frees it. */
int must_check instance_path(const struct instance *instance, const char *file, char **ret, struct fail *fail);

bool instance_has(const struct instance *instance, const char *file);

/*
 * instance_read() appends the file to the buf. instance_read_word() copies it to the caller's memory, without the
 * newline at its end.
 */
int must_check instance_read(const struct instance *instance, const char *file, struct buf *buf, struct fail *fail);
int must_check instance_read_word(const struct instance *instance, const char *file, char *into, size_t size,
				  struct fail *fail);
int must_check instance_open_file(const struct instance *instance, const char *file, int flags, int *ret_fd,
				  struct fail *fail);

/*
 * Instances that the kernel command line made: trace_instance=NAME[=OTHER][^FLAG...][@MEMORY][,EVENT...], which may be
 * given several times. Such an instance may hold the trace of the previous boot in reserved memory. That trace is lost
 * for ever when the instance is removed or emptied, so weft does so only if the user names the instance.
 */

/* Whether this command line (a text such as /proc/cmdline) makes that instance. */
bool boot_instance_in(const char *cmdline, const char *name);
/* The same for the command line of the running kernel. False if it cannot be read. */
bool boot_instance_is(const char *name);

#endif
