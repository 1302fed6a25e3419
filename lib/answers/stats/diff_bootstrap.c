// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The block bootstrap. Runs of consecutive blocks of time are drawn with replacement, 2000 times, and the ratio of each
 * figure is computed for each draw. A percentile of a draw is searched in a grid: a few hundred values, most of them
 * around the percentile of the whole file, the others from the smallest value to the largest one. A draw without the
 * block that has most of a row's calls can have its percentile anywhere. For each value the grid has, per block, the
 * number of values that are not larger.
 */
#include "lib/answers/stats/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/random.h"
#include "lib/ground/base/vec.h"

/*
 * So many consecutive blocks are drawn at a time, about the cube root of their number: a machine is slower for a while,
 * so a block resembles the next one. Blocks drawn one by one would make each moment look independent.
 */
enum { TOGETHER = 4, DRAWN = PASS_BLOCKS / TOGETHER };

enum { NEAR_MAX = 512, FAR_MAX = 128, GRID_MAX = NEAR_MAX + 2 * FAR_MAX + 1 };

struct grid {
	size_t nr;
	uint64_t values[GRID_MAX];
	uint32_t below[GRID_MAX][PASS_BLOCKS]; /* number of values of each block that are not larger */
};

struct blocks {
	uint32_t counts[PASS_BLOCKS];
	double sums[PASS_BLOCKS];
	struct grid p50, p99;
};

bool diff_draw(struct diff *diff)
{
	uint64_t state = 20; /* fixed, so that the same files always give the same figures */

	diff->draws = calloc(DIFF_DRAWS, sizeof(*diff->draws));
	for (size_t i = 0; diff->draws && i < DIFF_DRAWS; i++)
		for (size_t side = 0; side < 2; side++)
			for (size_t block = 0; block < PASS_BLOCKS; block += TOGETHER) {
				size_t first = (size_t)(random_next(&state) % PASS_BLOCKS);

				for (size_t j = 0; j < TOGETHER; j++)
					diff->draws[i][side][(first + j) % PASS_BLOCKS]++;
			}
	return diff->draws;
}

/* A grid that is being filled. */
struct filling {
	struct grid *grid;
	const struct diff_row *row;
	size_t at; /* so many values are counted in `below` */
	uint32_t below[PASS_BLOCKS];
};

static void add_value(struct filling *filling, size_t rank)
{
	const struct diff_row *row = filling->row;
	struct grid *grid = filling->grid;

	/* Equal values count as not larger. */
	for (; filling->at < row->nr && row->values[filling->at].value <= row->values[rank].value; filling->at++)
		filling->below[row->values[filling->at].block]++;
	grid->values[grid->nr] = row->values[rank].value;
	memcpy(grid->below[grid->nr++], filling->below, sizeof(filling->below));
}

/* Adds the values from a rank to before another one; if they are more than `most`, evenly spaced ones. */
static void add_values(struct filling *filling, size_t first, size_t end, size_t most)
{
	size_t step = (end - first + most - 1) / most;

	for (size_t i = first; i < end; i += step)
		add_value(filling, i);
}

/* Fills the grid, most closely between two ranks (per mille of all values). */
static void fill_grid(struct grid *grid, const struct diff_row *row, size_t from, size_t to)
{
	size_t first = row->nr * from / 1000, end = row->nr * to / 1000;
	struct filling filling = { .grid = grid, .row = row };

	grid->nr = 0;
	add_values(&filling, 0, first, FAR_MAX);
	add_values(&filling, first, end, NEAR_MAX);
	add_values(&filling, end, row->nr, FAR_MAX);
	add_value(&filling, row->nr - 1);
}

static void fill_blocks(struct blocks *blocks, const struct diff_row *row)
{
	memset(blocks->counts, 0, sizeof(blocks->counts));
	memset(blocks->sums, 0, sizeof(blocks->sums));
	for (size_t i = 0; i < row->nr; i++) {
		blocks->counts[row->values[i].block]++;
		blocks->sums[row->values[i].block] += (double)row->values[i].value;
	}
	fill_grid(&blocks->p50, row, 200, 800);
	fill_grid(&blocks->p99, row, 900, 1000);
}

static uint64_t weigh(const uint32_t counts[PASS_BLOCKS], const uint8_t draw[PASS_BLOCKS])
{
	uint64_t sum = 0;

	for (size_t i = 0; i < PASS_BLOCKS; i++)
		sum += (uint64_t)counts[i] * draw[i];
	return sum;
}

static double find_quantile(const struct grid *grid, const uint8_t draw[PASS_BLOCKS], uint64_t all, uint64_t per_mille)
{
	uint64_t rank = (all * per_mille + 999) / 1000;
	size_t low = vec_count(grid->nr - 1, i, weigh(grid->below[i], draw) < rank);

	return (double)grid->values[low];
}

static bool figures(const struct blocks *blocks, const uint8_t draw[PASS_BLOCKS], double into[DIFF_METRICS])
{
	uint64_t all = weigh(blocks->counts, draw);

	if (!all)
		return false;
	into[DIFF_P50] = find_quantile(&blocks->p50, draw, all, 500);
	into[DIFF_P99] = find_quantile(&blocks->p99, draw, all, 990);
	into[DIFF_RATE] = (double)all;
	into[DIFF_TOTAL] = 0;
	for (size_t i = 0; i < PASS_BLOCKS; i++)
		into[DIFF_TOTAL] += blocks->sums[i] * draw[i];
	return true;
}

static int compare(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return *first < *second ? -1 : *first > *second;
}

/*
 * Few runs of blocks tell their own variance only roughly. So the distribution of Student is taken for the normal one,
 * with the degrees of freedom of two sides. Returns the probability of a value that is at least as far from 0; for an
 * even number of degrees it is a finite sum (Abramowitz and Stegun, 26.7.4).
 */
enum { FREEDOM = 2 * (DRAWN - 1) };
static const double student_975 = 2.1009, normal_975 = 1.9600;

static double student_p(double t)
{
	double angle = atan(fabs(t) / sqrt(FREEDOM)), square = cos(angle) * cos(angle), term = 1, sum = 1;

	for (int i = 2; i < FREEDOM; i += 2) {
		term *= square * (i - 1) / i;
		sum += term;
	}
	return fmax(1 - sin(angle) * sum, 0);
}

/*
 * A run of a program differs from the next one by more than its own blocks of time differ from each other: the program
 * lies elsewhere in memory, the machine is in another state. How much is not in two files. Of 25,000 figures of 220
 * pairs of runs of one program, on a busy machine, one in twenty was 1.7 times as far away as the blocks alone say.
 * With the deviation taken half as large again, and a tenth that counts as no difference, and the correction for the
 * number of rows, less than two in a hundred rows are called changed.
 */
static const double runs_deviate = 1.5, runs_differ = 0.1; /* a factor; a logarithm */

/* `logs` are the logarithms of the ratio in each draw; the ratio of the whole files is 1 + change. */
static void judge(double *logs, size_t nr, struct diff_test *test)
{
	double mean = 0, square = 0, deviation, all = log(1 + test->change), scale;

	for (size_t i = 0; i < nr; i++)
		mean += logs[i] / (double)nr;
	for (size_t i = 0; i < nr; i++)
		square += (logs[i] - mean) * (logs[i] - mean);
	/* Draws of few runs of blocks vary less than the traced system does; this factor corrects for it. */
	scale = runs_deviate * sqrt((double)DRAWN / (DRAWN - 1));
	deviation = sqrt(square / (double)(nr - 1)) * scale;
	scale *= student_975 / normal_975;
	qsort(logs, nr, sizeof(*logs), compare);
	test->low = exp(all + (logs[nr / 40] - all) * scale - runs_differ) - 1;
	test->high = exp(all + (logs[nr - 1 - nr / 40] - all) * scale + runs_differ) - 1;
	test->bounded = true;
	all = fmax(fabs(all) - runs_differ, 0);
	test->p = deviation > 0 ? student_p(all / deviation) : all > 0 ? 0 : 1;
	test->sees = exp(student_975 * deviation + runs_differ) - 1;
}

/* The number of units in a draw; it may be 0. */
static double units_of(const struct diff *diff, size_t side, const uint8_t draw[PASS_BLOCKS])
{
	const struct diff_units *units = &diff->sides[side].runs[0].units;

	return diff->per == DIFF_PER_EVENT ? (double)weigh(units->blocks, draw) : units->nr;
}

static void run(const struct diff *diff, const struct blocks *sides, double *logs, struct diff_test tests[DIFF_METRICS])
{
	size_t nr[DIFF_METRICS] = { 0 };

	for (size_t i = 0; i < DIFF_DRAWS; i++) {
		double old[DIFF_METRICS], new[DIFF_METRICS], per[2];

		for (size_t side = 0; side < 2; side++)
			per[side] = units_of(diff, side, diff->draws[i][side]);
		if (!figures(&sides[0], diff->draws[i][0], old) || !figures(&sides[1], diff->draws[i][1], new))
			continue;
		for (size_t metric = 0; metric < DIFF_METRICS; metric++) {
			bool per_unit = diff_is_per_unit((enum diff_metric)metric);

			if (per_unit && !(per[0] > 0 && per[1] > 0))
				continue;
			/* A time of 0 is taken as half a nanosecond, so that it has a logarithm. */
			logs[metric * DIFF_DRAWS + nr[metric]++] =
				log((new[metric] > 0 ? new[metric] : 0.5) / (old[metric] > 0 ? old[metric] : 0.5) *
				    (per_unit ? per[0] / per[1] : 1));
		}
	}
	for (size_t metric = 0; metric < DIFF_METRICS; metric++)
		if (nr[metric] >= DIFF_DRAWS / 2)
			judge(logs + metric * DIFF_DRAWS, nr[metric], &tests[metric]);
}

void diff_bootstrap(const struct diff *diff, const struct diff_row *old, const struct diff_row *new,
		    struct diff_test tests[DIFF_METRICS], bool *failed)
{
	struct blocks *sides = calloc(2, sizeof(*sides));
	double *logs = calloc((size_t)DIFF_METRICS * DIFF_DRAWS, sizeof(*logs));

	if (sides && logs && old->nr && new->nr) {
		fill_blocks(&sides[0], old);
		fill_blocks(&sides[1], new);
		run(diff, sides, logs, tests);
	}
	*failed |= !sides || !logs;
	free(sides);
	free(logs);
}
