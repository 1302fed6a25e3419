/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_FILES_H
#define WEFT_MEANING_FOLLOW_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;

/*
 * Which file, socket or pipe was behind a descriptor of a task at a time, and which names calls had. The same for every
 * reader. It is known from the list of open descriptors at the start of the recording (weft/open_files), and from the
 * buffer weft/files (own_formats.h), which has an event for each descriptor that gets a file or is closed, for each
 * name that the kernel copied from a program, and for each new task: threads share descriptors, processes begin with a
 * copy.
 *
 * What lost events of that buffer may have changed is unknown from the loss on, until an event says it again. A file
 * that weft recorded without --files tells nothing.
 *
 * The events are read once, when the first question is asked. Memory grows with their number. Any thread may ask.
 * Everything lives as long as the context.
 */
bool files_are_known(const struct context *context);

/*
 * A number that is the same for all descriptors of one file, by its path. FILES_UNKNOWN: the recording does not say it.
 * FILES_CLOSED: nothing is behind the descriptor.
 */
enum { FILES_UNKNOWN, FILES_CLOSED, FILES_FIRST };
uint32_t files_is(const struct context *context, int32_t pid, int32_t fd, uint64_t ts);

/*
 * The file with this inode in the file system of this device (the kernel's dev_t: major << 20 | minor), by the last
 * name under which a program had it open. FILES_UNKNOWN: none had it.
 */
uint32_t files_with_inode(const struct context *context, uint32_t device, uint64_t inode);

/* Whether it is a file whose name is in one of these globs. */
bool files_match(const struct context *context, uint32_t file, const char *const *globs, size_t nr);

/* The number after the last one of a file or a name that the recording knows. */
uint32_t files_end(const struct context *context);

/* As strace -yy prints it: "/etc/passwd", "socket:[123]", "pipe:[45]", "anon_inode:[eventpoll]"; "(unknown)". */
const char *files_text(const struct context *context, uint32_t file);

/*
 * The name to which `pointer` points in a call that this task began at `ts`, as the kernel copied it. NULL: unknown.
 */
const char *files_name(const struct context *context, int32_t pid, uint64_t pointer, uint64_t ts);

/* The names that the kernel copied for this task between two times, from index 0 on. NULL: there are no more. */
const char *files_name_in(const struct context *context, int32_t pid, uint64_t from, uint64_t to, size_t index);

/*
 * What a task asked of io_uring, which is no system call: the operation as the kernel calls it ("READ"), and the file.
 * FILES_UNKNOWN: a fixed one that no event tells; FILES_CLOSED: the operation has none. `result` is that of the system
 * call of the same name, of an operation that ends several times the sum. In the order of `since`.
 */
struct files_request {
	uint64_t since, until;
	int64_t result;
	int32_t pid;
	uint32_t file;
	const char *operation;
	bool done; /* `until` and `result` are known */
};

/* False: there is no request with this index, from 0 on. */
bool files_request(const struct context *context, size_t index, struct files_request *ret);

#endif
