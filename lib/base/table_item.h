/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_BASE_TABLE_ITEM_H
#define WEFT_BASE_TABLE_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table;
struct table_column;

/* The cells of a table as they were added: for what reads them instead of printing them. */

enum table_value { VALUE_TEXT, VALUE_U64, VALUE_S64, VALUE_DECIMAL, VALUE_NOTHING };

struct table_item {
	const char *text; /* VALUE_TEXT: the table's until a cell is added or the rows are sorted; ends with NUL */
	size_t len;
	uint64_t number; /* for VALUE_S64 and VALUE_DECIMAL: the bits of the signed number */
	enum table_value value;
	unsigned decimals;
};

/*
 * A cell in 16 bytes, as a table of some hundred thousand rows has millions: most texts are short enough to lie in it.
 * Longer ones have the address and the length of the text in `bytes`, all else the number.
 */
enum { TABLE_NEAR = 14 };
struct table_stored {
	char bytes[TABLE_NEAR];
	uint8_t value : 3, decimals : 5;
	uint8_t near; /* of a text that lies here: its length + 1; 0: none does */
};

/* Gives back what a cell owns. */
void table_stored_release(struct table_stored *stored);

/* Returns a cell; one that was not added is an empty text. */
struct table_item table_item_at(const struct table *table, size_t row, size_t column);
size_t table_rows(const struct table *table);

/* Whether the cell has no number where one is expected. */
bool table_is_nothing(const struct table_column *column, const struct table_item *item);

#endif
