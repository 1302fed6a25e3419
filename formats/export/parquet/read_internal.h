/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PARQUET_READ_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PARQUET_READ_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/export/parquet/file_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/columns/shape.h"

struct fail;
struct frame_reader;

/*
 * Reads a Parquet file that weft has written, and no other: known columns of integers and texts, pages of zstd,
 * integers plain and texts by a dictionary. Its bytes are untrusted: each offset and size is checked before it is used,
 * and a page needs no more memory than weft gives one.
 * Not supported: lists, all that other programs write.
 */
enum { PARQUET_READ_COLUMNS = 32, PARQUET_READ_PAGE = 4 << 20, PARQUET_READ_FOOTER = 16 << 20 };

/* The pages of a column in a row group. */
struct parquet_span {
	uint64_t start, size;
};

struct parquet_read_group {
	uint64_t rows;
	struct parquet_span spans[PARQUET_READ_COLUMNS];
};

struct parquet_footer {
	int fd;        /* borrowed */
	uint64_t base; /* where the file begins in what `fd` is */
	size_t nr_columns;
	struct parquet_read_group *groups;
	size_t nr_groups;
	/* What it says of the order of its rows (PARQUET_ORDER); empty: nothing. */
	char order[PARQUET_ORDER_MAX];
	int64_t most[PARQUET_READ_COLUMNS]; /* of a column of INT64, by the statistics; INT64_MIN: it has no value */
};

/*
 * Reads the footer of `size` bytes at `base`. The columns must be these, in this order; columns that may be null may be
 * missing at the end.
 */
int must_check parquet_footer_read(int fd, uint64_t base, uint64_t size, const struct column_shape *shapes, size_t nr,
				   struct parquet_footer *ret, struct fail *fail);
void parquet_footer_release(struct parquet_footer *footer);

/* What all cursors share: the memory of a page. */
struct parquet_pages {
	struct frame_reader *frames;
	struct buf packed, plain;
};

int must_check parquet_pages_init(struct parquet_pages *pages, struct fail *fail);
void parquet_pages_release(struct parquet_pages *pages);

/* A column's values of the page that the cursor is in: an integer, or the number of a text. */
struct parquet_column_at {
	struct column_shape shape;
	struct parquet_span left;
	struct buf dictionary; /* as in the file: length, text */
	uint32_t *texts;       /* offsets in it */
	size_t nr_texts;
	int64_t *values;
	uint8_t *null;
	size_t nr, at;
};

/* Goes over the rows of some groups of a file. */
struct parquet_cursor {
	const struct parquet_footer *footer;
	struct parquet_pages *pages;
	struct parquet_column_at columns[PARQUET_READ_COLUMNS];
	size_t nr_columns;
	size_t group, end; /* the next group, and the one at which it ends */
	uint64_t left;     /* rows of this group behind the one that it is at */
	bool begun;
};

int must_check parquet_cursor_open(struct parquet_cursor *cursor, const struct parquet_footer *footer, size_t first,
				   size_t nr, const struct column_shape *shapes, size_t nr_columns,
				   struct parquet_pages *pages, struct fail *fail);
void parquet_cursor_close(struct parquet_cursor *cursor);

/* Goes to the next row: 1; 0: there is none. */
int must_check parquet_cursor_next(struct parquet_cursor *cursor, struct fail *fail);
/* The row's values; false: null. */
bool parquet_cursor_integer(const struct parquet_cursor *cursor, size_t column, int64_t *ret);
bool parquet_cursor_text(const struct parquet_cursor *cursor, size_t column, struct text_word *ret);
/* How much memory it has. */
size_t parquet_cursor_memory(const struct parquet_cursor *cursor);

#endif
