// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/samples.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/populate.h"
#include "lib/ground/base/vec.h"

enum {
	SUB_BITS = 7,
	SUBS = 1 << SUB_BITS,    /* buckets of one octave */
	OCTAVES = 64 - SUB_BITS, /* octave 0 holds the values below SUBS, each exactly */
	/*
	 * bits of a digit; for few values smaller digits, because clearing many counts would cost more than another
	 * pass
	 */
	DIGIT_BITS = 11,
	FEW_DIGIT_BITS = 5,
	DIGITS = 1 << DIGIT_BITS,
	FEW = 2048,
};

struct samples_buckets {
	uint64_t *octaves[OCTAVES + 1];
};

/* Octave n > 0 holds the values from 2^(n + SUB_BITS - 1) on. */
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
	free(samples->marks);
	samples->values = NULL;
	samples->marks = NULL;
	samples->nr = samples->nr_marks = samples->room = 0;
}

static void add_mark(struct samples *samples, struct samples_budget *budget)
{
	uint8_t *mark = vec_push(samples->marks, samples->nr_marks);

	if (mark)
		*mark = budget->mark;
	else
		budget->failed = true;
}

/* Up to which number values can be added without vec_push(), which also has the memory of a large array mapped. */
static size_t room_of(size_t nr)
{
	enum { VALUES_POPULATED = VEC_POPULATED / sizeof(uint64_t) };
	size_t room = vec_size(nr), populated = (nr / VALUES_POPULATED + 1) * VALUES_POPULATED - 1;

	return room < populated ? room : populated;
}

void samples_keep(struct samples *samples, struct samples_budget *budget, uint64_t value)
{
	uint64_t *kept;

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
	samples->room = room_of(samples->nr);
	if (__builtin_expect(budget->marks, 0)) {
		add_mark(samples, budget);
		samples->room = 0;
	}
}

bool samples_join(struct samples *into, struct samples_budget *budget, const struct samples *from)
{
	size_t nr = into->nr + from->nr;
	uint64_t *values = into->values;

	if (into->buckets || from->buckets || from->nr > budget->left)
		return false;
	if (!from->count)
		return true;
	if (nr > vec_size(into->nr))
		values = populate_grown(values, into->nr * sizeof(*values), vec_size(nr) * sizeof(*values));
	if (!values) {
		budget->failed = true;
		return false;
	}
	memcpy(values + into->nr, from->values, from->nr * sizeof(*values));
	into->values = values;
	into->nr = nr;
	into->room = room_of(nr);
	into->min = into->count && into->min < from->min ? into->min : from->min;
	into->max = into->max > from->max ? into->max : from->max;
	into->count += from->count;
	into->sum += from->sum;
	budget->left -= from->nr;
	return true;
}

void samples_release(struct samples *samples)
{
	for (size_t i = 0; samples->buckets && i <= OCTAVES; i++)
		free(samples->buckets->octaves[i]);
	free(samples->buckets);
	free(samples->values);
	free(samples->marks);
	*samples = (struct samples){ .count = 0 };
}

void samples_clear(struct samples *samples)
{
	uint64_t *values = samples->marks ? NULL : samples->values;
	size_t room = values ? samples->room : 0;

	if (values)
		samples->values = NULL;
	samples_release(samples);
	samples->values = values;
	samples->room = room;
}

/* Some values, and what the least and the largest of them may be. */
struct values {
	const uint64_t *at;
	size_t nr;
	uint64_t min, max;
};

/*
 * The value of a rank (from 1 on): selected digit by digit from the highest digit, without moving values.
 */
static uint64_t select_value(const struct values *values, uint64_t rank)
{
	unsigned digit_bits = values->nr < FEW ? FEW_DIGIT_BITS : DIGIT_BITS, digits = 1u << digit_bits;
	unsigned bits = values->max != values->min ? 64 - (unsigned)__builtin_clzll(values->max ^ values->min) : 0;
	unsigned shift = (bits + digit_bits - 1) / digit_bits * digit_bits;
	/* The bits in which all values agree. */
	uint64_t prefix = shift < 64 ? values->max >> shift : 0, counts[DIGITS];

	while (shift) {
		unsigned digit = 0;

		memset(counts, 0, digits * sizeof(*counts));
		shift -= digit_bits;
		for (size_t i = 0; i < values->nr; i++) {
			uint64_t value = values->at[i] >> shift;

			if (value >> digit_bits == prefix)
				counts[value & (digits - 1)]++;
		}
		while (digit < digits - 1 && counts[digit] < rank)
			rank -= counts[digit++];
		prefix = prefix << digit_bits | digit;
	}
	return prefix;
}

/*
 * The bucket of a value, 2^sub_bits for each doubling, without a branch: the buckets of the first doubling are as wide
 * as those of the values below.
 */
static inline size_t index_of(uint64_t value, unsigned sub_bits)
{
	unsigned shift = 63 - sub_bits - (unsigned)__builtin_clzll(value | (uint64_t)1 << sub_bits);

	return ((size_t)shift << sub_bits) + (size_t)(value >> shift);
}

enum { FEW_SUB_BITS = 3, FEW_BUCKETS = (65 - FEW_SUB_BITS) << FEW_SUB_BITS, BUCKETS = (65 - SUB_BITS) << SUB_BITS };

/* How many of the stored values are in each bucket; there are at most SAMPLES_BUDGET. */
struct spread {
	unsigned sub_bits;
	size_t least, most; /* the buckets of the least and the largest value: only what is between them is valid */
	uint32_t *counts;
};

/* Many values have left the caches since they were stored. */
enum { VALUES_AHEAD = 256 };

/* Values are counted in two tables in turn: many are equal, and a count is not ready for the next one at once. */
__attribute__((always_inline)) static inline void spread_out(const struct samples *samples, unsigned sub_bits,
							     uint32_t *counts, uint32_t *others, struct spread *ret)
{
	size_t least = index_of(samples->min, sub_bits), most = index_of(samples->max, sub_bits), i;

	memset(counts + least, 0, (most - least + 1) * sizeof(*counts));
	memset(others + least, 0, (most - least + 1) * sizeof(*others));
	for (i = 0; i + 1 < samples->nr; i += 2) {
		__builtin_prefetch((const void *)((uintptr_t)samples->values + (i + VALUES_AHEAD) * sizeof(uint64_t)));
		counts[index_of(samples->values[i], sub_bits)]++;
		others[index_of(samples->values[i + 1], sub_bits)]++;
	}
	if (i < samples->nr)
		counts[index_of(samples->values[i], sub_bits)]++;
	for (i = least; i <= most; i++)
		counts[i] += others[i];
	*ret = (struct spread){ .sub_bits = sub_bits, .least = least, .most = most, .counts = counts };
}

/* Takes the values of one bucket only. Without memory for them: among all. */
static uint64_t select_spread(const struct samples *samples, const struct spread *spread, uint64_t rank)
{
	uint64_t among = rank, width, few[FEW + 1], *room = few;
	size_t index = spread->least;
	struct values values = { .nr = 0 };
	unsigned shift;

	while (index < spread->most && spread->counts[index] < among)
		among -= spread->counts[index++];
	shift = index >> spread->sub_bits ? (unsigned)(index >> spread->sub_bits) - 1 : 0;
	width = (uint64_t)1 << shift;
	values.min = (index - ((size_t)shift << spread->sub_bits)) << shift;
	values.max = values.min + (width - 1);
	if (width == 1)
		return values.min;
	/* One more than needed is written. */
	if (spread->counts[index] > FEW)
		room = malloc(((size_t)spread->counts[index] + 1) * sizeof(*room));
	if (!room)
		return select_value(&(struct values){ samples->values, samples->nr, samples->min, samples->max }, rank);
	for (size_t i = 0; i < samples->nr; i++) {
		/* Without a branch: which are in it is random. */
		room[values.nr] = samples->values[i];
		values.nr += samples->values[i] - values.min < width;
	}
	values.at = room;
	rank = select_value(&values, among);
	if (room != few)
		free(room);
	return rank;
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

/* ceil(p * n), without overflow */
uint64_t samples_rank(uint64_t count, unsigned per_mille)
{
	uint64_t rank = count / 1000 * per_mille + (count % 1000 * per_mille + 999) / 1000;

	return rank ? rank : 1;
}

/* Replaces the ranks by their values. */
static void select_ranks(const struct samples *samples, uint64_t *ranks, size_t nr)
{
	uint32_t few[2][FEW_BUCKETS], *many = NULL;
	struct spread spread;

	if (samples->nr >= FEW)
		many = malloc(2 * BUCKETS * sizeof(*many));
	if (many)
		spread_out(samples, SUB_BITS, many, many + BUCKETS, &spread);
	else
		spread_out(samples, FEW_SUB_BITS, few[0], few[1], &spread);
	for (size_t i = 0; i < nr; i++)
		ranks[i] = select_spread(samples, &spread, ranks[i]);
	free(many);
}

static void values_of_ranks(const struct samples *samples, uint64_t *ranks, size_t nr)
{
	if (samples->count && !samples->buckets) {
		select_ranks(samples, ranks, nr);
		return;
	}
	for (size_t i = 0; i < nr; i++)
		ranks[i] = samples->count ? select_bucket(samples, ranks[i]) : 0;
}

uint64_t samples_ranked(const struct samples *samples, uint64_t rank)
{
	values_of_ranks(samples, &rank, 1);
	return rank;
}

uint64_t samples_quantile(const struct samples *samples, unsigned per_mille)
{
	return samples_ranked(samples, samples_rank(samples->count, per_mille));
}

void samples_quantiles(const struct samples *samples, const unsigned *per_mille, size_t nr, uint64_t *ret)
{
	for (size_t i = 0; i < nr; i++)
		ret[i] = samples_rank(samples->count, per_mille[i]);
	values_of_ranks(samples, ret, nr);
}

void samples_map_init(struct u64_map *map)
{
	u64_map_init(map, sizeof(struct samples));
}

void samples_map_release(struct u64_map *map)
{
	struct samples *samples;
	uint64_t key;

	for (size_t at = 0; (samples = u64_map_next(map, &at, &key));)
		samples_release(samples);
	u64_map_release(map);
}

void samples_map_add(struct u64_map *map, uint64_t key, struct samples_budget *budget, uint64_t value)
{
	struct samples *samples = u64_map_get(map, key);

	if (samples)
		samples_add(samples, budget, value);
}
