// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/parquet/read_internal.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/parquet/thrift_internal.h"
#include "formats/export/parquet/thrift_read_internal.h"
#include "formats/export/parquet/writer_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/pages/codec/frame.h"

/* HEADER_MAX: weft's page headers have no statistics. */
enum { HEADER_MAX = 128, TEXTS_MAX = 1 << 17 };

static int damaged(const struct parquet_column_at *column, const char *what, struct fail *fail)
{
	return fail_set(fail, -EBADMSG, "its column %s is damaged: %s", column->shape.name, what);
}

int parquet_pages_init(struct parquet_pages *pages, struct fail *fail)
{
	*pages = (struct parquet_pages){ .frames = NULL };
	return frame_reader_new(&pages->frames, fail);
}

void parquet_pages_release(struct parquet_pages *pages)
{
	frame_reader_free(pages->frames);
	buf_release(&pages->packed);
	buf_release(&pages->plain);
}

/* A PageHeader, with what is in it. */
struct header {
	int64_t what, plain, packed, values, encoding;
};

static bool take_int(struct bytes *in, unsigned type, int64_t *ret)
{
	return type == THRIFT_I32 && thrift_read_int(in, ret);
}

static bool inner_field(void *arg, uint32_t field, unsigned type, struct bytes *in, bool *skip)
{
	struct header *header = arg;

	*skip = field > 2;
	return *skip || take_int(in, type, field == 1 ? &header->values : &header->encoding);
}

static bool header_field(void *arg, uint32_t field, unsigned type, struct bytes *in, bool *skip)
{
	struct header *header = arg;

	switch (field) {
	case 1:
		return take_int(in, type, &header->what);
	case 2:
		return take_int(in, type, &header->plain);
	case 3:
		return take_int(in, type, &header->packed);
	case 5:
	case 7:
		return type == THRIFT_STRUCT && thrift_read_struct(in, inner_field, header);
	default:
		*skip = true;
		return true;
	}
}

static int read_at(const struct parquet_cursor *cursor, const struct parquet_column_at *column, void *into, size_t size,
		   struct fail *fail)
{
	ssize_t got = io_pread(cursor->footer->fd, into, size, cursor->footer->base + column->left.start);

	if (got < 0)
		return fail_set(fail, (int)got, "cannot read: %s", strerror((int)-got));
	return (size_t)got == size ? 0 : damaged(column, "the file ends in it", fail);
}

/* Reads the next page into pages->plain. */
static int read_page(const struct parquet_cursor *cursor, struct parquet_column_at *column, struct header *ret,
		     struct fail *fail)
{
	struct parquet_pages *pages = cursor->pages;
	uint8_t head[HEADER_MAX];
	size_t size = column->left.size < sizeof(head) ? (size_t)column->left.size : sizeof(head);
	struct header header = { .what = -1, .values = -1, .encoding = -1 };
	struct bytes in;
	int r = read_at(cursor, column, head, size, fail);

	if (r)
		return r;
	in = bytes_of(head, size, false);
	if (!thrift_read_struct(&in, header_field, &header))
		return damaged(column, "a page has no header", fail);
	column->left.start += size - in.left;
	column->left.size -= size - in.left;
	if (header.packed <= 0 || (uint64_t)header.packed > column->left.size || header.plain < 0 ||
	    header.plain > PARQUET_READ_PAGE || header.values < 0)
		return damaged(column, "a page is larger than it can be", fail);
	buf_clear(&pages->packed);
	buf_clear(&pages->plain);
	if (!buf_reserve(&pages->packed, (size_t)header.packed) ||
	    !buf_reserve(&pages->plain, (size_t)header.plain + 1))
		return fail_memory(fail);
	r = read_at(cursor, column, pages->packed.data, (size_t)header.packed, fail);
	if (!r)
		r = frame_read(pages->frames, pages->packed.data, (size_t)header.packed, pages->plain.data,
			       (size_t)header.plain, fail);
	if (r)
		return r;
	pages->plain.len = (size_t)header.plain;
	column->left.start += (uint64_t)header.packed;
	column->left.size -= (uint64_t)header.packed;
	*ret = header;
	return 0;
}

static int read_dictionary(const struct parquet_cursor *cursor, struct parquet_column_at *column, struct fail *fail)
{
	struct header header;
	struct bytes in;
	const uint8_t *at;
	uint32_t len;
	int r = read_page(cursor, column, &header, fail);

	if (r)
		return r;
	if (header.what != PARQUET_PAGE_DICTIONARY || header.encoding != PARQUET_PLAIN || header.values > TEXTS_MAX)
		return damaged(column, "it has no dictionary", fail);
	buf_clear(&column->dictionary);
	free(column->texts);
	column->texts = calloc((size_t)header.values + 1, sizeof(*column->texts));
	if (!column->texts || !buf_add(&column->dictionary, cursor->pages->plain.data, cursor->pages->plain.len))
		return fail_memory(fail);
	in = bytes_of(column->dictionary.data, column->dictionary.len, false);
	for (column->nr_texts = 0; column->nr_texts < (size_t)header.values; column->nr_texts++) {
		column->texts[column->nr_texts] = (uint32_t)(column->dictionary.len - in.left);
		if (!bytes_u32(&in, &len) || !bytes_take(&in, le32toh(len), &at))
			return damaged(column, "a text is longer than its dictionary", fail);
	}
	return 0;
}

/* One of the runs of parquet_writer_numbers(): `nr` numbers from `into` on. Returns how many there were; 0: damaged. */
static size_t read_run(struct bytes *in, unsigned width, uint32_t *into, size_t nr)
{
	uint64_t head, bits = 0;
	const uint8_t *at;
	unsigned filled = 0;
	size_t got;

	if (!thrift_read_varint(in, &head) || !(head >> 1))
		return 0;
	if (!(head & 1)) {
		uint32_t number = 0;

		if (!bytes_take(in, (width + 7) / 8, &at))
			return 0;
		for (unsigned i = 0; i < (width + 7) / 8; i++)
			number |= (uint32_t)at[i] << (8 * i);
		got = head >> 1 < nr ? (size_t)(head >> 1) : nr;
		for (size_t i = 0; i < got; i++)
			into[i] = number;
		return got;
	}
	if (head >> 1 > in->left || !bytes_take(in, (size_t)(head >> 1) * width, &at))
		return 0;
	got = (size_t)(head >> 1) * 8 < nr ? (size_t)(head >> 1) * 8 : nr;
	for (size_t i = 0; i < got; i++) {
		for (; filled < width; filled += 8)
			bits |= (uint64_t)*at++ << filled;
		into[i] = (uint32_t)(bits & ((UINT64_C(1) << width) - 1));
		bits >>= width;
		filled -= width;
	}
	return got;
}

static bool read_numbers(struct bytes *in, unsigned width, uint32_t *into, size_t nr)
{
	for (size_t at = 0, got; at < nr; at += got) {
		got = read_run(in, width, into + at, nr - at);
		if (!got)
			return false;
	}
	return true;
}

/* Fills column->null of `nr` rows; *ret is the number of values. */
static bool read_levels(struct parquet_column_at *column, struct bytes *in, uint32_t *numbers, size_t nr, size_t *ret)
{
	struct bytes levels;
	const uint8_t *at;
	uint32_t len;

	*ret = nr;
	memset(column->null, 0, nr);
	if (!column->shape.optional)
		return true;
	if (!bytes_u32(in, &len) || !bytes_take(in, le32toh(len), &at))
		return false;
	levels = bytes_of(at, le32toh(len), false);
	if (!read_numbers(&levels, 1, numbers, nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		column->null[i] = !numbers[i];
		*ret -= !numbers[i];
	}
	return true;
}

static bool read_texts(struct parquet_column_at *column, struct bytes *in, uint32_t *numbers, size_t present)
{
	uint8_t width;

	if (!bytes_u8(in, &width))
		return false;
	if (!present)
		return true;
	if (!width || width > 32 || !read_numbers(in, width, numbers, present))
		return false;
	for (size_t i = 0; i < present; i++)
		if (numbers[i] >= column->nr_texts)
			return false;
	return true;
}

/* Spreads the values over the rows that are not null. */
static bool fill_values(struct parquet_column_at *column, struct bytes *in, uint32_t *numbers, size_t nr,
			size_t present)
{
	bool texts = column_is_text(&column->shape);
	size_t at = 0;

	if (texts && !read_texts(column, in, numbers, present))
		return false;
	for (size_t i = 0; i < nr; i++) {
		uint64_t whole = 0;
		uint32_t low;

		if (!column->null[i] && texts)
			whole = numbers[at++];
		else if (!column->null[i] && column->shape.bits == 64) {
			if (!bytes_u64(in, &whole))
				return false;
			whole = le64toh(whole);
		} else if (!column->null[i]) {
			if (!bytes_u32(in, &low))
				return false;
			whole = (uint64_t)(int64_t)(int32_t)le32toh(low);
		}
		column->values[i] = (int64_t)whole;
	}
	return true;
}

static int read_data(const struct parquet_cursor *cursor, struct parquet_column_at *column, struct fail *fail)
{
	cleanup_free uint32_t *numbers = NULL;
	struct header header;
	struct bytes in;
	size_t present;
	int r = read_page(cursor, column, &header, fail);

	if (r)
		return r;
	if (header.what != PARQUET_PAGE_DATA ||
	    header.encoding != (column_is_text(&column->shape) ? PARQUET_RLE_DICTIONARY : PARQUET_PLAIN) ||
	    !header.values || header.values > PARQUET_PAGE_ROWS)
		return damaged(column, "a page is not as weft writes it", fail);
	column->nr = (size_t)header.values;
	column->at = 0;
	free(column->values);
	free(column->null);
	column->values = calloc(column->nr, sizeof(*column->values));
	column->null = calloc(column->nr, 1);
	numbers = calloc(column->nr, sizeof(*numbers));
	if (!column->values || !column->null || !numbers)
		return fail_memory(fail);
	in = bytes_of(cursor->pages->plain.data, cursor->pages->plain.len, false);
	if (!read_levels(column, &in, numbers, column->nr, &present) ||
	    !fill_values(column, &in, numbers, column->nr, present))
		return damaged(column, "a page has fewer values than it says", fail);
	if (in.left)
		return damaged(column, "a page has more values than it says", fail);
	return 0;
}

int parquet_cursor_open(struct parquet_cursor *cursor, const struct parquet_footer *footer, size_t first, size_t nr,
			const struct column_shape *shapes, size_t nr_columns, struct parquet_pages *pages,
			struct fail *fail)
{
	*cursor = (struct parquet_cursor){
		.footer = footer, .pages = pages, .nr_columns = nr_columns, .group = first, .end = first + nr
	};
	for (size_t i = 0; i < nr_columns; i++)
		cursor->columns[i].shape = shapes[i];
	return parquet_cursor_next(cursor, fail);
}

void parquet_cursor_close(struct parquet_cursor *cursor)
{
	for (size_t i = 0; i < cursor->nr_columns; i++) {
		buf_release(&cursor->columns[i].dictionary);
		free(cursor->columns[i].texts);
		free(cursor->columns[i].values);
		free(cursor->columns[i].null);
	}
	cursor->nr_columns = 0;
}

static int enter_group(struct parquet_cursor *cursor, struct fail *fail)
{
	const struct parquet_read_group *group = &cursor->footer->groups[cursor->group++];

	cursor->left = group->rows;
	for (size_t i = 0; i < cursor->footer->nr_columns; i++) {
		struct parquet_column_at *column = &cursor->columns[i];
		int r;

		if (column->left.size || column->at + 1 < column->nr)
			return damaged(column, "a row group has more pages than rows", fail);
		column->left = group->spans[i];
		column->nr = column->at = 0;
		r = column_is_text(&column->shape) ? read_dictionary(cursor, column, fail) : 0;
		if (r)
			return r;
	}
	return 0;
}

int parquet_cursor_next(struct parquet_cursor *cursor, struct fail *fail)
{
	int r = 0;

	if (!cursor->left && cursor->group == cursor->end)
		return 0;
	if (!cursor->left) {
		r = enter_group(cursor, fail);
		if (r)
			return r;
	}
	cursor->left--;
	for (size_t i = 0; !r && i < cursor->footer->nr_columns; i++) {
		struct parquet_column_at *column = &cursor->columns[i];

		column->at++;
		if (column->at >= column->nr)
			r = read_data(cursor, column, fail);
	}
	return r ? r : 1;
}

bool parquet_cursor_integer(const struct parquet_cursor *cursor, size_t column, int64_t *ret)
{
	const struct parquet_column_at *at = &cursor->columns[column];

	if (column >= cursor->footer->nr_columns || at->null[at->at])
		return false;
	*ret = at->values[at->at];
	return true;
}

bool parquet_cursor_text(const struct parquet_cursor *cursor, size_t column, struct text_word *ret)
{
	int64_t number;
	uint32_t len;

	if (!parquet_cursor_integer(cursor, column, &number))
		return false;
	*ret = (struct text_word){ .at = cursor->columns[column].dictionary.data +
					 cursor->columns[column].texts[number] };
	memcpy(&len, ret->at, sizeof(len));
	ret->len = le32toh(len);
	ret->at += sizeof(len);
	return true;
}

size_t parquet_cursor_memory(const struct parquet_cursor *cursor)
{
	size_t bytes = sizeof(*cursor);

	for (size_t i = 0; i < cursor->nr_columns; i++) {
		const struct parquet_column_at *column = &cursor->columns[i];

		bytes += column->nr * (sizeof(*column->values) + 1) + column->dictionary.size +
			 column->nr_texts * sizeof(*column->texts);
	}
	return bytes;
}
