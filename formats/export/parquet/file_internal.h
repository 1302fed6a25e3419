/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PARQUET_FILE_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PARQUET_FILE_INTERNAL_H

#include "formats/export/folder.h"
#include "formats/export/parquet/column_internal.h"
#include "lib/base/out.h"
#include "lib/base/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct out;
struct parquet_writer;

/*
 * One Parquet file, made of row groups. Rows are kept in memory until the group is large enough or the owner needs the
 * memory. Then the group goes into the folder (folder.h), and its part of the file's footer stays in memory: some 100
 * bytes for each column of each group.
 */
struct parquet_file {
	char name[FOLDER_NAME_MAX]; /* its name in the folder */
	struct parquet_column *columns;
	size_t nr_columns;
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
