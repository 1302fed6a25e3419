/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_BLOCK_H
#define WEFT_ANALYSIS_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The options of block_analysis. */

enum block_by { BLOCK_BY_DEVICE, BLOCK_BY_OPERATION, BLOCK_BY_TASK };

/* What the first letters of rwbs say (blk_fill_rwbs() of kernel/trace/blktrace.c). */
enum block_operation { BLOCK_READ, BLOCK_WRITE, BLOCK_DISCARD, BLOCK_FLUSH, BLOCK_OTHER, BLOCK_OPERATIONS };
extern const char *const block_operations[BLOCK_OPERATIONS];

struct block_options {
	enum block_by by;
	uint32_t operations; /* a bit for each operation that counts; 0: all */
	bool sizes;          /* shows how many requests had which size */
	size_t slowest;      /* how many of the longest requests to show one by one */
	uint64_t longer;     /* ns; show only those that lasted longer */
};

#endif
