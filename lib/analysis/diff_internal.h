/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_DIFF_INTERNAL_H
#define WEFT_ANALYSIS_DIFF_INTERNAL_H

#include "lib/analysis/diff.h"
#include "lib/analysis/pass.h"
#include "lib/base/buf.h"

struct findings;

/* A row of one file. */
struct diff_row {
	char *name; /* "functions\tvfs_read": its table, then the text cells in front of its numbers */
	struct diff_value {
		uint64_t value;
		uint8_t block;
	} * values; /* by value; of several files a side they are not kept */
	size_t nr;
	uint64_t count, sum, p50, p99;
	bool whole; /* `values` are all there are */
};

enum diff_limit { DIFF_CUT, DIFF_BROKEN, DIFF_MISSING, DIFF_LIMITS };

struct diff_run {
	struct diff_row *rows; /* by name */
	size_t nr;
	uint64_t span_ns;
	char release[64];
	struct buf limits[DIFF_LIMITS]; /* the limits that the analyses told of their findings */
};

struct diff_side {
	struct diff_run runs[DIFF_RUNS_MAX];
	size_t nr, wanted;
};

struct diff {
	struct diff_side sides[2]; /* old, new */
	bool several;
	uint8_t (*draws)[2][PASS_BLOCKS]; /* how often each block is drawn */
};

/* What a test says of one figure of one row. */
struct diff_test {
	double old, new;  /* ns; calls and ns per second */
	double change;    /* new / old - 1 */
	double low, high; /* of `change`, 95 % */
	bool bounded;     /* they are known */
	double p;
	double sees; /* the smallest change that it could have seen */
};

enum { DIFF_DRAWS = 2000, DIFF_COULD_BE = 5 /* per cent of what is called a change and is none */ };

/* A figure of a row of both sides. */
struct diff_line {
	const char *name;
	enum diff_metric metric;
	struct diff_test test;
	uint64_t counts[2];
	double importance, time; /* ns per second that certainly changed; that the row takes */
	bool tested, changed;
};

struct diff_judging {
	struct diff *diff;
	const struct diff_options *options;
	struct diff_line *lines;
	size_t nr;
	uint64_t few, alone[2], cut; /* rows that no test was asked of, and why */
	bool failed;
};

/* lib/analysis/diff_table.c: the lines, in their order, and what limits their truth. */
void diff_put_table(const struct diff_judging *judging, size_t changed, struct findings *findings);

/* lib/analysis/diff_rows.c: what an analysis found becomes part of a run. */
int must_check diff_run_take(struct diff_run *run, const struct findings *findings, struct fail *fail);
/* Puts rows in order, and those of one name together. */
int must_check diff_run_settle(struct diff_run *run, bool several, struct fail *fail);
void diff_run_release(struct diff_run *run);
const struct diff_row *diff_run_find(const struct diff_run *run, const char *name);

/* lib/analysis/diff_bootstrap.c, of one file a side. False where there are too few, or not enough memory (*failed). */
bool diff_draw(struct diff *diff);
void diff_bootstrap(const struct diff *diff, const struct diff_row *old, const struct diff_row *new,
		    struct diff_test tests[DIFF_METRICS], bool *failed);

/* lib/analysis/diff_ranks.c: the exact test of several values a side, and where their ratios lie. */
void diff_ranks(const double *old, size_t nr_old, const double *new, size_t nr_new, struct diff_test *test);

#endif
