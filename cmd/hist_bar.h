/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_HIST_BAR_H
#define WEFT_CMD_HIST_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/* Bars behind the numbers of a histogram: of block characters, with a precision of an eighth of a column, or of "#". */
enum { HIST_BAR_WIDTH = 40, HIST_BAR_LEAST = 8, HIST_BAR_SIZE = 3 * HIST_BAR_WIDTH + 1 };

struct hist_bars {
	size_t width; /* columns of the longest one */
	bool blocks;
};

/* As standard output shows them: blocks on a terminal whose locale has them. */
struct hist_bars hist_bars(void);

void hist_bar(const struct hist_bars *bars, uint64_t value, uint64_t max, char into[HIST_BAR_SIZE]);

/*
 * Whether the lines of `text`, printed with these bars, are too long for the terminal and shorter bars will help: then
 * they are shorter.
 */
bool hist_bars_shorten(struct hist_bars *bars, const struct out *text);

#endif
