/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_BENCH_INTERNAL_H
#define WEFT_ANALYSIS_BENCH_INTERNAL_H

#include "lib/analysis/bench.h"
#include "lib/analysis/diff_internal.h"

/* A figure that both commands have. */
struct bench_line {
	struct diff_test test;
	bool tested; /* there are so many runs that a difference could pass */
	bool changed;
};

/* In per mille: how often same commands may be told apart, by the figures of a kind. */
enum { BENCH_MAIN = 20, BENCH_OTHER = 10 };

/* How a figure is printed. */
enum bench_kind { BENCH_TIME, BENCH_SIZE, BENCH_NUMBER };

extern const struct bench_name {
	const char *name;
	enum bench_kind kind;
} bench_names[BENCH_FIGURES];

/* What the runs of a command have of one figure. */
struct bench_spread {
	double mean, deviation, median, min, max;
};
void bench_spread(const struct bench_side *side, enum bench_figure figure, struct bench_spread *ret);

/*
 * The correction of Holm: of m lines, the one with the k-th smallest p passes if p is at most level / (m - k + 1), and
 * all lines before it have passed. Sets `tested`, of those whose smallest possible p would pass alone, and `changed`.
 */
void bench_holm(struct bench_line *const *lines, size_t nr, double level, double least_p);

/* The smallest p that so many runs can have. */
double bench_least_p(size_t nr_old, size_t nr_new);

/* lib/analysis/bench_table.c */
void bench_put_times(const struct bench *bench, struct findings *findings);
void bench_put_figures(const struct bench_line *lines, struct findings *findings);
void bench_put_runs(const struct bench *bench, struct findings *findings);

#endif
