/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PARQUET_INTERVAL_FILE_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PARQUET_INTERVAL_FILE_INTERNAL_H

#include "formats/export/parquet/file_internal.h"

/* What all files of tables of intervals have in common. */

/*
 * The order of rows in a lake: by day, host, time of day, and time of the trace. Rollups of a kind come together,
 * because a question is about one kind, and row groups of others are not read then.
 */
struct parquet_sort interval_sort(const char *table);
/* The same as a text, which is the fact PARQUET_ORDER of each file. */
void interval_order(const struct parquet_sort *sort, const struct column_shape *shapes, char ret[PARQUET_ORDER_MAX]);
/* `files`: gets a line with the file's name and rows; NULL: nobody asks. */
void interval_file_end(struct parquet_file *file, struct parquet_writer *writer, struct out *folder, struct buf *files);

#endif
