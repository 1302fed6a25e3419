// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/api/table_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/api/api_internal.h"
#include "lib/ground/base/table.h"
#include "lib/meaning/columns/arrow.h"
#include "lib/meaning/columns/batch.h"
#include "lib/meaning/columns/shape.h"

bool api_table_init(weft_table *ret, const struct finding *finding, size_t analysis)
{
	const struct table *table = &finding->table;
	struct weft_table made = { .finding = finding, .analysis = analysis };
	char text[TABLE_KEY_SIZE];

	made.columns = calloc(table->nr_columns + 1, sizeof(*made.columns));
	if (!made.columns)
		return false;
	for (size_t i = 0; i < table->nr_columns; i++) {
		struct weft_table_column *column = &made.columns[made.nr_columns];

		if (table_flagged(table, i, TABLE_TEXT_ONLY))
			continue;
		column->at = i;
		snprintf(column->key, sizeof(column->key), "%s", table_key(&table->columns[i], i, text));
		made.nr_columns++;
	}
	*ret = made;
	return true;
}

void api_table_release(weft_table *table)
{
	free(table->columns);
}

void weft_table_info(const weft_table *table, struct weft_table_info *ret)
{
	const struct weft_table_info info = { .name = table->finding->name,
					      .title = table->finding->title,
					      .analysis = table->analysis,
					      .rows = table_rows(&table->finding->table),
					      .columns = table->nr_columns };

	api_fill(ret, &info, sizeof(info));
}

static const struct table_column *column_of(const weft_table *table, size_t column)
{
	return &table->finding->table.columns[table->columns[column].at];
}

int weft_table_column(const weft_table *table, size_t column, struct weft_column_info *ret)
{
	static const enum weft_column_kind kinds[] = { [TABLE_TEXT] = WEFT_COLUMN_TEXT,
						       [TABLE_NUMBER] = WEFT_COLUMN_NUMBER,
						       [TABLE_COUNT] = WEFT_COLUMN_COUNT,
						       [TABLE_SIZE] = WEFT_COLUMN_BYTES,
						       [TABLE_TIME] = WEFT_COLUMN_NS };
	struct weft_column_info info = { .size = 0 };

	if (column >= table->nr_columns)
		return -ERANGE;
	info.key = table->columns[column].key;
	info.title = column_of(table, column)->title;
	info.kind = kinds[column_of(table, column)->kind];
	api_fill(ret, &info, sizeof(info));
	return 0;
}

static struct weft_cell cell_of(const weft_table *table, size_t row, size_t column)
{
	struct table_item item = table_item_at(&table->finding->table, row, table->columns[column].at);
	struct weft_cell cell = { .kind = WEFT_CELL_NONE };

	if (table_is_nothing(column_of(table, column), &item))
		return cell;
	switch (item.value) {
	case VALUE_TEXT:
		cell.kind = WEFT_CELL_TEXT;
		cell.text = item.text;
		cell.text_len = item.len;
		break;
	case VALUE_U64:
		cell.kind = WEFT_CELL_U64;
		cell.u64 = item.number;
		break;
	case VALUE_S64:
	case VALUE_DECIMAL:
		cell.kind = item.value == VALUE_S64 ? WEFT_CELL_S64 : WEFT_CELL_DECIMAL;
		cell.s64 = (int64_t)item.number;
		cell.decimals = item.decimals;
		break;
	case VALUE_MOMENT:
		/* Only a time beyond 2^63 ns has a decimal less: the cell's number has a sign. */
		cell.kind = WEFT_CELL_DECIMAL;
		cell.s64 = (int64_t)(item.number > INT64_MAX ? item.number / 10 : item.number);
		cell.decimals = item.decimals - (item.number > INT64_MAX);
		break;
	case VALUE_NOTHING:
		break;
	}
	return cell;
}

int weft_table_cell(const weft_table *table, size_t row, size_t column, struct weft_cell *ret)
{
	struct weft_cell cell;

	if (column >= table->nr_columns || row >= table_rows(&table->finding->table))
		return -ERANGE;
	cell = cell_of(table, row, column);
	api_fill(ret, &cell, sizeof(cell));
	return 0;
}

/*
 * The type with room for all cells of a column: int64 if it has room, uint64 for larger numbers, double for decimals,
 * text for texts in a column of numbers.
 */
static struct column_shape shape_of(const weft_table *table, size_t column)
{
	struct column_shape shape = { .bits = 64, .is_signed = true, .optional = true };
	bool text = column_of(table, column)->kind == TABLE_TEXT, real = false, large = false, negative = false;

	for (size_t row = 0; row < table_rows(&table->finding->table); row++) {
		struct weft_cell cell = cell_of(table, row, column);

		text |= cell.kind == WEFT_CELL_TEXT;
		real |= cell.kind == WEFT_CELL_DECIMAL;
		large |= cell.kind == WEFT_CELL_U64 && cell.u64 > INT64_MAX;
		negative |= cell.kind == WEFT_CELL_S64 && cell.s64 < 0;
	}
	if (text)
		shape.form = COLUMN_OF_TEXT;
	else if (real || (large && negative))
		shape.form = COLUMN_REAL;
	else
		shape.is_signed = !large;
	snprintf(shape.name, sizeof(shape.name), "%s", table->columns[column].key);
	return shape;
}

static double real_of(const struct weft_cell *cell)
{
	double divisor = 1;

	for (unsigned i = 0; i < cell->decimals; i++)
		divisor *= 10;
	return (cell->kind == WEFT_CELL_U64 ? (double)cell->u64 : (double)cell->s64) / divisor;
}

/* A number in a column of texts is written as CSV writes it. */
static void put_text(struct batch *batch, size_t column, const weft_table *table, size_t row, struct out *text,
		     struct out *scratch)
{
	struct weft_cell cell = cell_of(table, row, column);
	struct column_value value = { .kind = VALUE_IS_TEXT, .text = cell.text, .len = cell.text_len };

	if (cell.kind != WEFT_CELL_TEXT) {
		out_clear(text);
		table_put_cell(&table->finding->table, row, table->columns[column].at, text);
		value.text = text->start;
		value.len = out_len(text);
		batch->starved |= text->failed;
	}
	batch_put(batch, column, &value, scratch);
}

static void put(struct batch *batch, size_t column, const weft_table *table, size_t row, struct out *text,
		struct out *scratch)
{
	struct weft_cell cell = cell_of(table, row, column);
	struct column_value value = { .kind = VALUE_IS_INTEGER, .number = cell.u64 };

	if (cell.kind == WEFT_CELL_NONE) {
		batch_put_null(batch, column);
	} else if (batch->columns[column].shape.form == COLUMN_OF_TEXT) {
		put_text(batch, column, table, row, text, scratch);
	} else {
		if (cell.kind == WEFT_CELL_S64)
			value.number = (uint64_t)cell.s64;
		if (batch->columns[column].shape.form == COLUMN_REAL)
			value = (struct column_value){ .kind = VALUE_IS_REAL, .real = real_of(&cell) };
		batch_put(batch, column, &value, scratch);
	}
}

static bool fill(struct batch *batch, const weft_table *table)
{
	struct out text = { .start = NULL }, scratch = { .start = NULL };
	bool ok = out_init(&text, 64) && out_init(&scratch, 64);

	for (size_t row = 0; ok && row < table_rows(&table->finding->table); row++) {
		for (size_t i = 0; i < table->nr_columns; i++)
			put(batch, i, table, row, &text, &scratch);
		batch_row(batch);
	}
	if (text.start)
		out_release(&text);
	if (scratch.start)
		out_release(&scratch);
	return ok && !batch->starved;
}

static bool make(const weft_table *table, const struct column_shape *shapes, struct ArrowSchema *schema,
		 struct ArrowArray *array)
{
	struct batch *batch = batch_new(shapes, table->nr_columns, table_rows(&table->finding->table) + 1);
	struct ArrowSchema made;

	if (!batch || !fill(batch, table) || !arrow_schema(shapes, table->nr_columns, &made)) {
		batch_free(batch);
		return false;
	}
	if (!arrow_array(batch, array)) {
		made.release(&made);
		batch_free(batch);
		return false;
	}
	*schema = made;
	return true;
}

int weft_table_arrow(const weft_table *table, struct ArrowSchema *ret_schema, struct ArrowArray *ret_array,
		     struct weft_error *error)
{
	struct column_shape *shapes = calloc(table->nr_columns + 1, sizeof(*shapes));
	struct fail fail = FAIL_INIT;
	bool ok = false;

	for (size_t i = 0; shapes && i < table->nr_columns; i++)
		shapes[i] = shape_of(table, i);
	if (shapes)
		ok = make(table, shapes, ret_schema, ret_array);
	free(shapes);
	return ok ? 0 : api_result(error, fail_memory(&fail), &fail);
}
