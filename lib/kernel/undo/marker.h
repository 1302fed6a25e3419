/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_UNDO_MARKER_H
#define WEFT_KERNEL_UNDO_MARKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/tracefs/instance.h"

struct fail;

/*
 * Writes markers into the buffer of an instance: text through trace_marker, a number and bytes through trace_marker_raw
 * (tracing_mark_write() and tracing_mark_raw_write() in kernel/trace/trace.c). A marker is no setting, so nothing is
 * journaled.
 */
struct marker {
	int fd;
	const struct instance *instance; /* borrowed; NULL: of a descriptor that was given */
};

/* in bytes; more than any kernel accepts, even in a sub-buffer of 64 KB */
enum { MARKER_RAW_MAX = 1 << 16 };

#define MARKER_INIT                        \
	{                                  \
		.fd = -1, .instance = NULL \
	}

int must_check marker_open(const struct instance *instance, bool raw, struct marker *ret, struct fail *fail);
/* Takes a copy of a descriptor that another process gave, as weft record gives its command. False: it is none. */
bool marker_given(const char *number, struct marker *ret);
void marker_close(struct marker *marker);

/*
 * Writes a text. If it is longer than the kernel accepts at once (1024 bytes, 4096 since 6.7, or less in a small
 * sub-buffer), it becomes several markers; *ret_pieces is their number. -EBADF: tracing is off in this instance; the
 * text says so.
 */
int must_check marker_write(struct marker *marker, const char *text, size_t len, unsigned *ret_pieces,
			    struct fail *fail);
/* Writes a whole raw marker or fails. -EMSGSIZE: the kernel cut it. */
int must_check marker_write_raw(struct marker *marker, uint32_t id, const void *data, size_t len, struct fail *fail);

#endif
