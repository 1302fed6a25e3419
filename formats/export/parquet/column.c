// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/parquet/file_internal.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/parquet/thrift_internal.h"
#include "formats/export/parquet/writer_internal.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/xxh64.h"

enum { TEXTS_MAX = 1 << 16, TEXTS_BYTES_MAX = 2 << 20, SLOTS_FIRST = 32 };
/* parquet.thrift */
enum { TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6 };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3, CONVERTED_UINT_8 = 11, CONVERTED_INT_8 = 15, CONVERTED_JSON = 19 };
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3, LOGICAL_INTEGER = 10, LOGICAL_JSON = 12 };
enum { BOUND_MAX = 1024 };
enum { REPETITION_REQUIRED = 0, REPETITION_OPTIONAL = 1, REPETITION_REPEATED = 2 };

/* Definition levels of the entries of a list; LEVEL_BITS: their size. */
enum { LEVEL_NULL, LEVEL_EMPTY, LEVEL_ELEMENT, LEVEL_BITS = 2 };

static size_t width_of(const struct column_shape *shape)
{
	return !column_is_text(shape) && shape->bits == 64 ? 8 : 4;
}

static uint64_t order_of(const struct parquet_column *column, uint64_t value)
{
	return column->shape.is_signed ? value ^ UINT64_C(1) << 63 : value;
}

static bool mark(struct parquet_column *column, bool present, size_t row)
{
	char byte = present;

	if (present && !column->nulls)
		return true;
	if (!column->nulls) {
		if (!buf_reserve(&column->present, row + 1))
			return false;
		memset(column->present.data, 1, row);
		column->present.len = row;
	}
	column->nulls += !present;
	return buf_add(&column->present, &byte, 1);
}

bool parquet_column_integer(struct parquet_column *column, uint64_t value, size_t row, size_t *bytes)
{
	size_t width = width_of(&column->shape);
	uint32_t low = htole32((uint32_t)value);
	uint64_t whole = htole64(value);

	if (!column->values.len)
		column->least = column->most = value;
	if (order_of(column, value) < order_of(column, column->least))
		column->least = value;
	if (order_of(column, value) > order_of(column, column->most))
		column->most = value;
	*bytes += width;
	if (column->shape.form == COLUMN_INTEGER && !mark(column, true, row))
		return false;
	return buf_add(&column->values, width == 8 ? (const void *)&whole : &low, width);
}

static const char *text_at(const struct parquet_column *column, uint32_t number, uint32_t *ret_len)
{
	uint32_t offset;

	memcpy(&offset, column->offsets.data + (size_t)number * sizeof(offset), sizeof(offset));
	memcpy(ret_len, column->texts.data + offset, sizeof(*ret_len));
	*ret_len = le32toh(*ret_len);
	return column->texts.data + offset + sizeof(*ret_len);
}

/* The slot of a text, or the free one where it belongs. */
static uint32_t *slot_of(const struct parquet_column *column, const char *text, size_t len)
{
	size_t at = (size_t)xxh64(text, len) & (column->nr_slots - 1);

	for (; column->slots[at]; at = (at + 1) & (column->nr_slots - 1)) {
		uint32_t has_len;
		const char *has = text_at(column, column->slots[at] - 1, &has_len);

		if (has_len == len && !memcmp(has, text, len))
			break;
	}
	return &column->slots[at];
}

/* A table at most half full. */
static bool make_slots(struct parquet_column *column)
{
	size_t nr = column->nr_slots ? 2 * column->nr_slots : SLOTS_FIRST;
	uint32_t *slots;

	if (2 * (size_t)column->nr_texts < column->nr_slots)
		return true;
	slots = calloc(nr, sizeof(*slots));
	if (!slots)
		return false;
	free(column->slots);
	column->slots = slots;
	column->nr_slots = nr;
	for (uint32_t i = 0; i < column->nr_texts; i++) {
		uint32_t len;
		const char *text = text_at(column, i, &len);

		*slot_of(column, text, len) = i + 1;
	}
	return true;
}

static bool add_text(struct parquet_column *column, const char *text, size_t len, uint32_t *slot)
{
	uint32_t offset = (uint32_t)column->texts.len, stored = htole32((uint32_t)len);

	if (!buf_add(&column->texts, &stored, sizeof(stored)) || !buf_add(&column->texts, text, len) ||
	    !buf_add(&column->offsets, &offset, sizeof(offset)))
		return false;
	*slot = ++column->nr_texts;
	return true;
}

bool parquet_column_text(struct parquet_column *column, const char *text, size_t len, size_t row, size_t *bytes,
			 struct out *scratch)
{
	uint32_t number, *slot;

	len = len > PARQUET_TEXT_MAX ? PARQUET_TEXT_MAX : len;
	text = column_utf8(text, &len, scratch);
	if (scratch->failed || !make_slots(column))
		return false;
	slot = slot_of(column, text, len);
	if (!*slot) {
		if (!add_text(column, text, len, slot))
			return false;
		*bytes += len + 4 * sizeof(number);
	}
	number = *slot - 1;
	*bytes += sizeof(number);
	return mark(column, true, row) && buf_add(&column->values, &number, sizeof(number));
}

bool parquet_column_list(struct parquet_column *column, uint32_t nr, size_t *bytes)
{
	nr++;
	*bytes += sizeof(nr);
	return buf_add(&column->counts, &nr, sizeof(nr));
}

bool parquet_column_null(struct parquet_column *column, size_t row)
{
	uint32_t none = 0;

	if (column->shape.form == COLUMN_LIST)
		return column->nulls++, buf_add(&column->counts, &none, sizeof(none));
	return mark(column, false, row);
}

struct text_word parquet_column_word(const struct parquet_column *column, uint32_t number)
{
	uint32_t len;
	struct text_word word = { .at = text_at(column, number, &len) };

	word.len = len;
	return word;
}

bool parquet_column_is_full(const struct parquet_column *column)
{
	return column->nr_texts >= TEXTS_MAX || column->texts.len >= TEXTS_BYTES_MAX;
}

void parquet_column_clear(struct parquet_column *column)
{
	struct column_shape shape = column->shape;

	buf_release(&column->values);
	buf_release(&column->present);
	buf_release(&column->counts);
	buf_release(&column->texts);
	buf_release(&column->offsets);
	free(column->slots);
	*column = (struct parquet_column){ .shape = shape };
}

/* Writes writer->levels after their length. */
static void put_length_and_levels(struct parquet_writer *writer, size_t nr, unsigned width)
{
	size_t start = out_len(&writer->page);
	uint32_t len = 0;

	out_mem(&writer->page, &len, sizeof(len));
	parquet_writer_numbers(writer, writer->levels, nr, width);
	if (writer->page.failed)
		return;
	len = htole32((uint32_t)(out_len(&writer->page) - start - sizeof(len)));
	memcpy(writer->page.start + start, &len, sizeof(len));
}

/* Writes one bit for each of `nr` rows: 1 if it is not null. Returns the number of rows that are not null. */
static size_t put_levels(const struct parquet_column *column, size_t from, size_t nr, struct parquet_writer *writer)
{
	size_t present = 0;

	for (size_t i = 0; i < nr; i++) {
		writer->levels[i] = column->nulls ? (uint8_t)column->present.data[from + i] : 1;
		present += writer->levels[i];
	}
	put_length_and_levels(writer, nr, 1);
	return present;
}

static unsigned bits_of(uint32_t nr)
{
	return nr < 2 ? 1 : 32 - (unsigned)__builtin_clz(nr - 1);
}

static void put_values(const struct parquet_column *column, const char *at, size_t nr, struct parquet_writer *writer)
{
	if (!column_is_text(&column->shape)) {
		out_mem(&writer->page, at, nr * width_of(&column->shape));
		return;
	}
	memcpy(writer->levels, at, nr * sizeof(*writer->levels));
	out_char(&writer->page, (char)bits_of(column->nr_texts));
	parquet_writer_numbers(writer, writer->levels, nr, bits_of(column->nr_texts));
}

/*
 * The position at which a page of a list column begins: an element of a row, because one row may fill more than a page.
 */
struct list_at {
	size_t row;
	uint32_t element;
};

/*
 * Fills the levels of a page's entries: whether an entry continues a row's list, and its definition level. Returns the
 * number of entries.
 */
static size_t fill_levels(const struct parquet_column *column, size_t rows, bool repeats, struct list_at *at,
			  struct parquet_writer *writer)
{
	size_t nr = 0;

	while (at->row < rows && nr < PARQUET_PAGE_ROWS) {
		uint32_t count;

		memcpy(&count, column->counts.data + at->row * sizeof(count), sizeof(count));
		if (count <= 1) {
			writer->levels[nr++] = repeats ? 0 : count ? LEVEL_EMPTY : LEVEL_NULL;
			at->row++;
			continue;
		}
		for (; at->element < count - 1 && nr < PARQUET_PAGE_ROWS; at->element++)
			writer->levels[nr++] = repeats ? at->element > 0 : LEVEL_ELEMENT;
		if (at->element == count - 1) {
			at->element = 0;
			at->row++;
		}
	}
	return nr;
}

/* Writes the data pages of a list column; *ret_entries is the number of their levels. */
static uint64_t put_list_pages(const struct parquet_column *column, size_t rows, struct parquet_writer *writer,
			       size_t *ret_entries)
{
	struct list_at at = { .row = 0 };
	const char *values = column->values.data;
	uint64_t plain = 0;

	for (*ret_entries = 0; at.row < rows;) {
		struct list_at start = at;
		size_t nr = fill_levels(column, rows, true, &at, writer), present = 0;

		put_length_and_levels(writer, nr, 1);
		at = start;
		fill_levels(column, rows, false, &at, writer);
		for (size_t i = 0; i < nr; i++)
			present += writer->levels[i] == LEVEL_ELEMENT;
		put_length_and_levels(writer, nr, LEVEL_BITS);
		if (present)
			put_values(column, values, present, writer);
		values += present ? present * width_of(&column->shape) : 0;
		plain += parquet_writer_page(writer, PARQUET_PAGE_DATA, PARQUET_PLAIN, nr);
		*ret_entries += nr;
	}
	return plain;
}

/* Writes all data pages; returns their bytes before compression. */
static uint64_t put_pages(const struct parquet_column *column, size_t rows, struct parquet_writer *writer)
{
	bool texts = column_is_text(&column->shape);
	const char *at = column->values.data;
	uint64_t plain = 0;

	for (size_t from = 0; from < rows; from += writer->page_rows) {
		size_t nr = rows - from < writer->page_rows ? rows - from : writer->page_rows;
		size_t present = column->shape.optional ? put_levels(column, from, nr, writer) : nr;

		/* A column without a value may have no memory. */
		if (present) {
			put_values(column, at, present, writer);
			at += present * width_of(&column->shape);
		} else if (texts) {
			out_char(&writer->page, 1);
		}
		plain += parquet_writer_page(writer, PARQUET_PAGE_DATA, texts ? PARQUET_RLE_DICTIONARY : PARQUET_PLAIN,
					     nr);
	}
	return plain;
}

/* Writes the largest and the smallest text, so that readers skip row groups. Long ones would fill the footer. */
static void put_text_bounds(const struct parquet_column *column, struct thrift *statistics)
{
	struct text_word least = { .at = NULL }, most = { .at = NULL };

	for (uint32_t i = 0; i < column->nr_texts; i++) {
		struct text_word text = parquet_column_word(column, i);

		if (!i || text_word_compare(text, least) < 0)
			least = text;
		if (!i || text_word_compare(most, text) < 0)
			most = text;
	}
	if (!column->nr_texts || least.len > BOUND_MAX || most.len > BOUND_MAX)
		return;
	thrift_binary(statistics, 5, most.at, most.len);
	thrift_binary(statistics, 6, least.at, least.len);
}

/* Writes statistics: the number of nulls, and for integers and texts the largest and the smallest. */
static void put_statistics(const struct parquet_column *column, struct thrift *thrift)
{
	struct thrift inner = thrift_struct(thrift, 12);
	size_t width = width_of(&column->shape);
	uint64_t most = htole64(column->most), least = htole64(column->least);

	thrift_i64(&inner, 3, (int64_t)column->nulls);
	if (column->shape.form == COLUMN_INTEGER && column->values.len) {
		thrift_binary(&inner, 5, &most, width);
		thrift_binary(&inner, 6, &least, width);
	}
	if (column_is_text(&column->shape))
		put_text_bounds(column, &inner);
	thrift_end(&inner);
}

int parquet_column_type(const struct column_shape *shape)
{
	if (column_is_text(shape))
		return TYPE_BYTE_ARRAY;
	return shape->bits == 64 ? TYPE_INT64 : TYPE_INT32;
}

/* Writes ColumnMetaData; its values are also nulls and entries of lists. A chunk begins with its dictionary. */
static void put_meta(const struct parquet_column *column, const struct parquet_chunk *chunk, uint64_t offset,
		     struct thrift *thrift)
{
	bool texts = column_is_text(&column->shape), list = column->shape.form == COLUMN_LIST;
	struct thrift meta = thrift_struct(thrift, 3);

	thrift_i32(&meta, 1, parquet_column_type(&column->shape));
	thrift_list(&meta, 2, THRIFT_I32, texts ? 3 : 2);
	thrift_zigzag(meta.out, PARQUET_PLAIN);
	thrift_zigzag(meta.out, PARQUET_RLE);
	if (texts)
		thrift_zigzag(meta.out, PARQUET_RLE_DICTIONARY);
	thrift_list(&meta, 3, THRIFT_BINARY, list ? 3 : 1);
	thrift_bytes(meta.out, column->shape.name, strlen(column->shape.name));
	if (list) {
		thrift_bytes(meta.out, "list", 4);
		thrift_bytes(meta.out, "element", 7);
	}
	thrift_i32(&meta, 4, PARQUET_CODEC_ZSTD);
	thrift_i64(&meta, 5, (int64_t)chunk->entries);
	thrift_i64(&meta, 6, (int64_t)chunk->plain);
	thrift_i64(&meta, 7, (int64_t)chunk->packed);
	thrift_i64(&meta, 9, (int64_t)(offset + chunk->pages));
	if (texts)
		thrift_i64(&meta, 11, (int64_t)(offset + chunk->start));
	put_statistics(column, &meta);
	thrift_end(&meta);
}

void parquet_column_pages(const struct parquet_column *column, size_t rows, struct parquet_writer *writer,
			  struct parquet_chunk *ret)
{
	*ret = (struct parquet_chunk){ .start = out_len(&writer->group), .entries = rows };
	if (column_is_text(&column->shape)) {
		if (column->texts.len)
			out_mem(&writer->page, column->texts.data, column->texts.len);
		ret->plain = parquet_writer_page(writer, PARQUET_PAGE_DICTIONARY, PARQUET_PLAIN, column->nr_texts);
	}
	ret->pages = out_len(&writer->group);
	if (column->shape.form == COLUMN_LIST)
		ret->plain += put_list_pages(column, rows, writer, &ret->entries);
	else
		ret->plain += put_pages(column, rows, writer);
	ret->packed = out_len(&writer->group) - ret->start;
}

void parquet_column_meta(const struct parquet_column *column, const struct parquet_chunk *chunk, uint64_t offset,
			 struct out *meta)
{
	struct thrift thrift = { .out = meta };

	thrift_i64(&thrift, 2, (int64_t)(offset + chunk->start));
	put_meta(column, chunk, offset, &thrift);
	thrift_end(&thrift);
}

static int converted_type(const struct column_shape *shape)
{
	if (column_is_text(shape))
		return shape->form == COLUMN_JSON ? CONVERTED_JSON : CONVERTED_UTF8;
	return (shape->is_signed ? CONVERTED_INT_8 : CONVERTED_UINT_8) + (shape->bits > 32 ? 3 : shape->bits / 16);
}

/* LogicalType, a union: a structure with one field. */
static void put_logical(const struct column_shape *shape, struct thrift *element)
{
	struct thrift one = thrift_struct(element, 10);
	struct thrift inner;

	if (column_is_text(shape)) {
		inner = thrift_struct(&one, shape->form == COLUMN_JSON ? LOGICAL_JSON : LOGICAL_STRING);
	} else {
		inner = thrift_struct(&one, LOGICAL_INTEGER);
		thrift_field(&inner, 1, THRIFT_I8);
		out_char(inner.out, (char)shape->bits);
		thrift_field(&inner, 2, shape->is_signed ? THRIFT_TRUE : THRIFT_FALSE);
	}
	thrift_end(&inner);
	thrift_end(&one);
}

/* The two groups around the integers of a list: "optional group NAME (LIST)" and "repeated group list". */
static void put_groups(const struct column_shape *shape, struct out *out)
{
	struct thrift outer = { .out = out }, repeated = { .out = out }, one, inner;

	thrift_i32(&outer, 3, REPETITION_OPTIONAL);
	thrift_text(&outer, 4, shape->name);
	thrift_i32(&outer, 5, 1);
	thrift_i32(&outer, 6, CONVERTED_LIST);
	one = thrift_struct(&outer, 10);
	inner = thrift_struct(&one, LOGICAL_LIST);
	thrift_end(&inner);
	thrift_end(&one);
	thrift_end(&outer);
	thrift_i32(&repeated, 3, REPETITION_REPEATED);
	thrift_text(&repeated, 4, "list");
	thrift_i32(&repeated, 5, 1);
	thrift_end(&repeated);
}

size_t parquet_column_elements(const struct column_shape *shape)
{
	return shape->form == COLUMN_LIST ? 3 : 1;
}

void parquet_column_schema(const struct column_shape *shape, struct out *out)
{
	struct thrift element = { .out = out };
	bool list = shape->form == COLUMN_LIST;

	if (list)
		put_groups(shape, out);
	thrift_i32(&element, 1, parquet_column_type(shape));
	thrift_i32(&element, 3, !list && shape->optional ? REPETITION_OPTIONAL : REPETITION_REQUIRED);
	thrift_text(&element, 4, list ? "element" : shape->name);
	thrift_i32(&element, 6, converted_type(shape));
	put_logical(shape, &element);
	thrift_end(&element);
}
