/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_STATS_DIFF_INTERNAL_H
#define WEFT_ANSWERS_STATS_DIFF_INTERNAL_H

#include "lib/answers/frame/pass.h"
#include "lib/answers/stats/diff.h"
#include "lib/ground/base/buf.h"

struct findings;

/* A row of one file. */
struct diff_row {
	char *name; /* "functions\tvfs_read": the table's name, then the cells with text in front of the numbers */
	struct diff_value {
		uint64_t value;
		uint8_t block;
	} * values; /* ordered by value; not kept with several files a side */
	size_t nr;
	uint64_t count, sum, p50, p99;
	bool whole; /* `values` has all values, none was dropped */
	bool shows; /* one file a side: the time of a task in a state, shown only where one side alone has it */
};

enum diff_limit { DIFF_CUT, DIFF_BROKEN, DIFF_MISSING, DIFF_LIMITS };

struct diff_run {
	struct diff_row *rows; /* ordered by name */
	size_t nr;
	struct diff_units {
		double nr;                    /* of seconds, of seconds of the CPUs, or of events in the recording */
		uint32_t blocks[PASS_BLOCKS]; /* number of events in each block; only of DIFF_PER_EVENT */
	} units;
	char release[64];
	struct buf limits[DIFF_LIMITS]; /* what the analyses said limits their findings */
};

struct diff_side {
	struct diff_run runs[DIFF_RUNS_MAX];
	size_t nr, wanted;
};

struct diff {
	struct diff_side sides[2]; /* old, new */
	bool several;
	enum diff_per per;
	const char *event; /* borrowed; of DIFF_PER_EVENT */
	struct diff_renaming {
		const char *from, *to;
		bool used;     /* a row of the new side has the name `from` */
		bool reversed; /* one has `to` */
	} renamings[DIFF_RENAMES_MAX];
	size_t nr_renamings;
	uint8_t (*draws)[2][PASS_BLOCKS]; /* how often each draw has each block */
};

/* The result of a test for one figure of one row. */
struct diff_test {
	double old, new;  /* in ns; DIFF_RATE: calls per unit, such as a second; DIFF_TOTAL: ns per unit */
	double change;    /* new / old - 1 */
	double low, high; /* the 95 % interval of `change` */
	bool bounded;     /* low and high are known */
	double p;
	double sees; /* the smallest change that the test could have detected */
	/* What diff_holm() finds. */
	bool could_pass; /* of so many tests, the smallest p that is possible would pass */
	bool passes;
};

/* An interval that holds "no change" and a growth to a hundredfold says nothing. */
#define DIFF_WIDE 100.0

/* Whether the interval of a test is known and says something; nothing is a part of 0. */
static inline bool diff_is_bounded(const struct diff_test *test)
{
	return test->bounded && test->old > 0 && !(test->low <= 0 && test->high >= DIFF_WIDE);
}

enum {
	DIFF_DRAWS = 2000,
	DIFF_COULD_BE = 5 /* percent of comparisons in which a figure of a row may change by chance */
};

/*
 * One file a side: a row that happened in fewer blocks is not tested. The values of 6 independent blocks all lie on one
 * side of the median with a probability of 2 / 2^6, which is less than 5 %; medians of 5 blocks do so more often.
 */
enum { DIFF_BLOCKS_MIN = 6 };

/* One figure of a row that both sides have. */
struct diff_line {
	const char *name;
	enum diff_metric metric;
	struct diff_test test;
	uint64_t counts[2];
	double importance, moved; /* ns per unit: by how much it changed at least, and by how much the figures differ */
	bool known;               /* both sides have this figure */
	bool alone;               /* one file a side, and only one of them has the row */
	bool same;                /* all runs of both sides have one value, so there is nothing to test */
	bool tested, changed;
};

struct diff_judging {
	struct diff *diff;
	const struct diff_options *options;
	struct diff_line *lines;
	size_t nr;
	uint64_t few, dense, alone[2], cut; /* numbers of rows that were not tested, by reason */
	bool many;                          /* so few runs can prove no change of so many rows: */
	size_t rows, needed;                /* their number, and that of the files a side that can */
	bool failed;
};

/*
 * lib/answers/stats/diff_units.c: diff_units_see() is shown each event of a file with DIFF_PER_EVENT, whose pass has
 * set the event's block.
 */
struct diff_counting {
	const struct diff_part *part;
	const struct pass *pass;
	struct diff_units *units;
};
void diff_units_see(void *arg, const struct event *event); /* `arg`: struct diff_counting */
/* Called after the last event. -ENODATA: there are no units. */
int must_check diff_units_finish(const struct diff *diff, const struct diff_counting *counting, struct fail *fail);
/* Whether figures per unit can be tested. */
bool diff_units_enough(const struct diff *diff);
const char *diff_units_suffix(const struct diff *diff); /* "/s" */
void diff_tell_units(const struct diff *diff, struct findings *findings);
static inline bool diff_is_per_unit(enum diff_metric metric)
{
	return metric == DIFF_RATE || metric == DIFF_TOTAL;
}

/* A figure of a file; `row` may be NULL. Where a figure is 0, diff_nothing() is taken for it in ratios. */
double diff_figure(const struct diff_run *run, const struct diff_row *row, enum diff_metric metric);
double diff_nothing(const struct diff *diff, const struct diff_run *run, enum diff_metric metric);

/* lib/answers/stats/diff_table.c: prints the lines in their order, and what limits the findings. */
void diff_put_table(const struct diff_judging *judging, size_t changed, struct findings *findings);

/* lib/answers/stats/diff_rows.c: makes what an analysis found a part of a run. */
int must_check diff_run_take(struct diff *diff, bool is_new, struct diff_run *run, const struct findings *findings,
			     struct fail *fail);
/* Adds the row of the time that the whole run took. */
int must_check diff_run_take_elapsed(struct diff_run *run, uint64_t ns, struct fail *fail);
bool diff_row_is_elapsed(const char *name);
/* Returns whether it is the time that a task spent in a state, in which its calls are. */
bool diff_row_is_state(const char *name);
/* Sorts the rows and joins rows of the same name. */
int must_check diff_run_settle(struct diff_run *run, bool several, struct fail *fail);
void diff_run_release(struct diff_run *run);
const struct diff_row *diff_run_find(const struct diff_run *run, const char *name);

/*
 * lib/answers/stats/diff_bootstrap.c, for one file a side. diff_draw() makes the draws, and returns false when memory
 * runs out. diff_bootstrap() tests a row; *failed becomes true when memory runs out.
 */
bool diff_draw(struct diff *diff);
void diff_bootstrap(const struct diff *diff, const struct diff_row *old, const struct diff_row *new,
		    struct diff_test tests[DIFF_METRICS], bool *failed);

/*
 * lib/answers/stats/diff_ranks.c: the exact test for several values a side, and the interval of their ratios. An old
 * value of 0 counts as `nothing` there.
 */
void diff_ranks(const double *old, size_t nr_old, const double *new, size_t nr_new, double nothing,
		struct diff_test *test);

/*
 * lib/answers/stats/diff_holm.c, the correction of Holm: of m tests, the one with the k-th smallest p passes if p is at
 * most level / (m - k + 1), and all tests before it have passed. A test that passes also has an interval without "no
 * change". Returns false when memory runs out.
 */
bool must_check diff_holm(struct diff_test *const *tests, size_t nr, double level, double least_p);
/* How many runs a side can prove a change of one of so many rows. */
size_t diff_runs_needed(size_t rows, double level);
/* Returns whether the interval excludes "no change". */
bool diff_excludes_none(const struct diff_test *test);
/* The smallest p that so many runs can have. */
double diff_least_p(size_t nr_old, size_t nr_new);
/* Returns whether all values of both sides are equal. */
bool diff_is_same(const double *old, size_t nr_old, const double *new, size_t nr_new);

#endif
