/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_STATS_BENCH_INTERNAL_H
#define WEFT_ANSWERS_STATS_BENCH_INTERNAL_H

#include "lib/answers/stats/bench.h"
#include "lib/answers/stats/diff_internal.h"

/* A figure that both commands have. */
struct bench_line {
	struct diff_test test;
	bool same;  /* it is not tested because all runs of both commands have one value */
	bool small; /* it is not tested because it is too small to explain anything */
};

/* In per mille: how often same commands may be told apart, by the figures of a kind. */
enum { BENCH_MAIN = 20, BENCH_OTHER = 10, BENCH_ROWS = 20 };

/* What the runs did of one kind: a system call, the state of a task. */
struct bench_row {
	const char *name; /* of struct diff_row; borrowed */
	struct bench_line time, calls;
	double more; /* ns: by how much the median of its time is larger in the new runs */
};

struct bench_rows {
	struct bench_row *rows;
	size_t nr;
	bool few;      /* so few runs can prove no change of so many rows */
	size_t needed; /* how many of each command can */
	size_t small;  /* rows at the end that take almost no time and that all runs have as often */
};

static inline bool bench_row_is_small(const struct bench_row *row)
{
	return row->time.small && row->calls.same;
}

static inline bool bench_row_changed(const struct bench_row *row)
{
	return row->time.test.passes || row->calls.test.passes;
}

/* lib/answers/stats/bench_rows.c: tests the rows, and puts them into their order. */
int must_check bench_judge_rows(const struct bench *bench, struct bench_rows *rows, struct fail *fail);
void bench_rows_release(struct bench_rows *rows);

/* The runs of a command that were saved. */
struct bench_saved {
	char *command, *kernel;
	char *of; /* NULL: they were not recorded, and `rows` is empty */
	struct bench_run runs[BENCH_RUNS_MAX];
	struct diff_run rows[BENCH_RUNS_MAX];
	size_t nr;
};

/* How a figure is printed. */
enum bench_kind { BENCH_TIME, BENCH_SIZE, BENCH_NUMBER };

extern const struct bench_name {
	const char *name;
	enum bench_kind kind;
} bench_names[BENCH_FIGURES];

static inline size_t bench_values(const struct bench_side *side, enum bench_figure figure, double into[BENCH_RUNS_MAX])
{
	for (size_t i = 0; i < side->nr; i++)
		into[i] = (double)side->runs[i].figures[figure];
	return side->nr;
}

/* What the runs of a command have of one figure. */
struct bench_spread {
	double mean, deviation, median, min, max;
};
void bench_spread(const struct bench_side *side, enum bench_figure figure, struct bench_spread *ret);

/* lib/answers/stats/bench_table.c */
void bench_put_times(const struct bench *bench, struct findings *findings);
void bench_put_figures(const struct bench_line *lines, struct findings *findings);
void bench_put_rows(const struct bench_rows *rows, uint64_t top, struct findings *findings);
void bench_put_runs(const struct bench *bench, struct findings *findings);

#endif
