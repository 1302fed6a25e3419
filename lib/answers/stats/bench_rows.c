// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the recorded runs did, row by row: the time and the number of calls of each run. */
#include "lib/answers/stats/bench_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"

/* Rows whose mean time, over the runs of both commands, is a smaller share of the wall time explain nothing. */
static const double least_share = 0.001;

static double get(const struct diff_side *side, const char *name, bool calls, double into[BENCH_RUNS_MAX])
{
	double all = 0;

	for (size_t i = 0; i < side->nr; i++) {
		const struct diff_row *row = diff_run_find(&side->runs[i], name);

		into[i] = !row ? 0 : calls ? (double)row->count : (double)row->sum;
		all += into[i];
	}
	return all;
}

static double mean_wall(const struct bench *bench)
{
	struct bench_spread old, new;

	bench_spread(&bench->sides[0], BENCH_WALL, &old);
	bench_spread(&bench->sides[1], BENCH_WALL, &new);
	return (old.mean + new.mean) / 2;
}

/*
 * What is left out of the test does not depend on the side that has it, so the choice favours no difference: times that
 * are small over all runs, and numbers that are the same in all runs.
 */
static int add_row(const struct bench *bench, const char *name, struct bench_rows *rows, struct fail *fail)
{
	const struct diff_side *old = &bench->rows->sides[0], *new = &bench->rows->sides[1];
	double values[2][BENCH_RUNS_MAX], all = get(old, name, false, values[0]) + get(new, name, false, values[1]);
	struct bench_row added = { .name = name }, *row;

	added.time.small = all / (double)(old->nr + new->nr) < least_share * mean_wall(bench);
	added.time.same = diff_is_same(values[0], old->nr, values[1], new->nr);
	diff_ranks(values[0], old->nr, values[1], new->nr, 0.5, &added.time.test);
	get(old, name, true, values[0]);
	get(new, name, true, values[1]);
	added.calls.same = diff_is_same(values[0], old->nr, values[1], new->nr);
	diff_ranks(values[0], old->nr, values[1], new->nr, 0.5, &added.calls.test);
	added.more = added.time.test.new - added.time.test.old;
	rows->small += bench_row_is_small(&added);
	row = vec_push(rows->rows, rows->nr);
	if (!row)
		return fail_memory(fail);
	*row = added;
	return 0;
}

static bool is_known(const struct bench *bench, size_t side, size_t run, const char *name)
{
	for (size_t i = 0; i <= side; i++)
		for (size_t j = 0; j < (i < side ? bench->rows->sides[i].nr : run); j++)
			if (diff_run_find(&bench->rows->sides[i].runs[j], name))
				return true;
	return false;
}

/*
 * The time of a task in a state contains what its calls took there, so a call that is a good part of it is the better
 * explanation.
 */
static double weight(const struct bench_row *row)
{
	return fabs(row->more) * (diff_row_is_state(row->name) ? 0.25 : 1);
}

/* What has changed comes first, then what explains the most time, and last what explains nothing. */
static int compare(const void *a, const void *b)
{
	const struct bench_row *first = a, *second = b;

	if (bench_row_is_small(first) != bench_row_is_small(second))
		return bench_row_is_small(first) ? 1 : -1;
	if (bench_row_changed(first) != bench_row_changed(second))
		return bench_row_changed(first) ? -1 : 1;
	if (weight(first) != weight(second))
		return weight(first) > weight(second) ? -1 : 1;
	return strcmp(first->name, second->name);
}

static void take_line(struct bench_line *line, struct diff_test **tests, size_t *nr)
{
	if (!line->same && !line->small)
		tests[(*nr)++] = &line->test;
}

static int correct(const struct bench *bench, struct bench_rows *rows, struct fail *fail)
{
	struct diff_test **tests = calloc(2 * rows->nr + 1, sizeof(struct diff_test *));
	size_t nr = 0;
	bool ok;

	if (!tests)
		return fail_memory(fail);
	for (size_t i = 0; i < rows->nr; i++) {
		take_line(&rows->rows[i].time, tests, &nr);
		take_line(&rows->rows[i].calls, tests, &nr);
	}
	ok = diff_holm(tests, nr, BENCH_ROWS / 1000.0,
		       diff_least_p(bench->rows->sides[0].nr, bench->rows->sides[1].nr));
	rows->few = nr && !tests[0]->could_pass;
	rows->needed = diff_runs_needed(nr ? nr : 1, BENCH_ROWS / 1000.0);
	free(tests);
	if (!ok)
		return fail_memory(fail);
	if (rows->nr > 1)
		qsort(rows->rows, rows->nr, sizeof(*rows->rows), compare);
	return 0;
}

int bench_judge_rows(const struct bench *bench, struct bench_rows *rows, struct fail *fail)
{
	int r = 0;

	*rows = (struct bench_rows){ .nr = 0 };
	for (size_t side = 0; side < 2; side++)
		for (size_t run = 0; run < bench->rows->sides[side].nr; run++)
			for (size_t i = 0; !r && i < bench->rows->sides[side].runs[run].nr; i++) {
				const char *name = bench->rows->sides[side].runs[run].rows[i].name;

				if (!is_known(bench, side, run, name))
					r = add_row(bench, name, rows, fail);
			}
	if (!r)
		r = correct(bench, rows, fail);
	return r;
}

void bench_rows_release(struct bench_rows *rows)
{
	free(rows->rows);
}
