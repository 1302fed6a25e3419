/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PARQUET_COLUMN_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PARQUET_COLUMN_INTERNAL_H

#include "lib/base/buf.h"
#include "lib/columns/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;
struct parquet_writer;
struct thrift;

/*
 * A column of the row group that is being filled. Integers are stored as Parquet stores them. A text is stored as a
 * number; each distinct text is once in the dictionary, as Parquet stores it. Nulls take no memory as long as there are
 * none. A list of integers is a group of three levels in the schema (NAME, list, element), and one column of values;
 * its elements are never null.
 * Invariant: texts become UTF-8: each other byte becomes U+FFFD.
 */
struct parquet_column {
	struct column_shape shape;
	/* values that are not null: 4 or 8 bytes each; for a text its number in 4 bytes */
	struct buf values;
	struct buf present; /* a byte for each row; empty as long as no row is null */
	/* for lists: for each row the number of its integers + 1, in 4 bytes; 0 for null */
	struct buf counts;
	struct buf texts;   /* the dictionary: length in 4 bytes, text */
	struct buf offsets; /* offset of each text in `texts`, 4 bytes each */
	uint32_t *slots;    /* a hash table of numbers of texts, from 1 */
	size_t nr_slots;
	uint32_t nr_texts;
	uint64_t nulls;
	uint64_t least, most; /* smallest and largest integer, compared with or without sign */
};

/*
 * The largest length of a text: the sizes of a page have 31 bits, and one text may enlarge a dictionary by at most this
 * much.
 */
enum { PARQUET_TEXT_MAX = 1 << 17 };

/* `row` is the number of rows that the group has so far; false without memory. *bytes grows by the size of the cell. */
bool parquet_column_integer(struct parquet_column *column, uint64_t value, size_t row, size_t *bytes);
bool parquet_column_text(struct parquet_column *column, const char *text, size_t len, size_t row, size_t *bytes,
			 struct out *scratch);
/* Adds a list; its `nr` integers were added before with parquet_column_integer(). */
bool parquet_column_list(struct parquet_column *column, uint32_t nr, size_t *bytes);
bool parquet_column_null(struct parquet_column *column, size_t row);

/* Whether the dictionary is so large that the group should end. */
bool parquet_column_is_full(const struct parquet_column *column);

/* Frees the memory of the group; the shape stays. */
void parquet_column_clear(struct parquet_column *column);

/* A column's part of a row group: the places in the group of its chunk and of its first data page, and sizes. */
struct parquet_chunk {
	size_t start, pages;
	size_t entries;         /* values, nulls, and of lists the elements */
	uint64_t plain, packed; /* bytes before and after compression */
};

/* Appends the column's chunk to writer->group. It only reads the column. */
void parquet_column_pages(const struct parquet_column *column, size_t rows, struct parquet_writer *writer,
			  struct parquet_chunk *ret);

/* Appends the ColumnChunk of a chunk whose group begins at `offset` of the file. */
void parquet_column_meta(const struct parquet_column *column, const struct parquet_chunk *chunk, uint64_t offset,
			 struct out *meta);

/* The number of the column's schema elements, and the elements themselves. */
size_t parquet_column_elements(const struct column_shape *shape);
void parquet_column_schema(const struct column_shape *shape, struct out *out);

#endif
