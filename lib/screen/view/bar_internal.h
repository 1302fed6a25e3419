/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_BAR_INTERNAL_H
#define WEFT_SCREEN_VIEW_BAR_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

/* A value as a character whose height is its share of a whole: level 0 is nothing, 8 all of it. */
enum { BAR_LEVELS = 8 };

/* What is there at all has at least level 1. */
static inline uint8_t bar_level(uint64_t part, uint64_t whole)
{
	uint64_t level = whole ? (uint64_t)((double)part * BAR_LEVELS / (double)whole + 0.5) : 0;

	if (!part)
		return 0;
	return level < 1 ? 1 : level > BAR_LEVELS ? BAR_LEVELS : (uint8_t)level;
}

static inline const char *bar_text(uint8_t level, bool ascii)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const plain[] = { " ", ".", ":", "-", "=", "+", "*", "#", "#" };

	return ascii ? plain[level] : blocks[level];
}

#endif
