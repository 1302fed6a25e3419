// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The test of Mann and Whitney: of all ways to choose as many ranks, it counts those whose sum is at least as far from
 * the middle. Equal values share a rank. With more than EXACT_MAX values a side, the sum is as good as normal.
 */
#include "lib/answers/stats/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_MAX = 20, ALL_MAX = 2 * DIFF_RUNS_MAX, SUM_MAX = 2 * 2 * EXACT_MAX * EXACT_MAX };

static int compare(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return *first < *second ? -1 : *first > *second;
}

/* Twice the rank among all values, so that a shared rank is also a whole number. */
static unsigned rank_of(const double *all, size_t nr, double value)
{
	unsigned below = 0, equal = 0;

	for (size_t i = 0; i < nr; i++) {
		below += all[i] < value;
		equal += all[i] == value;
	}
	return 2 * below + equal + 1;
}

/* Sets ways[s] to the number of ways in which `nr` of the ranks sum up to s. */
static void count_ways(const unsigned *ranks, size_t all, size_t nr, double ways[SUM_MAX + 1])
{
	static const double zero[SUM_MAX + 1];
	double(*chosen)[SUM_MAX + 1] = calloc(nr + 1, sizeof(*chosen));

	memcpy(ways, zero, sizeof(zero));
	if (!chosen)
		return;
	chosen[0][0] = 1;
	for (size_t i = 0; i < all; i++)
		for (size_t taken = nr; taken > 0; taken--)
			for (size_t sum = 2 * all * nr; sum >= ranks[i]; sum--)
				chosen[taken][sum] += chosen[taken - 1][sum - ranks[i]];
	memcpy(ways, chosen[nr], sizeof(chosen[nr]));
	free(chosen);
}

static double two_sided(const double ways[SUM_MAX + 1], double middle, double far)
{
	double all = 0, hit = 0;

	for (size_t sum = 0; sum <= SUM_MAX; sum++) {
		all += ways[sum];
		if (fabs((double)sum - middle) >= far - 1e-9)
			hit += ways[sum];
	}
	return all > 0 ? hit / all : 1;
}

static double exact_p(const unsigned *ranks, size_t nr, size_t nr_new, double middle, double far)
{
	double ways[SUM_MAX + 1];

	count_ways(ranks, nr, nr_new, ways);
	return two_sided(ways, middle, far);
}

/* The variance counts equal values; `far` is in halves of ranks, of which one is the step between two sums. */
static double normal_p(const unsigned *ranks, size_t nr, size_t nr_new, double far)
{
	double all = (double)nr, square = 0, variance;

	for (size_t i = 0; i < nr; i++)
		square += pow(ranks[i] - (all + 1), 2);
	variance = square / (all - 1) * (double)nr_new * (all - (double)nr_new) / all;
	return variance > 0 ? erfc(fmax(far - 1, 0) / sqrt(2 * variance)) : 1;
}

static const double normal_975 = 1.9600;

/* Returns how many of the ratios at each end lie outside the 95 % interval; 0: there is no such interval. */
static size_t outside(size_t nr_old, size_t nr_new)
{
	unsigned ranks[2 * EXACT_MAX];
	double ways[SUM_MAX + 1], all = 0, part = 0;
	size_t least = nr_new * (nr_new + 1), u = 0;

	if (nr_old > EXACT_MAX || nr_new > EXACT_MAX) {
		double pairs = (double)nr_old * (double)nr_new;

		return (size_t)fmax(pairs / 2 - normal_975 * sqrt(pairs * (double)(nr_old + nr_new + 1) / 12) + 0.5, 0);
	}
	for (size_t i = 0; i < nr_old + nr_new; i++)
		ranks[i] = 2 * (unsigned)(i + 1);
	count_ways(ranks, nr_old + nr_new, nr_new, ways);
	for (size_t sum = 0; sum <= SUM_MAX; sum++)
		all += ways[sum];
	for (; least + 2 * u <= SUM_MAX; u++) {
		part += ways[least + 2 * u];
		if (part / all > 0.025)
			break;
	}
	return u;
}

static double median(const double *sorted, size_t nr)
{
	return nr % 2 ? sorted[nr / 2] : (sorted[nr / 2 - 1] + sorted[nr / 2]) / 2;
}

void diff_ranks(const double *old, size_t nr_old, const double *new, size_t nr_new, double nothing,
		struct diff_test *test)
{
	double all[ALL_MAX], sorted_old[DIFF_RUNS_MAX], sorted_new[DIFF_RUNS_MAX],
		ratios[DIFF_RUNS_MAX * DIFF_RUNS_MAX], middle;
	size_t nr = nr_old + nr_new, nr_ratios = 0, out = outside(nr_old, nr_new);
	unsigned ranks[ALL_MAX], sum = 0;

	memcpy(sorted_old, old, nr_old * sizeof(*old));
	memcpy(sorted_new, new, nr_new * sizeof(*new));
	memcpy(all, old, nr_old * sizeof(*old));
	memcpy(all + nr_old, new, nr_new * sizeof(*new));
	for (size_t i = 0; i < nr; i++) {
		ranks[i] = rank_of(all, nr, all[i]);
		sum += i >= nr_old ? ranks[i] : 0;
	}
	middle = (double)nr_new * (double)(nr + 1);
	test->p = nr_old > EXACT_MAX || nr_new > EXACT_MAX ?
			  normal_p(ranks, nr, nr_new, fabs((double)sum - middle)) :
			  exact_p(ranks, nr, nr_new, middle, fabs((double)sum - middle));
	qsort(sorted_old, nr_old, sizeof(*old), compare);
	qsort(sorted_new, nr_new, sizeof(*new), compare);
	test->old = median(sorted_old, nr_old);
	test->new = median(sorted_new, nr_new);
	test->change = test->new / (test->old > 0 ? test->old : nothing) - 1;
	for (size_t i = 0; i < nr_old; i++)
		for (size_t j = 0; j < nr_new; j++)
			ratios[nr_ratios++] = new[j] / (old[i] > 0 ? old[i] : nothing) - 1;
	qsort(ratios, nr_ratios, sizeof(*ratios), compare);
	test->bounded = out > 0;
	if (test->bounded) {
		test->low = ratios[out - 1];
		test->high = ratios[nr_ratios - out];
		test->sees = (test->high - test->low) / 2;
	}
}
