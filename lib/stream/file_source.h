/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_STREAM_FILE_SOURCE_H
#define WEFT_STREAM_FILE_SOURCE_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;
struct pool;
struct source;
struct trace;

/*
 * The pages of one ring buffer of a file. Holds one block for each CPU that was asked and one window of compressed
 * bytes; nothing grows with the file, and the blocks of all CPUs together have a bound: where their chunks are larger, each is
 * decompressed several times, for a part of its pages. With a pool the next block of each CPU is read and decompressed there
 * meanwhile.
 * Borrows the trace and the pool, whose owner's thread is the only one to use the source.
 */
int must_check file_source_new(struct trace *trace, size_t buffer, struct pool *pool, struct source **ret,
			       struct fail *fail);

#endif
