/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_LATENCY_H
#define WEFT_ANALYSIS_LATENCY_H

#include <stdbool.h>
#include <stddef.h>

/* The options of latency_analysis. */

enum { LATENCY_WORST = 10, LATENCY_WORST_MAX = 1000 };

struct latency_options {
	size_t worst; /* number of wakeups to explain */
	bool rt;      /* only wakeups of real-time tasks */
	bool by_task; /* in a comparison: each task's wakeups have a row of their own for each part */
};

#endif
