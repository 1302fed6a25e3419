/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_SAMPLES_H
#define WEFT_GROUND_BASE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"

/*
 * A store of numbers that gives percentiles by nearest rank: the smallest value that is not exceeded by less than that
 * share of all values. Values are stored as they are while their owner's budget lasts, and then counted in buckets, 128
 * for each doubling: a percentile is then at most 1/128 (0.8 %) above the exact one. Count, sum, minimum and maximum
 * are always exact. All zero is an empty store.
 */
struct samples {
	uint64_t count, sum, min, max;
	uint64_t *values; /* the values that are stored as they are */
	size_t nr;
	size_t room; /* values up to this number can be added without a look at anything but the budget */
	struct samples_buckets *buckets; /* used once the budget is spent */
	/* a mark for each stored value if budget::marks is set: then nr_marks equals nr */
	uint8_t *marks;
	size_t nr_marks;
};

/* The number of values that all stores of one owner may keep as they are. */
struct samples_budget {
	size_t left;
	bool failed; /* memory ran out: percentiles are unknown */
	bool marks;  /* each value is stored with the value of `mark` at that time */
	uint8_t mark;
};

enum { SAMPLES_BUDGET = 10 * 1000 * 1000, SAMPLES_P99_MIN = 100, SAMPLES_P999_MIN = 1000 };

/* The value whose minimum, maximum, count and sum are already in: keeps it, or counts it in its bucket. */
void samples_keep(struct samples *samples, struct samples_budget *budget, uint64_t value);

static inline void samples_add(struct samples *samples, struct samples_budget *budget, uint64_t value)
{
	size_t nr = samples->nr;

	if (!samples->count || value < samples->min)
		samples->min = value;
	if (value > samples->max)
		samples->max = value;
	samples->count++;
	samples->sum += value;
	if (__builtin_expect(nr < samples->room && budget->left, 1)) {
		samples->values[nr] = value;
		samples->nr = nr + 1;
		budget->left--;
		return;
	}
	samples_keep(samples, budget, value);
}
void samples_release(struct samples *samples);
/* Forgets the values, and keeps the memory of those that have no marks for others that have none. */
void samples_clear(struct samples *samples);

/*
 * Adds the values of another store, whose owner had a budget of its own. False: the values cannot all be kept as they
 * are (or memory ran out, and the budget says so), so that nothing was added: what becomes of them then depends on
 * the order of all values. Not for stores with marks.
 */
bool samples_join(struct samples *into, struct samples_budget *budget, const struct samples *from);

/* The percentile of `per_mille` (500: the median); 0 for an empty store. */
uint64_t samples_quantile(const struct samples *samples, unsigned per_mille);

/* The value of a rank, from 1 (the smallest) to `count`; 0 for an empty store. */
uint64_t samples_ranked(const struct samples *samples, uint64_t rank);

/* The rank of a percentile among so many values. */
uint64_t samples_rank(uint64_t count, unsigned per_mille);

/* Several at once, which costs less where there are many values. */
void samples_quantiles(const struct samples *samples, const unsigned *per_mille, size_t nr, uint64_t *ret);

/* Whether percentiles are exact. */
static inline bool samples_exact(const struct samples *samples)
{
	return !samples->buckets;
}

/* A struct u64_map whose values are a struct samples each: u64_map_find() and u64_map_next() return them. */
void samples_map_init(struct u64_map *map);
void samples_map_release(struct u64_map *map);
/* Adds a value to the samples of the key. Without memory the map is starved, or the budget has failed. */
void samples_map_add(struct u64_map *map, uint64_t key, struct samples_budget *budget, uint64_t value);

#endif
