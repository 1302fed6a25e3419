/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_LATENCY_LATENCY_H
#define WEFT_ANSWERS_LATENCY_LATENCY_H

#include "lib/answers/frame/analysis.h"

/* The options of latency_analysis. */

enum { LATENCY_SLOWEST = 10 };

/* With LATENCY_BY_WHO + enum who_part (lib/meaning/follow/who.h), also what these waited for. */
enum latency_by { LATENCY_BY_WAKEUP, LATENCY_BY_WHO };
/* In a comparison: a row for each part, of all wakeups or of each task's. */
enum latency_compared_by { LATENCY_BY_PART, LATENCY_BY_TASK };

struct latency_options {
	/* Those of `slowest` are explained; 0: LATENCY_SLOWEST, or with `longer` up to SLOWEST_MAX. */
	struct row_options rows; /* enum latency_by; in a comparison enum latency_compared_by */
	bool rt;                 /* only waits of real-time tasks */
	bool preempted;          /* also the waits of tasks that lost their CPU and could go on */
	bool brief;              /* for a summary: no wakeups */
};

#endif
