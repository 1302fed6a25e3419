/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_MEASURE_HIST_BAR_INTERNAL_H
#define WEFT_KERNEL_MEASURE_HIST_BAR_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/* Bars beside the numbers of a histogram: of block characters, precise to an eighth of a column, or of "#". */
enum { HIST_BAR_WIDTH = 40, HIST_BAR_LEAST = 8, HIST_BAR_SIZE = 3 * HIST_BAR_WIDTH + 1 };

struct hist_bars {
	size_t width; /* columns of the longest bar */
	size_t room;  /* columns of a line; 0: no limit */
	bool blocks;
};

void hist_bar(const struct hist_bars *bars, uint64_t value, uint64_t max, char into[HIST_BAR_SIZE]);

/*
 * If the lines of `text`, printed with these bars, are too long for the room, makes the bars shorter. Returns
 * whether it did, so that the text must be printed again.
 */
bool hist_bars_shorten(struct hist_bars *bars, const struct out *text);

#endif
