/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_TABLE_H
#define WEFT_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;

/*
 * A table of text for people: a title above each column, cells aligned, two blanks between columns, none at the end of a
 * line. Cells are added from left to right, row by row; they are copied. Widths count bytes.
 * Running out of memory is sticky: table_print() then returns false and prints nothing.
 */
enum { TABLE_COLUMNS_MAX = 16 };

struct table_column {
	const char *title;      /* "" for none; without any title there is no line of titles */
	bool right;             /* numbers stand at the right */
};

struct table {
	const struct table_column *columns;
	size_t nr_columns;
	char **cells;
	size_t nr_cells, size;
	unsigned indent;        /* blanks in front of each line */
	bool failed;
};

/* Borrows `columns`. */
void table_init(struct table *table, const struct table_column *columns, size_t nr_columns);
void table_release(struct table *table);

void table_cell(struct table *table, const char *text);
__attribute__((format(printf, 2, 3))) void table_cellf(struct table *table, const char *format, ...);
void table_cell_u64(struct table *table, uint64_t value);

/* Rows that are not complete end with empty cells. */
bool table_print(const struct table *table, struct out *out);

#endif
