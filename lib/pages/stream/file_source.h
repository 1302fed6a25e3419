/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_STREAM_FILE_SOURCE_H
#define WEFT_PAGES_STREAM_FILE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct pool;
struct source;
struct trace;

/*
 * The pages of one ring buffer of a file. It holds one block for each selected CPU and one window of compressed bytes,
 * so memory does not grow with the file. The blocks of all CPUs together are bounded: where chunks are too large, each
 * is decompressed several times, once for each part of its pages. With a pool, the pool's threads read and decompress
 * the next block of each CPU meanwhile. Borrows the trace and the pool; only the pool's owner thread may use the
 * source.
 */
int must_check file_source_new(struct trace *trace, size_t buffer, struct pool *pool, struct source **ret,
			       struct fail *fail);

#endif
