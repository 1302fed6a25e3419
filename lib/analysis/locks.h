/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_LOCKS_H
#define WEFT_ANALYSIS_LOCKS_H

/* The options of locks_analysis. */

enum locks_by { LOCKS_BY_LOCK, LOCKS_BY_CALLER, LOCKS_BY_TASK };

struct locks_options {
	enum locks_by by;
};

#endif
