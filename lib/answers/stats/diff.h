/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_STATS_DIFF_H
#define WEFT_ANSWERS_STATS_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct analysis_ops;
struct event;
struct fail;
struct findings;
struct pass_filter;
struct reader;

/*
 * Compares what analyses found in two recordings, or in several per side: rows of the same name, by how often they
 * happened and how long they took (the samples that the analyses attached to the rows of their tables). Only a
 * difference that a test supports is called a change:
 * - one file a side: events that are close in time depend on each other, so each trace is cut into PASS_BLOCKS blocks
 *   of time, and blocks are drawn again and again (block bootstrap); that gives a 95 % interval of the ratio. Runs of
 *   one program differ by more than their own blocks show, so the interval is widened;
 * - several files a side: a run is the unit, and the test is the exact one of Mann and Whitney.
 * A change has an interval that excludes 1, is at least as large as the user asked, has enough samples, and passes the
 * correction for the number of rows (Holm, 5 % for each figure). The same files always give the same figures.
 */
struct diff;

/* Which part of a recording is compared: rows, and a span of time. */
struct diff_part {
	const struct pass_filter *filter; /* selects rows; NULL: all */
	const void *options;              /* of the analysis, if there is only one; NULL: its defaults */
	uint64_t first, last;
	bool elapsed; /* the time from first to last is a row */
	/* DIFF_PER_EVENT: whether an event is counted. It sees every event of the reader, and the gaps. */
	bool (*is_unit)(void *arg, const struct event *event);
	void *arg;
};

/* What the rate and the total of a row are counted per. */
enum diff_per { DIFF_PER_SECOND, DIFF_PER_CPU_SECOND, DIFF_PER_EVENT, DIFF_PER_RUN };

enum diff_metric { DIFF_P50, DIFF_P99, DIFF_RATE, DIFF_TOTAL, DIFF_METRICS };

enum { DIFF_RUNS_MAX = 100, DIFF_N_MIN = 30, DIFF_CONDITIONS_MAX = 16 };

/* A change that the user does not allow, such as "functions: total > 5%". */
struct diff_condition {
	const char *text; /* as the user wrote it */
	char row[128];    /* a glob of names; "*": all rows */
	unsigned figure;  /* the place of its name among those that can be asked for: enum diff_metric */
	bool below;       /* met by a decrease of more than `change` */
	double change;    /* 5 % is 0.05 */
};

struct diff_options {
	unsigned metrics; /* a bit for each enum diff_metric; 0: all */
	const char *row;  /* a glob that selects rows; NULL: all */
	double least;     /* the smallest change that counts; 3 % is 0.03 */
	uint64_t top;     /* number of rows to show; UINT64_MAX: all */
	const struct diff_condition *conditions;
	size_t nr_conditions;
};

/* nr_old and nr_new are the numbers of files on each side. */
int must_check diff_new(size_t nr_old, size_t nr_new, struct diff **ret, struct fail *fail);
void diff_free(struct diff *diff);

/* Call it before diff_add(); otherwise it is per second. `event` is what the user called the event; it is borrowed. */
void diff_per(struct diff *diff, enum diff_per per, const char *event);

/*
 * Gives this name of the new side, where it is a whole word of a row's name, its name of the old side: programs that
 * are compared have different names. Call it before diff_add(); both are borrowed. At most DIFF_RENAMES_MAX are kept.
 */
enum { DIFF_RENAMES_MAX = 8 };
void diff_rename(struct diff *diff, const char *new_name, const char *old_name);
/* After the last diff_add(). -EINVAL: no row of the new side has one of the new names. */
int must_check diff_check_renames(const struct diff *diff, struct fail *fail);

/*
 * Reads a file with all these analyses in one pass. If one of several analyses returns -ENODATA, that is no failure;
 * that no event is counted is one, -ENODATA.
 * The reader must be started.
 */
int must_check diff_add(struct diff *diff, bool is_new, struct reader *reader, const struct analysis_ops *const *ops,
			size_t nr_ops, const struct diff_part *part, struct fail *fail);

/* Adds the table "changes" without rows: what --format schema describes without a file. */
void diff_shape(struct findings *findings);

/* Adds the table "changes". When a condition is met, it returns -ERANGE, and `fail` says for which row. */
int must_check diff_finish(struct diff *diff, const struct diff_options *options, struct findings *findings,
			   struct fail *fail);

/*
 * diff_metric_named() returns the figure with this name ("p50", "p99", "rate", "total"), or DIFF_METRICS if there is
 * none. diff_condition_parse() reads conditions such as "total > 5%" and "vfs_*: p50 < -10%".
 */
enum diff_metric diff_metric_named(const char *name, size_t len);
const char *diff_metric_name(enum diff_metric metric);
int must_check diff_condition_parse(const char *text, struct diff_condition *ret, struct fail *fail);
/* The same for figures of other names. */
int must_check diff_condition_read(const char *text, const char *const *names, size_t nr_names,
				   struct diff_condition *ret, struct fail *fail);

#endif
