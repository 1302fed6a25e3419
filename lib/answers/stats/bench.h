/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_STATS_BENCH_H
#define WEFT_ANSWERS_STATS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/stats/diff.h"
#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct findings;
struct rusage;

/*
 * Compares the runs of two commands, or describes those of one. A run is the unit: the exact test of Mann and Whitney
 * compares its figures between the commands. A difference is called one if its p passes the correction of Holm among
 * the figures of its kind, so that two commands which are the same are told apart in at most 5 % of all comparisons:
 * BENCH_MAIN of them by wall or cpu, BENCH_OTHER by another figure, BENCH_ROWS by a row of the recordings.
 */
enum bench_figure {
	BENCH_WALL,
	BENCH_CPU, /* user + system */
	BENCH_USER,
	BENCH_SYSTEM,
	BENCH_MEMORY, /* the largest resident set of any process */
	BENCH_FAULTS,
	BENCH_WAITS,       /* switches away from a task that had to wait */
	BENCH_PREEMPTIONS, /* switches away from a task that could have run on */
	BENCH_FIGURES
};

enum { BENCH_RUNS_MAX = DIFF_RUNS_MAX };

/* Times in ns, memory in bytes. */
struct bench_run {
	uint64_t figures[BENCH_FIGURES];
	uint64_t least_memory; /* a process of weft, which executed the command, may have had as much */
};

struct bench_side {
	const char *command; /* borrowed: as the user wrote it */
	struct bench_run runs[BENCH_RUNS_MAX];
	size_t nr;
};

/* Programs that are compared under one name, as tasks have it. */
enum { BENCH_NAME = 16 };
struct bench_match {
	char old_name[BENCH_NAME], new_name[BENCH_NAME];
};

struct bench {
	struct bench_side sides[2]; /* old, new */
	size_t nr_sides;            /* 1: there is only one command, which is the old one */
	struct diff *rows;          /* what the runs did, of DIFF_PER_RUN; NULL: they were not recorded */
	struct bench_match matches[DIFF_RENAMES_MAX]; /* of diff_rename() */
	size_t nr_matches;
};

struct bench_options {
	const struct diff_condition *conditions;
	size_t nr_conditions;
	uint64_t top;  /* number of rows to show; UINT64_MAX: all */
	bool each_run; /* adds the table "runs": the figures of each run */
};

/* What a run took, by the kernel's count of its processes. */
void bench_run_set(struct bench_run *run, uint64_t wall_ns, const struct rusage *usage);
/* The same of this process, of the moment at which it has executed the command. */
void bench_run_set_own(struct bench_run *run, const struct rusage *usage);

/* Adds all tables that bench_finish() may add, as if no command had run: what --format schema describes without one. */
void bench_shape(struct findings *findings);

/*
 * Adds the tables "times" and, with two commands, "figures", with recordings also "changes". When a condition is met,
 * it returns -ERANGE, and `fail` says by what; -ENODATA: a condition cannot be checked.
 */
int must_check bench_finish(const struct bench *bench, const struct bench_options *options, struct findings *findings,
			    struct fail *fail);

/*
 * Finds the programs of two commands that stand in the same place: of "./benchmark -n 3" and "./benchmark.new -n 3",
 * benchmark and benchmark.new. Returns their number.
 */
size_t bench_match(const char *old, const char *new, struct bench_match ret[DIFF_RENAMES_MAX]);

/*
 * The runs of one command as a text, and back. bench_use() makes them the old side of a bench, and bench_use_rows()
 * moves what they did to bench->rows. The saved runs must outlive the bench.
 */
struct bench_saved;
bool must_check bench_save(const struct bench *bench, const char *kernel, const char *of, struct buf *into);
int must_check bench_load(const char *text, size_t len, struct bench_saved **ret, struct fail *fail);
void bench_use(struct bench *bench, const struct bench_saved *saved);
void bench_use_rows(struct bench *bench, struct bench_saved *saved);
void bench_saved_free(struct bench_saved *saved);
/* What the runs were recorded for (NULL: they were not), their number, and the release of the kernel. */
const char *bench_saved_for(const struct bench_saved *saved);
size_t bench_saved_runs(const struct bench_saved *saved);
const char *bench_saved_kernel(const struct bench_saved *saved);

/* Reads conditions such as "wall > 2%", and of rows "read: time > 10%" and "read: calls > 10%". */
int must_check bench_condition_parse(const char *text, struct diff_condition *ret, struct fail *fail);

#endif
