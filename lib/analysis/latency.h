/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_LATENCY_H
#define WEFT_ANALYSIS_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The options of latency_analysis. */

enum { LATENCY_WORST = 10, LATENCY_WORST_MAX = 1000 };

struct latency_options {
	size_t worst;    /* how many to explain; 0: LATENCY_WORST, or with `longer` up to LATENCY_WORST_MAX */
	uint64_t longer; /* ns; explain only what lasted longer */
	bool rt;         /* only wakeups of real-time tasks */
	bool by_task;    /* in a comparison: each task's wakeups have a row of their own for each part */
};

#endif
