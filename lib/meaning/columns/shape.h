/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_COLUMNS_SHAPE_H
#define WEFT_MEANING_COLUMNS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/*
 * The type of a column: integers of a size and sign, texts, lists of integers; what is none of these (a structure) is a
 * text of JSON. Only tables have real numbers, which have 64 bits.
 */
enum column_form { COLUMN_INTEGER, COLUMN_OF_TEXT, COLUMN_JSON, COLUMN_LIST, COLUMN_REAL };

struct column_shape {
	char name[80];
	enum column_form form;
	uint8_t bits; /* size of an integer, also of each integer in a list: 8, 16, 32 or 64 */
	bool is_signed;
	bool optional; /* may be null */
};

static inline bool column_is_text(const struct column_shape *shape)
{
	return shape->form == COLUMN_OF_TEXT || shape->form == COLUMN_JSON;
}

/*
 * Widens a shape so that it has room for the values of the other, too; false: no shape has, because one is a text and
 * the other a number, or because no integer has room for both. The name stays.
 */
bool column_shape_widen(struct column_shape *shape, const struct column_shape *other);

/* Returns the text if it is UTF-8; else a copy in `scratch`, in which each other byte is U+FFFD. */
const char *column_utf8(const char *text, size_t *len, struct out *scratch);

/* What one event has in a column. A text and a list are borrowed until the next value is read. */
struct column_value {
	enum { VALUE_IS_NULL, VALUE_IS_INTEGER, VALUE_IS_TEXT, VALUE_IS_LIST, VALUE_IS_REAL } kind;
	uint64_t number; /* sign-extended */
	double real;
	union {
		const char *text;
		const uint64_t *list;
	};
	size_t len; /* of the text, or the list */
};

#endif
