/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_SCHED_H
#define WEFT_ANALYSIS_SCHED_H

#include <stdbool.h>

/* The options of sched_analysis. */
struct sched_options {
	bool timehist; /* a line for each run of a task, in pass::lines */
};

#endif
