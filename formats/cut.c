// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/cut_internal.h"

#include <stdbool.h>

#include "formats/palette.h"
#include "lib/ground/base/out.h"

/* Returns the end of a character or a colour sequence; *ret_columns is its width in columns. */
static const char *next_character(const char *at, const char *end, unsigned *ret_columns)
{
	*ret_columns = 1;
	if (*at == '\033') {
		*ret_columns = 0;
		while (at < end && *at != 'm')
			at++;
		return at < end ? at + 1 : end;
	}
	for (at++; at < end && ((unsigned char)*at & 0xc0) == 0x80;)
		at++;
	return at;
}

static void cut_line(const char *at, const char *end, unsigned width, struct out *out)
{
	const char *from = at, *last = at;
	unsigned column = 0, columns;
	bool colored = false;

	while (at < end) {
		const char *next = next_character(at, end, &columns);

		if (column + columns > width) {
			out_mem(out, from, (size_t)(last - from));
			out_str(out, ">");
			out_str(out, colored ? COLOR_NONE : "");
			return;
		}
		colored |= !columns;
		column += columns;
		at = next;
		/* The last column is reserved for '>'. */
		if (column < width)
			last = at;
	}
	out_mem(out, from, (size_t)(end - from));
}

void cut_lines(const struct out *text, unsigned width, struct out *out)
{
	const char *at = text->start;

	out->failed |= text->failed;
	while (at < text->at) {
		const char *newline = memchr(at, '\n', (size_t)(text->at - at));

		cut_line(at, newline ? newline : text->at, width, out);
		if (newline)
			out_char(out, '\n');
		at = newline ? newline + 1 : text->at;
	}
}
