/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_EXTREME_H
#define WEFT_ANALYSIS_EXTREME_H

#include <stdint.h>

struct findings;
struct pass;
struct table;

/* The longest case so far: its time, its CPU and its task. All zero: there was none. */
struct extreme {
	uint64_t lasted, from, to; /* to 0: none */
	uint32_t cpu, task;        /* task: the state's index, or STATE_NO_TASK */
};

void extreme_see(struct extreme *extreme, const struct extreme *seen);

/* Cells with when it ended, its CPU, and the PID and the name of its task. */
void extreme_cells(const struct pass *pass, struct table *table, const struct extreme *extreme);

/* As one of the longest cases, if there was one. Borrows `what`. */
void extreme_tell(const struct pass *pass, struct findings *findings, const char *what, const struct extreme *extreme);

#endif
