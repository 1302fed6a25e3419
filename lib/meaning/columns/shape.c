// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/columns/shape.h"

#include "lib/ground/base/out.h"
#include "lib/ground/base/utf8.h"

bool column_shape_widen(struct column_shape *shape, const struct column_shape *other)
{
	uint8_t bits = shape->bits > other->bits ? shape->bits : other->bits;

	if (shape->form != other->form)
		return false;
	shape->optional |= other->optional;
	if (column_is_text(shape))
		return true;
	if (shape->is_signed != other->is_signed) {
		const struct column_shape *without = shape->is_signed ? other : shape;

		if (without->bits == 64)
			return false;
		/* A signed integer has room for an unsigned one of half its size. */
		if (without->bits == bits)
			bits = (uint8_t)(2 * bits);
		shape->is_signed = true;
	}
	shape->bits = bits;
	return true;
}

const char *column_utf8(const char *text, size_t *len, struct out *scratch)
{
	const char *end = text + *len, *at = text;

	while (at < end && (uint8_t)*at < 0x80)
		at++;
	if (at == end)
		return text;
	out_clear(scratch);
	for (at = text; at < end;) {
		size_t size = utf8_len(at, (size_t)(end - at));

		out_mem(scratch, size ? at : "\xef\xbf\xbd", size ? size : 3);
		at += size ? size : 1;
	}
	*len = out_len(scratch);
	return scratch->start;
}
