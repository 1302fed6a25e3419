/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_SCHED_SCHED_H
#define WEFT_ANSWERS_SCHED_SCHED_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/answers/frame/analysis.h"

/* The options of sched_analysis. */
struct sched_options {
	/* by: 0: tasks; 1 + enum who_part (lib/meaning/follow/who.h): those that belong together */
	struct row_options rows;
	bool timehist;     /* prints a line for each run of a task into pass::lines */
	bool rt;           /* only real-time and deadline tasks have rows */
	const char *chain; /* shows what woke this task: a PID, or a glob for names; NULL: not wanted */
	bool idle;         /* shows which CPUs were idle while tasks waited */
	size_t map;        /* prints a lane for each CPU into pass::lines, with this many columns; 0: none */
};

#endif
