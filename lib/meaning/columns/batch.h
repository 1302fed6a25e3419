/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_COLUMNS_BATCH_H
#define WEFT_MEANING_COLUMNS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/meaning/columns/shape.h"

struct out;

/*
 * Some rows of columns, in the layout of Apache Arrow: values side by side, a bit for each row that is not null,
 * offsets of texts and lists. Room for all rows is there from the start, so that adding a number cannot fail.
 * Invariant: texts become UTF-8; a null has the value 0.
 */
struct batch_column {
	struct column_shape shape;
	/* integers and real numbers of `bits`; of a text and a list offsets: one more than rows, of 4 bytes each */
	void *values;
	struct buf bytes; /* the texts, or the integers of the lists */
	uint8_t *valid;   /* a bit for each row; NULL as long as no row is null */
	size_t nulls;
};

struct batch {
	struct batch_column *columns;
	size_t nr_columns;
	size_t rows, rows_max;
	bool starved; /* memory ran out; stays set */
};

enum { BATCH_ROWS = 1 << 16, BATCH_ROWS_MAX = 1 << 20, BATCH_BYTES_MAX = 64 << 20 };

/* NULL without memory. Copies the shapes. */
struct batch *batch_new(const struct column_shape *shapes, size_t nr, size_t rows_max);
void batch_free(struct batch *batch);
void batch_column_release(struct batch_column *column);

/* The size of a column's element: of an integer, a real number, an integer in a list. */
static inline size_t batch_width(const struct column_shape *shape)
{
	return column_is_text(shape) ? 1 : shape->bits / 8u;
}

/* To add a row, put a value into each column, then call batch_row(). What has a wrong kind is null. */
void batch_put(struct batch *batch, size_t column, const struct column_value *value, struct out *scratch);
void batch_put_null(struct batch *batch, size_t column);

static inline void batch_put_integer(struct batch *batch, size_t column, uint64_t value)
{
	struct batch_column *into = &batch->columns[column];

	switch (into->shape.bits) {
	case 64:
		((uint64_t *)into->values)[batch->rows] = value;
		return;
	case 32:
		((uint32_t *)into->values)[batch->rows] = (uint32_t)value;
		return;
	case 16:
		((uint16_t *)into->values)[batch->rows] = (uint16_t)value;
		return;
	default:
		((uint8_t *)into->values)[batch->rows] = (uint8_t)value;
	}
}

static inline void batch_row(struct batch *batch)
{
	batch->rows++;
}

/* Whether the batch should be taken: it has all its rows, or so many bytes that offsets of 31 bits are near. */
bool batch_is_full(const struct batch *batch);

#endif
