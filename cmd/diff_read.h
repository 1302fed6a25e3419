/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_DIFF_READ_H
#define WEFT_CMD_DIFF_READ_H

#include "lib/analysis/diff.h"
#include "lib/analysis/pass.h"
#include "lib/base/cleanup.h"
#include "lib/reader/query.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;
struct reading;
struct trace;

struct diff_files {
	const char *paths[DIFF_RUNS_MAX];
	char *owned[DIFF_RUNS_MAX]; /* the paths that must be freed; the others are NULL */
	size_t nr;
	struct query query; /* borrowed; its times are those of this side */
};

/* How the files are read, and which rows are compared. */
struct diff_reading {
	const char *of;      /* a name, or several with commas */
	const void *options; /* of the analysis; NULL: its defaults */
	struct pass_filter filter;
	enum diff_per per;
	const char *event; /* of DIFF_PER_EVENT: see cmd/diff_per.h */
	bool elapsed;      /* how long a file's part is, is a row */
	const struct reading *reading;
};

/* Reads one file into a side, of which `query` chooses a part. Its trace must be loaded: see cmd/reading.h. */
int must_check diff_read_one(struct diff *diff, bool is_new, struct trace *trace, const struct query *query,
			     const struct diff_reading *reading, struct fail *fail);

/* Opens all files, gives up rights, and reads one file after the other. files[0] is the old side. */
int must_check diff_read(struct diff *diff, const struct diff_files files[2], const struct diff_reading *reading,
			 struct fail *fail);

#endif
