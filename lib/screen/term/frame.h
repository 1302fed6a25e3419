/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_TERM_FRAME_H
#define WEFT_SCREEN_TERM_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct out;

/*
 * A screen of cells in memory, and the bytes that make a terminal which shows one frame show another. It uses only what
 * every terminal like xterm obeys, and knows of no terminal: bytes go to an out.
 */
enum cell_attribute { CELL_BOLD = 1, CELL_DIM = 2, CELL_REVERSE = 4, CELL_UNDERLINE = 8 };

/*
 * A colour: 0 is the terminal's own, 1 to 16 its palette, COLOR_256 + n one of 256, COLOR_TRUE + 0xrrggbb any.
 */
enum { CELL_256 = 0x100, CELL_TRUE = 0x1000000 };

struct cell {
	uint32_t rune; /* 0: the second half of a wide character */
	uint32_t mark; /* a combining mark on it; 0: none */
	uint32_t fg, bg;
	uint8_t attributes; /* enum cell_attribute */
};

struct frame {
	unsigned width, height;
	struct cell *cells;
	bool ascii;  /* other characters are drawn as '?' */
	bool cursor; /* the terminal's cursor is shown, at: */
	unsigned cursor_x, cursor_y;
};

enum { FRAME_WIDTH_MAX = 1000, FRAME_HEIGHT_MAX = 500 };

/* What the terminal can show. */
enum frame_colors { FRAME_COLORS_NONE, FRAME_COLORS_16, FRAME_COLORS_256, FRAME_COLORS_TRUE };

/* A frame of blanks; a size of nothing is a size of 1. False: no memory. */
bool frame_init(struct frame *frame, unsigned width, unsigned height);
void frame_release(struct frame *frame);
void frame_clear(struct frame *frame);

/* How text is written: its colours and attributes where it has none of its own. */
struct pen {
	uint32_t fg, bg;
	uint8_t attributes;
};

/*
 * Writes a text into one row from column x, at most `width` columns. The text is UTF-8 in which control characters are
 * escaped, but for sequences of colour ("\033[31m"), which are obeyed; anything else that a terminal would obey becomes
 * '?'. Tabs go to the next eighth column. A text that is too long ends with '>'. Its first `skip` columns are left out.
 * Returns the columns that it took.
 */
unsigned frame_put_from(struct frame *frame, unsigned x, unsigned y, unsigned width, struct pen pen, unsigned skip,
			const char *text, size_t len);
unsigned frame_put(struct frame *frame, unsigned x, unsigned y, unsigned width, struct pen pen, const char *text,
		   size_t len);
/* Gives cells of a row that are there already these colours, and adds the attributes. */
void frame_tint(struct frame *frame, unsigned x, unsigned y, unsigned width, struct pen pen);

/*
 * Appends the bytes that turn `shown`, which the terminal shows, into `frame`, and makes `shown` equal to it. If the
 * sizes differ, or `all`, everything is drawn. The bytes are one update for terminals that know that.
 */
void frame_draw(struct frame *shown, const struct frame *frame, enum frame_colors colors, bool all, struct out *out);

#endif
