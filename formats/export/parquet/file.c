// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/parquet/file_internal.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/parquet/thrift_internal.h"
#include "formats/export/parquet/writer_internal.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/xxh64.h"

enum { ROWS_MAX = 1 << 20, BYTES_MAX = 8 << 20, SORTED_BYTES_MAX = 16 << 20, GROUPS_SIZE_FIRST = 256 };

static const char magic[] = PARQUET_MAGIC;

bool parquet_file_init(struct parquet_file *file, const struct column_shape *shapes, size_t nr)
{
	*file = (struct parquet_file){ .columns = calloc(nr, sizeof(*file->columns)), .nr_columns = nr };
	if (!file->columns || !out_init(&file->groups, GROUPS_SIZE_FIRST)) {
		free(file->columns);
		return false;
	}
	for (size_t i = 0; i < nr; i++)
		file->columns[i].shape = shapes[i];
	return true;
}

void parquet_file_release(struct parquet_file *file)
{
	for (size_t i = 0; i < file->nr_columns; i++)
		parquet_column_clear(&file->columns[i]);
	free(file->columns);
	out_release(&file->groups);
}

void parquet_file_integer(struct parquet_file *file, size_t column, uint64_t value)
{
	file->starved |= !parquet_column_integer(&file->columns[column], value, file->rows, &file->bytes);
}

void parquet_file_text(struct parquet_file *file, size_t column, const char *text, size_t len, struct out *scratch)
{
	file->starved |= !parquet_column_text(&file->columns[column], text, len, file->rows, &file->bytes, scratch);
}

void parquet_file_list(struct parquet_file *file, size_t column, uint32_t nr)
{
	file->starved |= !parquet_column_list(&file->columns[column], nr, &file->bytes);
}

void parquet_file_null(struct parquet_file *file, size_t column)
{
	file->starved |= !parquet_column_null(&file->columns[column], file->rows);
}

void parquet_file_row(struct parquet_file *file)
{
	file->rows++;
	file->bytes++;
}

bool parquet_file_is_full(const struct parquet_file *file)
{
	if (file->rows >= ROWS_MAX || file->bytes >= (file->sort.nr ? SORTED_BYTES_MAX : BYTES_MAX))
		return true;
	for (size_t i = 0; i < file->nr_columns; i++)
		if (parquet_column_is_full(&file->columns[i]))
			return true;
	return false;
}

static void put(const struct parquet_file *file, struct out *folder, const void *bytes, size_t len)
{
	if (!len)
		return;
	if (!file->bare)
		folder_piece(folder, file->name, len);
	out_mem(folder, bytes, len);
}

static void open_file(struct parquet_file *file, struct out *folder)
{
	if (file->offset)
		return;
	put(file, folder, magic, strlen(magic));
	file->offset = strlen(magic);
}

static void press(struct pool_job *job)
{
	struct parquet_group *group = (struct parquet_group *)job;

	if (group->file->sort.nr)
		group->starved = !parquet_columns_sort(group->columns, group->file->nr_columns, group->rows,
						       &group->file->sort, &group->sorted);
	/* Of sorted groups, several are read at once. */
	group->writer->page_rows = group->file->sort.nr ? PARQUET_SORTED_PAGE_ROWS : PARQUET_PAGE_ROWS;
	for (size_t i = 0; i < group->file->nr_columns; i++)
		parquet_column_pages(&group->columns[i], group->rows, group->writer, &group->chunks[i]);
}

bool parquet_group_take(struct parquet_group *group, struct parquet_file *file)
{
	size_t nr = file->nr_columns;

	if (!file->rows || file->starved)
		return false;
	group->columns = calloc(nr, sizeof(*group->columns));
	group->chunks = calloc(nr, sizeof(*group->chunks));
	if (!group->columns || !group->chunks) {
		free(group->columns);
		free(group->chunks);
		file->starved = true;
		return false;
	}
	for (size_t i = 0; i < nr; i++) {
		group->columns[i] = file->columns[i];
		file->columns[i] = (struct parquet_column){ .shape = group->columns[i].shape };
	}
	group->file = file;
	group->rows = file->rows;
	group->sorted = group->starved = false;
	group->job = (struct pool_job){ .run = press };
	file->rows = file->bytes = 0;
	return true;
}

/* SortingColumn of each: its place, not descending, nulls first. */
static void put_sorting(const struct parquet_sort *sort, struct thrift *thrift)
{
	thrift_list(thrift, 4, THRIFT_STRUCT, sort->nr);
	for (size_t i = 0; i < sort->nr; i++) {
		struct thrift one = { .out = thrift->out };

		thrift_i32(&one, 1, (int32_t)sort->by[i]);
		thrift_field(&one, 2, THRIFT_FALSE);
		thrift_field(&one, 3, THRIFT_TRUE);
		thrift_end(&one);
	}
}

static void put_meta(struct parquet_group *group)
{
	struct parquet_file *file = group->file;
	struct thrift thrift = { .out = &file->groups };
	uint64_t plain = 0, packed = 0;

	thrift_list(&thrift, 1, THRIFT_STRUCT, file->nr_columns);
	for (size_t i = 0; i < file->nr_columns; i++) {
		parquet_column_meta(&group->columns[i], &group->chunks[i], file->offset, &file->groups);
		plain += group->chunks[i].plain;
		packed += group->chunks[i].packed;
	}
	thrift_i64(&thrift, 2, (int64_t)plain);
	thrift_i64(&thrift, 3, (int64_t)group->rows);
	if (group->sorted)
		put_sorting(&file->sort, &thrift);
	thrift_i64(&thrift, 5, (int64_t)file->offset);
	thrift_i64(&thrift, 6, (int64_t)packed);
	thrift_end(&thrift);
}

void parquet_group_put(struct parquet_group *group, struct out *folder)
{
	struct parquet_file *file = group->file;
	struct out *pages = &group->writer->group;

	open_file(file, folder);
	put_meta(group);
	put(file, folder, pages->start, out_len(pages));
	file->starved |= file->groups.failed || pages->failed || group->starved;
	file->offset += out_len(pages);
	out_clear(pages);
	file->all_rows += group->rows;
	file->nr_groups++;
	parquet_group_drop(group);
}

void parquet_group_drop(struct parquet_group *group)
{
	for (size_t i = 0; i < group->file->nr_columns; i++)
		parquet_column_clear(&group->columns[i]);
	free(group->columns);
	free(group->chunks);
	group->file = NULL;
}

static void put_schema(const struct parquet_file *file, struct thrift *meta)
{
	struct thrift root = { .out = meta->out };
	size_t elements = 1;

	for (size_t i = 0; i < file->nr_columns; i++)
		elements += parquet_column_elements(&file->columns[i].shape);
	thrift_list(meta, 2, THRIFT_STRUCT, elements);
	thrift_text(&root, 4, "schema");
	thrift_i32(&root, 5, (int32_t)file->nr_columns);
	thrift_end(&root);
	for (size_t i = 0; i < file->nr_columns; i++)
		parquet_column_schema(&file->columns[i].shape, meta->out);
}

static void put_fact(const char *key, const char *value, struct thrift *meta)
{
	struct thrift pair = { .out = meta->out };

	thrift_text(&pair, 1, key);
	thrift_text(&pair, 2, value);
	thrift_end(&pair);
}

/* Returns where the digits of the sum stand. */
static size_t put_facts(const char *const *facts, struct thrift *meta)
{
	static const char zeros[] = "0000000000000000";
	size_t nr = 0;

	while (facts[2 * nr])
		nr++;
	thrift_list(meta, 5, THRIFT_STRUCT, nr + 1);
	for (size_t i = 0; i < nr; i++)
		put_fact(facts[2 * i], facts[2 * i + 1], meta);
	put_fact(PARQUET_SUM, zeros, meta);
	/* Behind them is the end of the pair. */
	return out_len(meta->out) - 1 - PARQUET_SUM_DIGITS;
}

static void put_sum(struct out *footer, size_t at)
{
	char digits[PARQUET_SUM_DIGITS + 1];

	if (footer->failed)
		return;
	snprintf(digits, sizeof(digits), "%016" PRIx64, xxh64(footer->start, out_len(footer)));
	memcpy(footer->start + at, digits, PARQUET_SUM_DIGITS);
}

/*
 * Readers use statistics only if the order of values is declared: TypeDefinedOrder, an empty structure in a union, for
 * each column.
 */
static void put_orders(const struct parquet_file *file, struct thrift *meta)
{
	thrift_list(meta, 7, THRIFT_STRUCT, file->nr_columns);
	for (size_t i = 0; i < file->nr_columns; i++) {
		struct thrift order = { .out = meta->out };
		struct thrift inner = thrift_struct(&order, 1);

		thrift_end(&inner);
		thrift_end(&order);
	}
}

void parquet_file_end(struct parquet_file *file, struct parquet_writer *writer, const char *const *facts,
		      struct out *folder)
{
	struct thrift meta = { .out = &writer->page };
	size_t sum;
	uint32_t len;

	open_file(file, folder);
	thrift_i32(&meta, 1, 2);
	put_schema(file, &meta);
	thrift_i64(&meta, 3, (int64_t)file->all_rows);
	thrift_list(&meta, 4, THRIFT_STRUCT, file->nr_groups);
	out_mem(meta.out, file->groups.start, out_len(&file->groups));
	sum = put_facts(facts, &meta);
	thrift_text(&meta, 6, "weft version " WEFT_VERSION);
	put_orders(file, &meta);
	thrift_end(&meta);
	put_sum(meta.out, sum);
	len = htole32((uint32_t)out_len(&writer->page));
	out_mem(&writer->page, &len, sizeof(len));
	out_mem(&writer->page, magic, strlen(magic));
	put(file, folder, writer->page.start, out_len(&writer->page));
	file->starved |= writer->page.failed;
	out_clear(&writer->page);
}
