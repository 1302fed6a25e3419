/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_UNDO_MARKER_H
#define WEFT_UNDO_MARKER_H

#include "lib/base/cleanup.h"
#include "lib/tracefs/instance.h"

#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * Writes markers into the buffer of an instance: trace_marker takes text, trace_marker_raw a number and bytes
 * (tracing_mark_write(), tracing_mark_raw_write() in kernel/trace/trace.c). Not a setting: nothing is journaled.
 */
struct marker {
	int fd;
	const struct instance *instance; /* borrowed */
};

enum { MARKER_RAW_MAX = 1 << 16 }; /* more than any kernel takes in one sub-buffer of 64 KB */

#define MARKER_INIT                        \
	{                                  \
		.fd = -1, .instance = NULL \
	}

int must_check marker_open(const struct instance *instance, bool raw, struct marker *ret, struct fail *fail);
void marker_close(struct marker *marker);

/*
 * One marker; text of more bytes than the kernel takes at once (1024, 4096 since 6.7, or what fits into a sub-buffer)
 * becomes several: *ret_pieces. -EBADF: tracing is off there, which the text says.
 */
int must_check marker_write(struct marker *marker, const char *text, size_t len, unsigned *ret_pieces,
			    struct fail *fail);
/* The whole or nothing that counts: -EMSGSIZE when the kernel cut it. */
int must_check marker_write_raw(struct marker *marker, uint32_t id, const void *data, size_t len, struct fail *fail);

#endif
