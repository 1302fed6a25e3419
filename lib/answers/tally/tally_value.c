// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a row has in a column of values. Minimum, maximum and percentiles come from two stores of samples: the first has
 * the values from 0 on, the second the values below 0 without their sign.
 */
#include "lib/answers/tally/tally_internal.h"

bool tally_is_of_samples(const struct tally_column *column)
{
	return column->how == TALLY_MIN || column->how == TALLY_MAX || column->how == TALLY_QUANTILE;
}

static bool is_below_0(const struct tally_column *column, uint64_t value)
{
	return column->of == TALLY_NUMBER && column->is_signed && (int64_t)value < 0;
}

static struct samples *below_0(const struct tally *tally, const struct tally_row *row, size_t index)
{
	return &row->samples[tally->rows.nr_values + index];
}

void tally_sample(struct tally *tally, const struct tally_row *row, size_t index, uint64_t value)
{
	if (is_below_0(&tally->program.values[index - 1], value))
		samples_add(below_0(tally, row, index), &tally->budget, -value);
	else
		samples_add(&row->samples[index], &tally->budget, value);
}

bool tally_value_known(const struct tally *tally, const struct tally_row *row, size_t index)
{
	const struct tally_column *column = index ? &tally->program.values[index - 1] : NULL;

	if (!column || column->how != TALLY_QUANTILE || column->per_mille < 990)
		return true;
	return row->sums[0] >= (column->per_mille == 990 ? SAMPLES_P99_MIN : SAMPLES_P999_MIN);
}

static uint64_t quantile(const struct samples *below, const struct samples *above, unsigned per_mille)
{
	uint64_t rank = samples_rank(below->count + above->count, per_mille);

	/* The smallest number is the one with the largest amount below 0. */
	return rank <= below->count ? -samples_ranked(below, below->count - rank + 1) :
				      samples_ranked(above, rank - below->count);
}

uint64_t tally_value(const struct tally *tally, const struct tally_row *row, size_t index)
{
	const struct tally_column *column = index ? &tally->program.values[index - 1] : NULL;
	const struct samples *below, *above;

	if (!column)
		return row->sums[0];
	if (!tally_is_of_samples(column))
		return row->sums[index];
	below = below_0(tally, row, index);
	above = &row->samples[index];
	if (column->how == TALLY_MIN)
		return below->count ? -below->max : above->min;
	if (column->how == TALLY_MAX)
		return above->count ? above->max : -below->min;
	return tally_value_known(tally, row, index) ? quantile(below, above, column->per_mille) : 0;
}
