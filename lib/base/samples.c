// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/samples.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum {
	SUB_BITS = 7,
	SUBS = 1 << SUB_BITS,    /* buckets of an octave */
	OCTAVES = 64 - SUB_BITS, /* the first one holds the values below SUBS, each exactly */
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
};

struct samples_buckets {
	uint64_t *octaves[OCTAVES + 1];
};

/* Of values from SUBS on: n > 0 for 2^(n + SUB_BITS - 1) and more. */
static unsigned octave_of(uint64_t value)
{
	return value < SUBS ? 0 : 64 - SUB_BITS - (unsigned)__builtin_clzll(value);
}

static unsigned sub_of(uint64_t value, unsigned octave)
{
	return (unsigned)(octave ? value >> (octave - 1) : value) & (SUBS - 1);
}

/* The largest value of a bucket. */
static uint64_t top_of(unsigned octave, unsigned sub)
{
	if (!octave)
		return sub;
	return ((uint64_t)(SUBS + sub) << (octave - 1)) + (((uint64_t)1 << (octave - 1)) - 1);
}

static void count_in_bucket(struct samples *samples, struct samples_budget *budget, uint64_t value)
{
	unsigned octave = octave_of(value);
	uint64_t **at = &samples->buckets->octaves[octave];

	if (!*at)
		*at = calloc(SUBS, sizeof(**at));
	if (*at)
		(*at)[sub_of(value, octave)]++;
	else
		budget->failed = true;
}

static void to_buckets(struct samples *samples, struct samples_budget *budget)
{
	samples->buckets = calloc(1, sizeof(*samples->buckets));
	if (!samples->buckets) {
		budget->failed = true;
		return;
	}
	for (size_t i = 0; i < samples->nr; i++)
		count_in_bucket(samples, budget, samples->values[i]);
	budget->left += samples->nr;
	free(samples->values);
	samples->values = NULL;
	samples->nr = 0;
}

void samples_add(struct samples *samples, struct samples_budget *budget, uint64_t value)
{
	uint64_t *kept;

	if (!samples->count || value < samples->min)
		samples->min = value;
	if (value > samples->max)
		samples->max = value;
	samples->count++;
	samples->sum += value;
	if (!samples->buckets && !budget->left)
		to_buckets(samples, budget);
	if (samples->buckets) {
		count_in_bucket(samples, budget, value);
		return;
	}
	kept = budget->left ? vec_push(samples->values, samples->nr) : NULL;
	if (!kept) {
		budget->failed = true;
		return;
	}
	*kept = value;
	budget->left--;
}

void samples_release(struct samples *samples)
{
	for (size_t i = 0; samples->buckets && i <= OCTAVES; i++)
		free(samples->buckets->octaves[i]);
	free(samples->buckets);
	free(samples->values);
	*samples = (struct samples){ .count = 0 };
}

static void merge_buckets(struct samples *samples, struct samples_budget *budget, const struct samples_buckets *other)
{
	for (unsigned octave = 0; octave <= OCTAVES; octave++) {
		uint64_t **into = &samples->buckets->octaves[octave];

		if (!other->octaves[octave])
			continue;
		if (!*into)
			*into = calloc(SUBS, sizeof(**into));
		budget->failed |= !*into;
		for (size_t i = 0; *into && i < SUBS; i++)
			(*into)[i] += other->octaves[octave][i];
	}
}

void samples_merge(struct samples *samples, struct samples_budget *budget, const struct samples *other)
{
	struct samples sum = *samples;

	for (size_t i = 0; i < other->nr; i++)
		samples_add(samples, budget, other->values[i]);
	if (other->buckets && !samples->buckets)
		to_buckets(samples, budget);
	if (other->buckets && samples->buckets)
		merge_buckets(samples, budget, other->buckets);
	if (other->count) {
		samples->min = sum.count && sum.min < other->min ? sum.min : other->min;
		samples->max = sum.max > other->max ? sum.max : other->max;
		samples->count = sum.count + other->count;
		samples->sum = sum.sum + other->sum;
	}
}

/* The value of a rank, from 1 on, among those kept: one digit after the other, from the highest; nothing is moved. */
static uint64_t select_value(const struct samples *samples, uint64_t rank)
{
	unsigned bits = samples->max ? 64 - (unsigned)__builtin_clzll(samples->max) : 1;
	unsigned shift = (bits + DIGIT_BITS - 1) / DIGIT_BITS * DIGIT_BITS;
	uint64_t prefix = 0;

	while (shift) {
		uint64_t counts[DIGITS] = { 0 };
		unsigned digit = 0;

		shift -= DIGIT_BITS;
		for (size_t i = 0; i < samples->nr; i++) {
			uint64_t value = samples->values[i] >> shift;

			if (value >> DIGIT_BITS == prefix)
				counts[value & (DIGITS - 1)]++;
		}
		while (digit < DIGITS - 1 && counts[digit] < rank)
			rank -= counts[digit++];
		prefix = prefix << DIGIT_BITS | digit;
	}
	return prefix;
}

static uint64_t select_bucket(const struct samples *samples, uint64_t rank)
{
	for (unsigned octave = 0; octave <= OCTAVES; octave++) {
		const uint64_t *subs = samples->buckets->octaves[octave];

		for (unsigned i = 0; subs && i < SUBS; i++) {
			if (subs[i] >= rank) {
				uint64_t top = top_of(octave, i);

				return top < samples->max ? top : samples->max;
			}
			rank -= subs[i];
		}
	}
	return samples->max;
}

uint64_t samples_quantile(const struct samples *samples, unsigned per_mille)
{
	uint64_t rank;

	if (!samples->count)
		return 0;
	/* ceil(p * n), without overflow */
	rank = samples->count / 1000 * per_mille + (samples->count % 1000 * per_mille + 999) / 1000;
	rank = rank ? rank : 1;
	return samples->buckets ? select_bucket(samples, rank) : select_value(samples, rank);
}
