/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_STACKS_H
#define WEFT_ANALYSIS_STACKS_H

/* The options of stacks_analysis. */

enum stacks_by { STACKS_BY_STACK, STACKS_BY_FUNCTION, STACKS_BY_TASK };

struct stacks_options {
	enum stacks_by by;
};

#endif
