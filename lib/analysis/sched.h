/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_SCHED_H
#define WEFT_ANALYSIS_SCHED_H

#include <stdbool.h>
#include <stddef.h>

/* The options of sched_analysis. */
struct sched_options {
	bool timehist;     /* a line for each run of a task, in pass::lines */
	bool rt;           /* only real-time tasks have rows, and deadline ones */
	const char *chain; /* show what woke this task: a PID or a glob for names; NULL: not asked */
	size_t map;        /* columns of a lane for each CPU, in pass::lines; 0: none */
};

#endif
