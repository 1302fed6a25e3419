/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_DIFF_H
#define WEFT_ANALYSIS_DIFF_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct analysis_ops;
struct fail;
struct findings;
struct pass_filter;
struct reader;

/*
 * Compares what analyses found in two recordings, or in several a side: rows of one name, by how often they happened
 * and how long they took (the samples that the analyses attached to the rows of their tables). Nothing is called a
 * change that a test does not bear out:
 * - one file a side: what happens within a trace hangs together, so each is cut into PASS_BLOCKS blocks of time, and
 *   these are drawn again and again (block bootstrap): an interval of 95 % of the ratio;
 * - several: a run is the unit, by the exact test of Mann and Whitney.
 * A change is one where the interval leaves 1 out, that is as large as asked for, of enough samples, and that stands
 * among all rows (Benjamini and Hochberg, 5 %). The same files always give the same figures.
 */
struct diff;

/* What of a recording is compared, and the times from which to which it is. */
struct diff_part {
	const struct pass_filter *filter; /* whose rows; NULL: all */
	const void *options;              /* of the analysis, where there is only one; NULL: its defaults */
	uint64_t first, last;
};

enum diff_metric { DIFF_P50, DIFF_P99, DIFF_RATE, DIFF_TOTAL, DIFF_METRICS };

enum { DIFF_RUNS_MAX = 20, DIFF_N_MIN = 30, DIFF_CONDITIONS_MAX = 16 };

/* "functions: total > 5%": a change that is not allowed. */
struct diff_condition {
	const char *text; /* as the user wrote it */
	char row[128];    /* a glob of names; "*" */
	enum diff_metric metric;
	bool below;    /* that it shrank by more than `change` */
	double change; /* 0.05 */
};

struct diff_options {
	unsigned metrics; /* a bit for each enum diff_metric; 0: all */
	const char *row;  /* a glob: only such rows; NULL: all */
	double least;     /* the smallest change that counts: 0.03 */
	uint64_t top;     /* rows; UINT64_MAX: all */
	const struct diff_condition *conditions;
	size_t nr_conditions;
};

/* How many files will be on each side. */
int must_check diff_new(size_t nr_old, size_t nr_new, struct diff **ret, struct fail *fail);
void diff_free(struct diff *diff);

/*
 * Reads a file, with all these analyses in one pass; -ENODATA of one of several is no failure. The reader is started.
 */
int must_check diff_add(struct diff *diff, bool is_new, struct reader *reader, const struct analysis_ops *const *ops,
			size_t nr_ops, const struct diff_part *part, struct fail *fail);

/* Adds the table "changes". -ERANGE and in words which row, when a condition is met. */
int must_check diff_finish(struct diff *diff, const struct diff_options *options, struct findings *findings,
			   struct fail *fail);

/* "p50", "p99", "rate", "total"; DIFF_METRICS: none is called so. "total > 5%", "vfs_*: p50 < -10%". */
enum diff_metric diff_metric_named(const char *name, size_t len);
const char *diff_metric_name(enum diff_metric metric);
int must_check diff_condition_parse(const char *text, struct diff_condition *ret, struct fail *fail);

#endif
