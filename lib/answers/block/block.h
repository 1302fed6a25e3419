/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_BLOCK_BLOCK_H
#define WEFT_ANSWERS_BLOCK_BLOCK_H

#include "lib/answers/frame/analysis.h"

/* The options of block_analysis. */

/* From BLOCK_BY_WHO on enum who_part, in its order (lib/meaning/follow/who.h). */
enum block_by { BLOCK_BY_DEVICE, BLOCK_BY_OPERATION, BLOCK_BY_TASK, BLOCK_BY_FILE, BLOCK_BY_WHO };

/* What the first letters of rwbs say (blk_fill_rwbs() of kernel/trace/blktrace.c). */
enum block_operation { BLOCK_READ, BLOCK_WRITE, BLOCK_DISCARD, BLOCK_FLUSH, BLOCK_OTHER, BLOCK_OPERATIONS };
extern const char *const block_operations[BLOCK_OPERATIONS];

struct block_options {
	struct row_options rows; /* enum block_by */
	uint32_t operations;     /* a bit for each operation that counts; 0: all */
	bool sizes;              /* shows how many requests had which size */
};

#endif
