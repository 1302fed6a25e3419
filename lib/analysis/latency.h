/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_LATENCY_H
#define WEFT_ANALYSIS_LATENCY_H

#include <stdbool.h>
#include <stddef.h>

/* The options of latency_analysis. */

enum { LATENCY_WORST = 10, LATENCY_WORST_MAX = 1000 };

struct latency_options {
	size_t worst; /* how many wakeups are explained */
	bool rt;      /* only those of real-time tasks */
	bool by_task; /* of a comparison: a row for the parts of each task's wakeups, not of all */
};

#endif
