// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/table.h"
#include "lib/base/table_item.h"

#include "lib/base/cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int table_column_named(const struct table *table, const char *name)
{
	char text[TABLE_KEY_SIZE];

	for (size_t i = 0; i < table->nr_columns; i++)
		if (!strcasecmp(table->columns[i].title, name) ||
		    !strcasecmp(table_key(&table->columns[i], i, text), name))
			return (int)i;
	return -1;
}

struct row {
	struct table_item item; /* the cell in the sorted column */
	size_t index;
	bool nothing, text;
};

static int compare_numbers(const struct row *a, const struct row *b)
{
	bool is_signed = a->item.value != VALUE_U64 || b->item.value != VALUE_U64;

	if (is_signed && ((int64_t)a->item.number < 0 || (int64_t)b->item.number < 0))
		return (int64_t)a->item.number < (int64_t)b->item.number ? 1 :
		       (int64_t)a->item.number > (int64_t)b->item.number ? -1 :
									   0;
	return a->item.number < b->item.number ? 1 : a->item.number > b->item.number ? -1 : 0;
}

static int compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int r;

	if (a->nothing != b->nothing)
		return a->nothing ? 1 : -1;
	if (a->text || b->text)
		r = a->text && b->text ? strcmp(a->item.text, b->item.text) : a->text - b->text;
	else
		r = compare_numbers(a, b);
	return r ? r : a->index < b->index ? -1 : 1;
}

bool table_sort(struct table *table, size_t column)
{
	size_t nr_rows = table_rows(table), width = table->nr_columns;
	cleanup_free struct row *rows = calloc(nr_rows + 1, sizeof(*rows));
	cleanup_free struct table_stored *before = calloc(table->nr_items + 1, sizeof(*before));

	if (!rows || !before || nr_rows * width != table->nr_items)
		return false;
	for (size_t i = 0; i < nr_rows; i++) {
		struct table_item item = table_item_at(table, i, column);

		rows[i] = (struct row){ item, i, table_is_nothing(&table->columns[column], &item),
					item.value == VALUE_TEXT };
	}
	qsort(rows, nr_rows, sizeof(*rows), compare);
	if (nr_rows)
		memcpy(before, table->items, table->nr_items * sizeof(*before));
	for (size_t i = 0; i < nr_rows; i++)
		memcpy(table->items + i * width, before + rows[i].index * width, width * sizeof(*before));
	return true;
}

size_t table_keep(struct table *table, size_t rows)
{
	size_t nr_rows = table_rows(table);

	if (nr_rows <= rows)
		return 0;
	while (table->nr_items > rows * table->nr_columns)
		table_stored_release(&table->items[--table->nr_items]);
	return nr_rows - rows;
}
