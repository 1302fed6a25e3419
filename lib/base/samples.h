/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_SAMPLES_H
#define WEFT_BASE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Numbers of which percentiles are asked: nearest rank, the smallest value that at least that part of all values does not exceed. Values are
 * kept as they are while their owner's budget lasts, and then counted in buckets, 128 for each doubling: a percentile is then at most 1/128
 * (0.8 %) above the exact one. Count, sum, least and largest are always exact.
 * All zero is an empty store.
 */
struct samples {
	uint64_t count, sum, min, max;
	uint64_t *values; /* of those kept */
	size_t nr;
	struct samples_buckets *buckets; /* once the budget is spent */
};

/* How many values all stores of an owner may keep together. */
struct samples_budget {
	size_t left;
	bool failed; /* no memory: percentiles are not known */
};

enum { SAMPLES_BUDGET = 10 * 1000 * 1000, SAMPLES_P99_MIN = 100 };

void samples_add(struct samples *samples, struct samples_budget *budget, uint64_t value);
void samples_release(struct samples *samples);

/* Adds those of another store. */
void samples_merge(struct samples *samples, struct samples_budget *budget, const struct samples *other);

/* The percentile of `per_mille` (500: the median); 0 of an empty store. */
uint64_t samples_quantile(const struct samples *samples, unsigned per_mille);

/* Whether percentiles are exact. */
static inline bool samples_exact(const struct samples *samples)
{
	return !samples->buckets;
}

#endif
