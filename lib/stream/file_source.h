/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_STREAM_FILE_SOURCE_H
#define WEFT_STREAM_FILE_SOURCE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;
struct source;
struct trace;

/*
 * The pages of one ring buffer of a file. Holds one block for each CPU that was asked and one window of compressed
 * bytes; nothing grows with the file. With read_ahead a thread decompresses the next block of each CPU meanwhile.
 * Borrows the trace.
 */
int must_check file_source_new(struct trace *trace, size_t buffer, bool read_ahead, struct source **ret,
			       struct fail *fail);

#endif
