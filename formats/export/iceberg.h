/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_ICEBERG_H
#define WEFT_FORMATS_EXPORT_ICEBERG_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * The metadata of Iceberg, version 2, of a table of intervals: a snapshot without partitions, with all files of the
 * table. The files have no field IDs; a name mapping in the properties gives them to the columns.
 */
struct iceberg_file {
	const char *leaf; /* in the folder of the table */
	uint64_t rows, size;
};

struct iceberg {
	const char *table;    /* interval_tables_name() */
	const char *location; /* a URI of the folder of the table; the metadata is in its folder "metadata" */
	uint64_t version;     /* from 1; also the number of the snapshot */
	int64_t now_ms;       /* since 1970 */
	const struct iceberg_file *files;
	size_t nr;
	/* Takes a file of the metadata. What points to the others comes last. */
	int (*put)(void *arg, const char *name, const void *bytes, size_t len, struct fail *fail);
	void *arg;
};

int must_check iceberg_describe(const struct iceberg *iceberg, struct fail *fail);

#endif
