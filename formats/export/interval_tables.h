/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_INTERVAL_TABLES_H
#define WEFT_FORMATS_EXPORT_INTERVAL_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"

struct buf;
struct fail;
struct out;
struct pool;
struct reader;

/*
 * The tables of intervals of any number of recordings, one after the other, as one Parquet file for each table: for a
 * lake (lib/files/lake). The output is pieces of a folder (folder.h), which the owner writes when write() is called.
 * The rows of a row group are sorted by day, host and time, those of rollups by day, kind, host and time.
 */
struct interval_tables;

struct interval_tables_options {
	const char *leaf;  /* a file is TABLE/LEAF */
	struct buf *files; /* gets a line for each file: its name, and how many rows it has */
	struct pool *pool;
	int (*write)(void *arg, struct out *folder, struct fail *fail); /* takes what is there */
	void *arg;
};

int must_check interval_tables_new(const struct interval_tables_options *options, struct interval_tables **ret,
				   struct fail *fail);
void interval_tables_free(struct interval_tables *tables);

/*
 * What a file has of a buffer. Two files with the same of the same recording are the same, however weft wrote them.
 */
struct interval_load {
	int64_t recording;
	uint64_t instance; /* a hash of its name */
	uint64_t first, last, events, gaps;
};

/* Reads all events of a started reader for what its buffers have; *ret is the caller's. */
int must_check interval_loads(struct reader *reader, struct interval_load **ret, size_t *ret_nr, struct fail *fail);

/* Adds the rows of all events of a started reader. `file` is its name in the table recording. */
int must_check interval_tables_add(struct interval_tables *tables, struct reader *reader, const char *file,
				   struct fail *fail);
/* Ends the files. */
int must_check interval_tables_end(struct interval_tables *tables, struct fail *fail);

/*
 * Reads a file of the table rollup, or of the table recording, that weft has written; its bytes are untrusted. `see`
 * gets each row, and returns false without memory. What a table does not have is empty or 0.
 */
struct interval_figure {
	struct text_word host, kind, key, detail, release;
	uint64_t middle, count, sum, dur;
};
int must_check interval_figures(int fd, bool rollup, bool (*see)(void *arg, const struct interval_figure *figure),
				void *arg, struct fail *fail);

/* The names of the tables; NULL after the last. */
const char *interval_tables_name(size_t index);

#endif
