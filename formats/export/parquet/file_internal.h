/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PARQUET_FILE_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PARQUET_FILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/export/folder.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/pool.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/columns/shape.h"

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

/* A text of the dictionary. */
struct text_word parquet_column_word(const struct parquet_column *column, uint32_t number);
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

/*
 * The order of the rows of a group: those of a span of time come together, and in it they are sorted by the columns.
 * Texts are compared as bytes, integers with their sign; null comes first.
 */
enum { PARQUET_SORT_MAX = 4 };
struct parquet_sort {
	size_t nr; /* 0: rows stay as they come */
	size_t by[PARQUET_SORT_MAX];
	size_t time; /* the one of these that has the times */
	int64_t span;
};

/* The fact of a file that has the names of these columns, and the room for them. */
#define PARQUET_ORDER "weft.order"
enum { PARQUET_ORDER_MAX = 64 };

/* Which span a time lies in; INT64_MIN: null, before all. */
int64_t parquet_sort_span(const struct parquet_sort *sort, int64_t at);

/* Brings the rows of a group into this order. *ret_sorted: they are all of one span. False without memory. */
bool parquet_columns_sort(struct parquet_column *columns, size_t nr, size_t rows, const struct parquet_sort *sort,
			  bool *ret_sorted);

/* Appends the ColumnChunk of a chunk whose group begins at `offset` of the file. */
void parquet_column_meta(const struct parquet_column *column, const struct parquet_chunk *chunk, uint64_t offset,
			 struct out *meta);

#define PARQUET_MAGIC "PAR1"

/*
 * Parquet has no checksum of a footer. So one of its facts is xxh64 of the footer, as it is with zeros in the place of
 * these digits.
 */
#define PARQUET_SUM "weft.footer"
enum { PARQUET_SUM_DIGITS = 16 };
enum { PARQUET_CODEC_ZSTD = 6 }; /* the only one that weft writes */

/* The type of the stored values: Type of parquet.thrift. */
int parquet_column_type(const struct column_shape *shape);

/* The number of the column's schema elements, and the elements themselves. */
size_t parquet_column_elements(const struct column_shape *shape);
void parquet_column_schema(const struct column_shape *shape, struct out *out);

/*
 * One Parquet file, made of row groups. Rows are kept in memory until the group is large enough or the owner needs the
 * memory. Then the group goes into the folder (folder.h), and its part of the file's footer stays in memory: some 100
 * bytes for each column of each group.
 */
struct parquet_file {
	char name[FOLDER_NAME_MAX]; /* its name in the folder */
	struct parquet_column *columns;
	size_t nr_columns;
	struct parquet_sort sort;
	bool bare;                 /* its bytes are no pieces of a folder, but follow one another in the out */
	size_t rows, bytes;        /* rows and bytes of the open group */
	uint64_t all_rows, offset; /* rows and bytes of the file so far; an offset of 0: nothing was written */
	struct out groups;         /* the RowGroup of each written group */
	uint32_t nr_groups;
	bool starved; /* memory ran out; stays set */
};

/* Copies the shapes. False without memory: then there is nothing to release. */
bool parquet_file_init(struct parquet_file *file, const struct column_shape *shapes, size_t nr);
void parquet_file_release(struct parquet_file *file);

/* To add a row, add one cell for each column, then call parquet_file_row(). */
void parquet_file_integer(struct parquet_file *file, size_t column, uint64_t value);
void parquet_file_text(struct parquet_file *file, size_t column, const char *text, size_t len, struct out *scratch);
void parquet_file_list(struct parquet_file *file, size_t column, uint32_t nr); /* a list of the last `nr` integers */
void parquet_file_null(struct parquet_file *file, size_t column);
void parquet_file_row(struct parquet_file *file);

/* Whether the open group should be written. */
bool parquet_file_is_full(const struct parquet_file *file);

/*
 * A row group that is complete. Its job compresses it, and may run on another thread, while the file gets rows of the
 * next group.
 */
struct parquet_group {
	struct pool_job job;           /* first */
	struct parquet_writer *writer; /* of this group alone, owned by the caller */
	struct parquet_file *file;     /* NULL: the group has no rows */
	struct parquet_column *columns;
	struct parquet_chunk *chunks;
	size_t rows;
	bool sorted, starved;
};

/* Takes the rows from the file. False: there are none, or no memory for them: then the file is starved. */
bool parquet_group_take(struct parquet_group *group, struct parquet_file *file);
/* After the job: writes the group behind those of the file that were written before, and drops it. */
void parquet_group_put(struct parquet_group *group, struct out *folder);
void parquet_group_drop(struct parquet_group *group);

/*
 * Writes the file's footer, after all its groups: `facts` are pairs of texts, names and values, and end with a NULL
 * name.
 */
void parquet_file_end(struct parquet_file *file, struct parquet_writer *writer, const char *const *facts,
		      struct out *folder);

#endif
