// SPDX-License-Identifier: LGPL-2.1-or-later
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/parquet/file_internal.h"
#include "lib/ground/base/text.h"

enum { KEYS = PARQUET_SORT_MAX + 1 };

/* What a row is compared by: the span of time, then the columns. */
struct key {
	int64_t at[KEYS];
	uint32_t row;
};

static int compare(const void *one, const void *other)
{
	const struct key *a = one, *b = other;

	for (size_t i = 0; i < KEYS; i++)
		if (a->at[i] != b->at[i])
			return a->at[i] < b->at[i] ? -1 : 1;
	/* The order is that of the rows where all else is the same. */
	return a->row < b->row ? -1 : a->row > b->row;
}

static int compare_texts(const void *one, const void *other, void *arg)
{
	const struct parquet_column *column = arg;

	return text_word_compare(parquet_column_word(column, *(const uint32_t *)one),
				 parquet_column_word(column, *(const uint32_t *)other));
}

/* The place of each text of the dictionary among all in their order. */
static uint32_t *rank_texts(const struct parquet_column *column)
{
	uint32_t *ranks = calloc(column->nr_texts + 1, sizeof(*ranks));
	cleanup_free uint32_t *order = calloc(column->nr_texts + 1, sizeof(*order));

	if (!ranks || !order) {
		free(ranks);
		return NULL;
	}
	for (uint32_t i = 0; i < column->nr_texts; i++)
		order[i] = i;
	qsort_r(order, column->nr_texts, sizeof(*order), compare_texts, (void *)(uintptr_t)column);
	for (uint32_t i = 0; i < column->nr_texts; i++)
		ranks[order[i]] = i;
	return ranks;
}

static size_t size_of(const struct parquet_column *column)
{
	return !column_is_text(&column->shape) && column->shape.bits == 64 ? sizeof(uint64_t) : sizeof(uint32_t);
}

static bool is_null(const struct parquet_column *column, size_t row)
{
	return column->nulls && !column->present.data[row];
}

static int64_t number_at(const struct parquet_column *column, const char *at)
{
	uint64_t whole;
	uint32_t low;

	if (size_of(column) == sizeof(whole)) {
		memcpy(&whole, at, sizeof(whole));
		return (int64_t)le64toh(whole);
	}
	memcpy(&low, at, sizeof(low));
	return (int32_t)le32toh(low);
}

static bool fill_keys(struct key *keys, size_t at, const struct parquet_column *column, size_t rows)
{
	cleanup_free uint32_t *ranks = column_is_text(&column->shape) ? rank_texts(column) : NULL;
	const char *value = column->values.data;
	uint32_t number;

	if (column_is_text(&column->shape) && !ranks)
		return false;
	for (size_t row = 0; row < rows; row++) {
		keys[row].row = (uint32_t)row;
		keys[row].at[at] = INT64_MIN;
		if (is_null(column, row))
			continue;
		if (ranks) {
			memcpy(&number, value, sizeof(number));
			keys[row].at[at] = ranks[number];
		} else {
			keys[row].at[at] = number_at(column, value);
		}
		value += size_of(column);
	}
	return true;
}

int64_t parquet_sort_span(const struct parquet_sort *sort, int64_t at)
{
	return at == INT64_MIN ? at : at / sort->span - (at % sort->span < 0);
}

/* Moves the column's values into the order of the keys. */
static bool arrange(struct parquet_column *column, const struct key *keys, size_t rows)
{
	size_t size = size_of(column);
	cleanup_buf struct buf values = BUF_INIT, present = BUF_INIT;
	cleanup_free uint32_t *places = column->nulls ? calloc(rows, sizeof(*places)) : NULL;
	struct buf was;
	uint32_t place = 0;

	if (!buf_reserve(&values, column->values.len + 1) || (column->nulls && !places) ||
	    (column->nulls && !buf_reserve(&present, rows)))
		return false;
	for (size_t i = 0; places && i < rows; i++)
		places[i] = is_null(column, i) ? 0 : place++;
	for (size_t i = 0; i < rows; i++) {
		uint32_t row = keys[i].row;
		bool null = is_null(column, row);

		if (places)
			present.data[present.len++] = !null;
		if (null)
			continue;
		memcpy(values.data + values.len, column->values.data + (places ? places[row] : row) * size, size);
		values.len += size;
	}
	was = column->values;
	column->values = values;
	values = was;
	if (!places)
		return true;
	was = column->present;
	column->present = present;
	present = was;
	return true;
}

static bool is_in_order(const struct key *keys, size_t rows)
{
	for (size_t i = 1; i < rows; i++)
		if (compare(&keys[i - 1], &keys[i]) > 0)
			return false;
	return true;
}

bool parquet_columns_sort(struct parquet_column *columns, size_t nr, size_t rows, const struct parquet_sort *sort,
			  bool *ret_sorted)
{
	cleanup_free struct key *keys = calloc(rows + 1, sizeof(*keys));
	bool ok = keys;

	for (size_t i = 0; ok && i < sort->nr; i++)
		ok = fill_keys(keys, i + 1, &columns[sort->by[i]], rows);
	for (size_t i = 0; ok && i < rows; i++)
		keys[i].at[0] = parquet_sort_span(sort, keys[i].at[sort->time + 1]);
	if (ok && !is_in_order(keys, rows)) {
		qsort(keys, rows, sizeof(*keys), compare);
		for (size_t i = 0; ok && i < nr; i++)
			ok = arrange(&columns[i], keys, rows);
	}
	*ret_sorted = ok && rows && keys[0].at[0] == keys[rows - 1].at[0];
	return ok;
}
