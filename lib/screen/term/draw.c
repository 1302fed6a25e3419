// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/term/frame.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/out.h"

/* Makes the terminal show a frame with few bytes: rows that moved are moved, and only cells that differ are sent. */

enum {
	SCROLL_LEAST = 3, /* rows that must have moved together, so that moving them pays */
	SKIP_MOST = 4,    /* cells that are the same and sent nevertheless, as a cursor movement has more bytes */
};

struct drawing {
	const struct frame *frame;
	struct frame *shown;
	enum frame_colors colors;
	struct out *out;
	struct pen pen; /* what the terminal writes with */
	unsigned x, y;  /* where its cursor is; y UINT_MAX: unknown */
};

enum { NOWHERE = ~0U };

static struct cell *row_of(const struct frame *frame, unsigned y)
{
	return &frame->cells[(size_t)y * frame->width];
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
	return a->rune == b->rune && a->mark == b->mark && a->fg == b->fg && a->bg == b->bg &&
	       a->attributes == b->attributes;
}

static bool same_row(const struct frame *a, unsigned y, const struct frame *b, unsigned other)
{
	const struct cell *left = row_of(a, y), *right = row_of(b, other);

	for (unsigned x = 0; x < a->width; x++)
		if (!same_cell(&left[x], &right[x]))
			return false;
	return true;
}

static uint64_t hash_row(const struct frame *frame, unsigned y)
{
	const struct cell *row = row_of(frame, y);
	uint64_t hash = 14695981039346656037U;

	for (unsigned x = 0; x < frame->width; x++) {
		hash = (hash ^ row[x].rune) * 1099511628211U;
		hash = (hash ^ (row[x].fg << 8 | row[x].attributes)) * 1099511628211U;
		hash = (hash ^ row[x].bg) * 1099511628211U;
	}
	return hash;
}

/* xterm's 256 colours: 16 of the palette, a cube of 6 x 6 x 6, and 24 greys. */
static unsigned near_256(uint32_t color)
{
	unsigned rgb[3] = { color >> 16 & 0xff, color >> 8 & 0xff, color & 0xff }, index = 0;

	for (size_t i = 0; i < 3; i++)
		index = index * 6 + (rgb[i] < 48 ? 0 : rgb[i] < 115 ? 1 : (rgb[i] - 35) / 40);
	return 16 + index;
}

/* One of the 8 colours that every terminal has. */
static unsigned near_8(uint32_t rgb)
{
	return (rgb >> 23 & 1) | (rgb >> 14 & 2) | (rgb >> 5 & 4);
}

static uint32_t rgb_of_256(unsigned index)
{
	static const uint8_t levels[] = { 0, 95, 135, 175, 215, 255 };

	if (index >= 232) {
		uint32_t grey = 8 + 10 * (index - 232);

		return grey << 16 | grey << 8 | grey;
	}
	index -= 16;
	return (uint32_t)levels[index / 36] << 16 | (uint32_t)levels[index / 6 % 6] << 8 | levels[index % 6];
}

static void put_color(const struct drawing *drawing, uint32_t color, unsigned base, struct out *out)
{
	if (!color || drawing->colors == FRAME_COLORS_NONE)
		return;
	if (color >= CELL_TRUE && drawing->colors != FRAME_COLORS_TRUE)
		color = CELL_256 + near_256(color);
	if (color >= CELL_256 && color < CELL_256 + 16)
		color = color - CELL_256 + 1;
	if (color >= CELL_256 && color < CELL_TRUE && drawing->colors == FRAME_COLORS_16)
		color = 1 + near_8(rgb_of_256(color - CELL_256));
	if (color >= CELL_TRUE)
		out_f(out, ";%u;2;%u;%u;%u", base + 8, color >> 16 & 0xff, color >> 8 & 0xff, color & 0xff);
	else if (color >= CELL_256)
		out_f(out, ";%u;5;%u", base + 8, color - CELL_256);
	else if (color > 8)
		out_f(out, ";%u", base + 60 + color - 9);
	else
		out_f(out, ";%u", base + color - 1);
}

static void set_pen(struct drawing *drawing, const struct cell *cell)
{
	static const struct {
		uint8_t attribute;
		const char *number;
	} attributes[] = { { CELL_BOLD, ";1" }, { CELL_DIM, ";2" }, { CELL_UNDERLINE, ";4" }, { CELL_REVERSE, ";7" } };
	struct pen pen = { cell->fg, cell->bg, cell->attributes };

	if (pen.fg == drawing->pen.fg && pen.bg == drawing->pen.bg && pen.attributes == drawing->pen.attributes)
		return;
	out_str(drawing->out, "\033[0");
	for (size_t i = 0; i < array_size(attributes); i++)
		if (pen.attributes & attributes[i].attribute)
			out_str(drawing->out, attributes[i].number);
	put_color(drawing, pen.fg, 30, drawing->out);
	put_color(drawing, pen.bg, 40, drawing->out);
	out_char(drawing->out, 'm');
	drawing->pen = pen;
}

static void put_rune(uint32_t rune, struct out *out)
{
	if (rune < 0x80) {
		out_char(out, (char)rune);
	} else if (rune < 0x800) {
		out_char(out, (char)(0xc0 | rune >> 6));
		out_char(out, (char)(0x80 | (rune & 0x3f)));
	} else if (rune < 0x10000) {
		out_char(out, (char)(0xe0 | rune >> 12));
		out_char(out, (char)(0x80 | (rune >> 6 & 0x3f)));
		out_char(out, (char)(0x80 | (rune & 0x3f)));
	} else {
		out_char(out, (char)(0xf0 | rune >> 18));
		out_char(out, (char)(0x80 | (rune >> 12 & 0x3f)));
		out_char(out, (char)(0x80 | (rune >> 6 & 0x3f)));
		out_char(out, (char)(0x80 | (rune & 0x3f)));
	}
}

static void move_to(struct drawing *drawing, unsigned x, unsigned y)
{
	if (drawing->y == y && drawing->x == x)
		return;
	if (x)
		out_f(drawing->out, "\033[%u;%uH", y + 1, x + 1);
	else if (y)
		out_f(drawing->out, "\033[%uH", y + 1);
	else
		out_str(drawing->out, "\033[H");
	drawing->x = x;
	drawing->y = y;
}

static void put_cell(struct drawing *drawing, const struct cell *cell)
{
	bool ascii = drawing->frame->ascii && cell->rune >= 0x80;
	bool wide = cell + 1 < row_of(drawing->frame, drawing->y) + drawing->frame->width && !cell[1].rune;

	set_pen(drawing, cell);
	put_rune(ascii ? '?' : cell->rune, drawing->out);
	if (ascii && wide)
		out_char(drawing->out, '?');
	if (cell->mark && !drawing->frame->ascii)
		put_rune(cell->mark, drawing->out);
	drawing->x += wide ? 2 : 1;
	/* In the last column terminals differ about where the cursor is, and after odd characters about its column. */
	if (drawing->x >= drawing->frame->width || cell->mark || cell->rune >= 0x80)
		drawing->y = NOWHERE;
}

static bool is_blank(const struct cell *cell)
{
	return cell->rune == ' ' && !cell->mark && !cell->fg && !cell->bg && !cell->attributes;
}

/* The column after which a row of the frame has only plain blanks. */
static unsigned row_end(const struct frame *frame, unsigned y)
{
	const struct cell *row = row_of(frame, y);
	unsigned end = frame->width;

	while (end && is_blank(&row[end - 1]))
		end--;
	return end;
}

/* The first cell from `x` on that differs; a wide character differs with either half. */
static unsigned next_difference(const struct cell *row, const struct cell *old, unsigned x, unsigned end)
{
	while (x < end && same_cell(&row[x], &old[x]))
		x++;
	if (x < end && x && !row[x].rune)
		x--;
	return x;
}

static void draw_row(struct drawing *drawing, unsigned y)
{
	const struct cell *row = row_of(drawing->frame, y), *old = row_of(drawing->shown, y);
	unsigned width = drawing->frame->width, end = row_end(drawing->frame, y), old_end = row_end(drawing->shown, y);
	unsigned x = next_difference(row, old, 0, width);

	while (x < end) {
		unsigned next;

		move_to(drawing, x, y);
		put_cell(drawing, &row[x]);
		x += x + 1 < width && !row[x + 1].rune ? 2 : 1;
		/* Half of an old wide character may be left behind: its other half is not what it was. */
		if (x < width && !old[x].rune && row[x].rune) {
			continue;
		}
		next = next_difference(row, old, x, width);
		if (next >= end)
			break;
		if (next - x > SKIP_MOST || drawing->y != y) {
			x = next;
			continue;
		}
		/* A short way is written again. */
		while (x < next && drawing->y == y) {
			put_cell(drawing, &row[x]);
			x += x + 1 < width && !row[x + 1].rune ? 2 : 1;
		}
	}
	if (old_end > end) {
		const struct cell blank = { .rune = ' ' };

		move_to(drawing, end, y);
		set_pen(drawing, &blank);
		out_str(drawing->out, "\033[K");
	}
}

struct scroll {
	unsigned top, bottom; /* of the region, the last row included */
	int by;               /* rows up; negative: down */
	unsigned gain;        /* rows that are then right and were not */
};

static bool is_row(int y, unsigned height)
{
	return y >= 0 && y < (int)height;
}

/* The best way to move rows: those of the old frame that stand elsewhere in the new one. */
static struct scroll find_scroll(const struct frame *frame, const struct frame *shown)
{
	struct scroll best = { .gain = 0 };
	unsigned height = frame->height;
	uint64_t *hashes = calloc((size_t)height * 2, sizeof(*hashes)), *old = hashes + height;

	if (!hashes)
		return best;
	for (unsigned y = 0; y < height; y++) {
		hashes[y] = hash_row(frame, y);
		old[y] = hash_row(shown, y);
	}
	for (int by = 1 - (int)height; by < (int)height; by++) {
		unsigned y = 0;

		while (by && y < height) {
			struct scroll here = { .top = y, .by = by };

			for (; y < height && is_row((int)y + by, height) && hashes[y] == old[(int)y + by]; y++)
				here.gain += hashes[y] != old[y];
			here.bottom = y - 1;
			if (y > here.top && here.gain > best.gain)
				best = here;
			y += y == here.top;
		}
	}
	free(hashes);
	/* The region also has the rows from which the others come. */
	if (best.by > 0)
		best.bottom += (unsigned)best.by;
	else if (best.by < 0)
		best.top -= (unsigned)-best.by;
	return best;
}

static void scroll(struct drawing *drawing)
{
	struct scroll found = find_scroll(drawing->frame, drawing->shown);
	struct frame *shown = drawing->shown;
	unsigned width = shown->width, by = (unsigned)abs(found.by), rows;
	const struct cell blank = { .rune = ' ' };

	if (found.gain < SCROLL_LEAST || found.bottom >= shown->height)
		return;
	rows = found.bottom - found.top + 1 - by;
	set_pen(drawing, &blank);
	out_f(drawing->out, "\033[%u;%ur\033[%u%c\033[r", found.top + 1, found.bottom + 1, by,
	      found.by > 0 ? 'S' : 'T');
	drawing->y = NOWHERE;
	if (found.by > 0)
		memmove(row_of(shown, found.top), row_of(shown, found.top + by), (size_t)rows * width * sizeof(blank));
	else
		memmove(row_of(shown, found.top + by), row_of(shown, found.top), (size_t)rows * width * sizeof(blank));
	for (unsigned i = 0; i < by; i++) {
		struct cell *row = row_of(shown, found.by > 0 ? found.top + rows + i : found.top + i);

		for (unsigned x = 0; x < width; x++)
			row[x] = blank;
	}
}

static void draw_cursor(struct drawing *drawing, bool all)
{
	const struct frame *frame = drawing->frame;

	if (frame->cursor && frame->cursor_x < frame->width && frame->cursor_y < frame->height) {
		drawing->y = NOWHERE;
		move_to(drawing, frame->cursor_x, frame->cursor_y);
	}
	if (all || frame->cursor != drawing->shown->cursor)
		out_str(drawing->out, frame->cursor ? "\033[?25h" : "\033[?25l");
}

void frame_draw(struct frame *shown, const struct frame *frame, enum frame_colors colors, bool all, struct out *out)
{
	struct drawing drawing = { .frame = frame, .shown = shown, .colors = colors, .out = out, .y = NOWHERE };
	size_t cells = (size_t)frame->width * frame->height, from = out_len(out), begun;

	out_str(out, "\033[?2026h");
	begun = out_len(out);
	if (all || shown->width != frame->width || shown->height != frame->height) {
		frame_release(shown);
		if (!frame_init(shown, frame->width, frame->height)) {
			out->failed = true;
			return;
		}
		out_str(out, "\033[0m\033[r\033[H\033[2J");
		all = true;
	} else {
		scroll(&drawing);
	}
	for (unsigned y = 0; y < frame->height; y++)
		if (!same_row(frame, y, shown, y))
			draw_row(&drawing, y);
	if (drawing.pen.fg || drawing.pen.bg || drawing.pen.attributes) {
		const struct cell blank = { .rune = ' ' };

		set_pen(&drawing, &blank);
	}
	draw_cursor(&drawing, all);
	if (out_len(out) == begun)
		out->at = out->start + from;
	else
		out_str(out, "\033[?2026l");
	memcpy(shown->cells, frame->cells, cells * sizeof(*frame->cells));
	shown->cursor = frame->cursor;
	shown->cursor_x = frame->cursor_x;
	shown->cursor_y = frame->cursor_y;
}
