// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/table.h"

#include "lib/base/out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_FIRST = 64, GAP = 2 };

void table_init(struct table *table, const struct table_column *columns, size_t nr_columns)
{
	*table = (struct table){ .columns = columns,
				 .nr_columns = nr_columns < TABLE_COLUMNS_MAX ? nr_columns : TABLE_COLUMNS_MAX };
}

void table_release(struct table *table)
{
	for (size_t i = 0; i < table->nr_cells; i++)
		free(table->cells[i]);
	free(table->cells);
	table->cells = NULL;
	table->nr_cells = table->size = 0;
}

/* Takes the cell over. */
static void add(struct table *table, char *cell)
{
	if (cell && table->nr_cells == table->size) {
		size_t size = table->size ? 2 * table->size : CELLS_FIRST;
		char **cells = reallocarray(table->cells, size, sizeof(*cells));

		if (cells) {
			table->cells = cells;
			table->size = size;
		}
	}
	if (!cell || table->nr_cells == table->size) {
		free(cell);
		table->failed = true;
		return;
	}
	table->cells[table->nr_cells++] = cell;
}

void table_cell(struct table *table, const char *text)
{
	add(table, strdup(text));
}

void table_cellf(struct table *table, const char *format, ...)
{
	va_list args;
	char *cell;

	va_start(args, format);
	if (vasprintf(&cell, format, args) < 0)
		cell = NULL;
	va_end(args);
	add(table, cell);
}

void table_cell_u64(struct table *table, uint64_t value)
{
	table_cellf(table, "%" PRIu64, value);
}

static void print_row(const struct table *table, struct out *out, const char *const *cells, const size_t *widths)
{
	size_t blanks = table->indent;

	for (size_t i = 0; i < table->nr_columns; i++) {
		size_t len = strlen(cells[i]), pad = widths[i] - len;

		if (len) {
			out_fill(out, ' ', blanks + (table->columns[i].right ? pad : 0));
			out_mem(out, cells[i], len);
			blanks = table->columns[i].right ? 0 : pad;
		} else {
			blanks += widths[i];
		}
		blanks += GAP;
	}
	out_char(out, '\n');
}

/* The cells of a row; false behind the last. */
static bool get_row(const struct table *table, size_t row, const char **cells)
{
	if (row * table->nr_columns >= table->nr_cells)
		return false;
	for (size_t i = 0; i < table->nr_columns; i++) {
		size_t index = row * table->nr_columns + i;

		cells[i] = index < table->nr_cells ? table->cells[index] : "";
	}
	return true;
}

bool table_print(const struct table *table, struct out *out)
{
	const char *titles[TABLE_COLUMNS_MAX], *cells[TABLE_COLUMNS_MAX];
	size_t widths[TABLE_COLUMNS_MAX];
	bool titled = false;

	if (table->failed)
		return false;
	for (size_t i = 0; i < table->nr_columns; i++) {
		titles[i] = table->columns[i].title;
		widths[i] = strlen(titles[i]);
		titled = titled || widths[i];
	}
	for (size_t row = 0; get_row(table, row, cells); row++)
		for (size_t i = 0; i < table->nr_columns; i++)
			if (strlen(cells[i]) > widths[i])
				widths[i] = strlen(cells[i]);
	if (titled)
		print_row(table, out, titles, widths);
	for (size_t row = 0; get_row(table, row, cells); row++)
		print_row(table, out, cells, widths);
	return true;
}
