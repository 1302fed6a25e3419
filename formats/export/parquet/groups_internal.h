/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_PARQUET_GROUPS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_PARQUET_GROUPS_INTERNAL_H

#include "formats/export/parquet/file_internal.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/pool.h"

struct out;

/*
 * The row groups of all files that are being compressed, by the threads of a pool. They are written in the order in
 * which they were begun, so the files do not depend on the number of threads. Their number is bounded, because each
 * takes as much memory as an open group.
 */
enum { PARQUET_GROUPS_MAX = 3 };

struct parquet_groups {
	struct pool *pool; /* NULL: groups are compressed at once; borrowed */
	struct parquet_group at[PARQUET_GROUPS_MAX];
	unsigned nr, first, begun;
	int error; /* the first failure */
	struct fail failure;
};

/* parquet_groups_release() follows, also after a failure. */
int must_check parquet_groups_init(struct parquet_groups *groups, struct pool *pool, struct fail *fail);
void parquet_groups_release(struct parquet_groups *groups);

/* Begins to compress the rows of a file, and writes what must make room for them. */
void parquet_groups_begin(struct parquet_groups *groups, struct parquet_file *file, struct out *folder);
/* Writes all that were begun. */
void parquet_groups_end(struct parquet_groups *groups, struct out *folder);

#endif
