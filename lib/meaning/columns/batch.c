// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/columns/batch.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/out.h"

static bool has_offsets(const struct column_shape *shape)
{
	return column_is_text(shape) || shape->form == COLUMN_LIST;
}

void batch_column_release(struct batch_column *column)
{
	free(column->values);
	free(column->valid);
	buf_release(&column->bytes);
}

void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	for (size_t i = 0; batch->columns && i < batch->nr_columns; i++)
		batch_column_release(&batch->columns[i]);
	free(batch->columns);
	free(batch);
}

static bool column_init(struct batch_column *column, const struct column_shape *shape, size_t rows)
{
	size_t width = has_offsets(shape) ? sizeof(uint32_t) : batch_width(shape);

	column->shape = *shape;
	/* Not cleared: each row writes its value, or zeros. Pages that no row reaches are never touched. */
	column->values = rows < SIZE_MAX ? reallocarray(NULL, rows + 1, width) : NULL;
	if (column->values)
		memset(column->values, 0, width);
	/* A column without a byte still has a pointer, because some readers ask for one. */
	return column->values && buf_reserve(&column->bytes, 1);
}

struct batch *batch_new(const struct column_shape *shapes, size_t nr, size_t rows_max)
{
	struct batch *batch = calloc(1, sizeof(*batch));
	bool ok;

	if (!batch)
		return NULL;
	batch->columns = calloc(nr + 1, sizeof(*batch->columns));
	batch->nr_columns = nr;
	batch->rows_max = rows_max;
	ok = batch->columns;
	for (size_t i = 0; ok && i < nr; i++)
		ok = column_init(&batch->columns[i], &shapes[i], rows_max);
	if (ok)
		return batch;
	batch_free(batch);
	return NULL;
}

/* The end of the last text or list of a row is where that of the next one begins. */
static void end_offset(struct batch *batch, struct batch_column *column)
{
	if (has_offsets(&column->shape))
		((uint32_t *)column->values)[batch->rows + 1] =
			(uint32_t)(column->bytes.len / batch_width(&column->shape));
}

void batch_put_null(struct batch *batch, size_t index)
{
	struct batch_column *column = &batch->columns[index];

	if (!column->valid) {
		column->valid = malloc(batch->rows_max / 8 + 1);
		if (!column->valid) {
			batch->starved = true;
			return;
		}
		memset(column->valid, 0xff, batch->rows_max / 8 + 1);
	}
	column->valid[batch->rows / 8] &= (uint8_t) ~(1u << batch->rows % 8);
	column->nulls++;
	if (has_offsets(&column->shape))
		end_offset(batch, column);
	else
		batch_put_integer(batch, index, 0);
}

static void put_text(struct batch *batch, struct batch_column *column, const struct column_value *value,
		     struct out *scratch)
{
	size_t len = value->len;
	const char *text = column_utf8(value->text, &len, scratch);

	batch->starved |= scratch->failed || !buf_add(&column->bytes, text, len);
	end_offset(batch, column);
}

static void put_list(struct batch *batch, struct batch_column *column, const struct column_value *value)
{
	size_t width = batch_width(&column->shape);

	if (!buf_reserve(&column->bytes, value->len * width + 1)) {
		batch->starved = true;
		return;
	}
	for (size_t i = 0; i < value->len; i++) {
		/* The lower bytes of the number, whichever the order of this machine's bytes. */
		const union {
			uint64_t u64;
			uint32_t u32;
			uint16_t u16;
			uint8_t u8;
		} low = width == 8 ? (__typeof__(low)){ .u64 = value->list[i] } :
			width == 4 ? (__typeof__(low)){ .u32 = (uint32_t)value->list[i] } :
			width == 2 ? (__typeof__(low)){ .u16 = (uint16_t)value->list[i] } :
				     (__typeof__(low)){ .u8 = (uint8_t)value->list[i] };

		memcpy(column->bytes.data + column->bytes.len, &low, width);
		column->bytes.len += width;
	}
	end_offset(batch, column);
}

void batch_put(struct batch *batch, size_t index, const struct column_value *value, struct out *scratch)
{
	struct batch_column *column = &batch->columns[index];

	if (value->kind == VALUE_IS_INTEGER && column->shape.form == COLUMN_INTEGER)
		batch_put_integer(batch, index, value->number);
	else if (value->kind == VALUE_IS_TEXT && column_is_text(&column->shape))
		put_text(batch, column, value, scratch);
	else if (value->kind == VALUE_IS_LIST && column->shape.form == COLUMN_LIST)
		put_list(batch, column, value);
	else if (value->kind == VALUE_IS_REAL && column->shape.form == COLUMN_REAL)
		((double *)column->values)[batch->rows] = value->real;
	else
		batch_put_null(batch, index);
}

bool batch_is_full(const struct batch *batch)
{
	if (batch->rows == batch->rows_max)
		return true;
	for (size_t i = 0; i < batch->nr_columns; i++)
		if (batch->columns[i].bytes.len >= BATCH_BYTES_MAX)
			return true;
	return false;
}
