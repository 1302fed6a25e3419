/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_BLOCK_H
#define WEFT_ANALYSIS_BLOCK_H

/* The rows of block_analysis; its options are struct row_options (lib/analysis/analysis.h). */

enum block_by { BLOCK_BY_DEVICE, BLOCK_BY_OPERATION, BLOCK_BY_TASK };

#endif
