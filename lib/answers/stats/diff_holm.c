// SPDX-License-Identifier: LGPL-2.1-or-later
/* When a difference is called one although many were looked at: of files and of the runs of a benchmark. */
#include "lib/answers/stats/diff_internal.h"

#include <math.h>
#include <stdlib.h>

double diff_least_p(size_t nr_old, size_t nr_new)
{
	double ways = 1;

	for (size_t i = 1; i <= nr_new; i++)
		ways *= (double)(nr_old + i) / (double)i;
	return fmin(2 / ways, 1);
}

size_t diff_runs_needed(size_t rows, double level)
{
	size_t nr = 1;

	while (nr < DIFF_RUNS_MAX && diff_least_p(nr, nr) > level / (double)rows)
		nr++;
	return nr;
}

bool diff_is_same(const double *old, size_t nr_old, const double *new, size_t nr_new)
{
	bool same = true;

	for (size_t i = 0; i < nr_old; i++)
		same = same && old[i] == old[0];
	for (size_t i = 0; i < nr_new; i++)
		same = same && new[i] == old[0];
	return same;
}

bool diff_excludes_none(const struct diff_test *test)
{
	return test->bounded && (test->low > 0 || test->high < 0);
}

static int compare(const void *a, const void *b)
{
	const struct diff_test *const *first = a, *const *second = b;

	return (*first)->p < (*second)->p ? -1 : (*first)->p > (*second)->p;
}

bool diff_holm(struct diff_test *const *tests, size_t nr, double level, double least_p)
{
	struct diff_test **sorted = calloc(nr ? nr : 1, sizeof(*sorted));
	bool passes = sorted;

	for (size_t i = 0; sorted && i < nr; i++)
		sorted[i] = tests[i];
	if (sorted && nr > 1)
		qsort(sorted, nr, sizeof(*sorted), compare);
	for (size_t i = 0; sorted && i < nr; i++) {
		passes = passes && sorted[i]->p <= level / (double)(nr - i);
		sorted[i]->could_pass = sorted[i]->bounded && least_p <= level / (double)nr;
		sorted[i]->passes = passes && diff_excludes_none(sorted[i]);
	}
	free(sorted);
	return sorted;
}
