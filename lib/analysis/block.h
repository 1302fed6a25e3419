/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_BLOCK_H
#define WEFT_ANALYSIS_BLOCK_H

/* The options of block_analysis. */

enum block_by { BLOCK_BY_DEVICE, BLOCK_BY_OPERATION, BLOCK_BY_TASK };

struct block_options {
	enum block_by by;
};

#endif
