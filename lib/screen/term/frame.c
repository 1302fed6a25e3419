// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/term/frame.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/utf8.h"

enum { TAB_COLUMNS = 8, ESC = 0x1b };

static unsigned clamp(unsigned value, unsigned max)
{
	return value < 1 ? 1 : value > max ? max : value;
}

void frame_clear(struct frame *frame)
{
	for (size_t i = 0; i < (size_t)frame->width * frame->height; i++)
		frame->cells[i] = (struct cell){ .rune = ' ' };
	frame->cursor = false;
}

bool frame_init(struct frame *frame, unsigned width, unsigned height)
{
	*frame = (struct frame){ .width = clamp(width, FRAME_WIDTH_MAX), .height = clamp(height, FRAME_HEIGHT_MAX) };
	frame->cells = calloc((size_t)frame->width * frame->height, sizeof(*frame->cells));
	if (!frame->cells)
		return false;
	frame_clear(frame);
	return true;
}

void frame_release(struct frame *frame)
{
	free(frame->cells);
	frame->cells = NULL;
}

/* Obeys the number of a sequence of colour. */
static void pen_set(struct pen *pen, const struct pen *plain, unsigned number)
{
	if (!number)
		*pen = *plain;
	else if (number == 1)
		pen->attributes |= CELL_BOLD;
	else if (number == 2)
		pen->attributes |= CELL_DIM;
	else if (number == 4)
		pen->attributes |= CELL_UNDERLINE;
	else if (number == 7)
		pen->attributes |= CELL_REVERSE;
	else if (number >= 30 && number <= 37)
		pen->fg = number - 30 + 1;
	else if (number >= 90 && number <= 97)
		pen->fg = number - 90 + 9;
	else if (number >= 40 && number <= 47)
		pen->bg = number - 40 + 1;
	else if (number >= 100 && number <= 107)
		pen->bg = number - 100 + 9;
	else if (number == 39)
		pen->fg = plain->fg;
	else if (number == 49)
		pen->bg = plain->bg;
}

/* "38;5;N" and "38;2;R;G;B", and with 48 the background. Returns how many numbers were used. */
static size_t pen_set_far(struct pen *pen, const unsigned *numbers, size_t nr)
{
	uint32_t *color = numbers[0] == 38 ? &pen->fg : &pen->bg;

	if (nr >= 3 && numbers[1] == 5) {
		*color = CELL_256 + (numbers[2] & 0xff);
		return 3;
	}
	if (nr >= 5 && numbers[1] == 2) {
		*color = CELL_TRUE + ((numbers[2] & 0xff) << 16 | (numbers[3] & 0xff) << 8 | (numbers[4] & 0xff));
		return 5;
	}
	return nr;
}

/* The length of a sequence of colour at the text, which is obeyed; 0: there is none. */
static size_t take_color(struct pen *pen, const struct pen *plain, const char *text, size_t len)
{
	unsigned numbers[16] = { 0 };
	size_t at = 2, nr = 1;

	if (len < 3 || text[0] != ESC || text[1] != '[')
		return 0;
	for (; at < len && at < 40 && ((text[at] >= '0' && text[at] <= '9') || text[at] == ';'); at++) {
		if (text[at] == ';' && nr < array_size(numbers))
			nr++;
		else if (text[at] != ';' && numbers[nr - 1] < 1000)
			numbers[nr - 1] = numbers[nr - 1] * 10 + (unsigned)(text[at] - '0');
	}
	if (at >= len || text[at] != 'm')
		return 0;
	for (size_t i = 0; i < nr;) {
		if (numbers[i] == 38 || numbers[i] == 48) {
			i += pen_set_far(pen, numbers + i, nr - i);
		} else {
			pen_set(pen, plain, numbers[i]);
			i++;
		}
	}
	return at + 1;
}

static struct cell cell_of(uint32_t rune, const struct pen *pen)
{
	return (struct cell){ .rune = rune, .fg = pen->fg, .bg = pen->bg, .attributes = pen->attributes };
}

static void cut(struct frame *frame, unsigned x, unsigned y, unsigned width, const struct pen *pen)
{
	struct cell *row = &frame->cells[(size_t)y * frame->width];

	if (!width)
		return;
	/* The mark may stand on the second half of a wide character. */
	if (!row[x + width - 1].rune && width > 1)
		row[x + width - 2] = cell_of(' ', pen);
	row[x + width - 1] = cell_of('>', pen);
}

unsigned frame_put(struct frame *frame, unsigned x, unsigned y, unsigned width, struct pen pen, const char *text,
		   size_t len)
{
	return frame_put_from(frame, x, y, width, pen, 0, text, len);
}

unsigned frame_put_from(struct frame *frame, unsigned x, unsigned y, unsigned width, struct pen plain, unsigned skip,
			const char *text, size_t len)
{
	struct pen pen = plain;
	unsigned used = 0;
	struct cell *row;
	size_t at = 0;

	if (x >= frame->width || y >= frame->height)
		return 0;
	row = &frame->cells[(size_t)y * frame->width];
	if (width > frame->width - x)
		width = frame->width - x;
	while (at < len) {
		size_t size = take_color(&pen, &plain, text + at, len - at);
		unsigned columns;
		uint32_t rune;

		at += size;
		if (size)
			continue;
		columns = utf8_next(text + at, len - at, &rune, &size);
		at += size;
		if (skip && columns) {
			skip -= columns < skip ? columns : skip;
			continue;
		}
		if (rune == '\t') {
			for (columns = TAB_COLUMNS - used % TAB_COLUMNS; columns && used < width; columns--)
				row[x + used++] = cell_of(' ', &pen);
			continue;
		}
		if (rune < ' ' || (rune >= 0x7f && rune < 0xa0)) {
			rune = '?';
			columns = 1;
		}
		if (!columns) {
			if (used)
				row[x + used - (row[x + used - 1].rune ? 1 : 2)].mark = rune;
			continue;
		}
		if (used + columns > width) {
			cut(frame, x, y, width, &plain);
			return width;
		}
		row[x + used] = cell_of(rune, &pen);
		if (columns == 2)
			row[x + used + 1] = cell_of(0, &pen);
		used += columns;
	}
	return used;
}

void frame_tint(struct frame *frame, unsigned x, unsigned y, unsigned width, struct pen pen)
{
	struct cell *row;

	if (y >= frame->height)
		return;
	row = &frame->cells[(size_t)y * frame->width];
	for (; width && x < frame->width; x++, width--) {
		row[x].attributes |= pen.attributes;
		if (pen.fg)
			row[x].fg = pen.fg;
		if (pen.bg)
			row[x].bg = pen.bg;
	}
}
