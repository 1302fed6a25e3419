/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_STACKS_H
#define WEFT_ANALYSIS_STACKS_H

/* The rows of stacks_analysis; its options are struct row_options (lib/analysis/analysis.h). */

enum stacks_by { STACKS_BY_STACK, STACKS_BY_FUNCTION, STACKS_BY_TASK };

#endif
