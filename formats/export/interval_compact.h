/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_INTERVAL_COMPACT_H
#define WEFT_FORMATS_EXPORT_INTERVAL_COMPACT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct out;
struct pool;

/*
 * Merges files of one table, as interval_tables_end() or this has made them, into files of up to 128 MB, whose rows are
 * in the order of a lake, also if an older weft has sorted them otherwise. The output is pieces of a folder
 * (folder.h).
 * The memory is bounded: what does not fit is merged in several passes over the temporary files. The input is
 * untrusted: what weft has not written is an error.
 */
struct interval_compaction {
	const char *table; /* its name: interval_tables_name() */
	const int *inputs; /* open files */
	const char *const *names;
	size_t nr_inputs;
	const char *stem;   /* a file is TABLE/STEM-1.parquet, -2 and so on */
	int temporaries[2]; /* for reading and writing; what they have is lost */
	size_t memory;      /* about so much for all files that are read at once; 0: a usual amount */
	struct buf *files;  /* gets a line for each file: its name, and how many rows it has */
	struct pool *pool;
	int (*write)(void *arg, struct out *folder, struct fail *fail); /* takes what is there */
	void *arg;
};

/* A file that is smaller than INTERVAL_FILE_MIN is merged with others, one from INTERVAL_FILE_FULL on with none. */
enum { INTERVAL_FILE_MIN = 8 << 20, INTERVAL_FILE_FULL = 64 << 20 };

/* The day of the last rows of a file, since 1970, by its footer; INT64_MIN: they have no time of day. */
int must_check interval_file_day(int fd, const char *table, int64_t *ret, struct fail *fail);

int must_check interval_compact(const struct interval_compaction *compaction, struct fail *fail);

#endif
