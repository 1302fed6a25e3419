/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_MADE_FILE_H
#define WEFT_PAGES_TRACE_MADE_FILE_H

#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct part;
struct trace_buffer;
struct writer;
struct writer_metadata;
struct writer_options;

/*
 * Writes a trace.dat that is made in one go, from other files or from text. A recording writes its file from its parts
 * instead (lib/kernel/record).
 */

/* Writes all buffers: writer_buffer() begins each, and its pages go through the part. */
typedef int made_file_buffers(void *arg, struct part *part, struct writer *writer, struct fail *fail);

/* *ret_size: bytes of the file; unchanged after a failure. */
int must_check made_file_write(int fd, const struct writer_options *form, const struct writer_metadata *metadata,
			       made_file_buffers *buffers, void *arg, uint64_t *ret_size, struct fail *fail);

/* Begins a buffer with the clock and the page size of a buffer of another file. */
int must_check made_file_buffer(struct writer *writer, const char *name, const struct trace_buffer *like,
				struct fail *fail);

#endif
