// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/samples.h"

#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "tests/unit/test.h"

TEST(samples_give_percentiles_by_nearest_rank)
{
	struct samples_budget budget = { .left = 1000 };
	struct samples samples = { .count = 0 };

	CHECK(samples_quantile(&samples, 500) == 0);
	/* 1 to 100 in some order, and 10^12 once. */
	for (uint64_t i = 0; i < 100; i++)
		samples_add(&samples, &budget, i * 37 % 100 + 1);
	CHECK(samples_quantile(&samples, 500) == 50);
	CHECK(samples_quantile(&samples, 990) == 99);
	CHECK(samples_quantile(&samples, 1000) == 100);
	samples_add(&samples, &budget, 1000000000000);
	CHECK(samples.count == 101 && samples.max == 1000000000000 && samples.min == 1 &&
	      samples.sum == 5050 + 1000000000000);
	CHECK(samples_quantile(&samples, 1000) == 1000000000000);
	CHECK(samples_exact(&samples));
	samples_release(&samples);
	CHECK(budget.left == 1000 - 101);
}

TEST(samples_stay_within_their_error_once_the_budget_is_spent)
{
	struct samples_budget budget = { .left = 1000 };
	struct samples samples = { .count = 0 };

	for (uint64_t i = 1; i <= 100000; i++)
		samples_add(&samples, &budget, i * 1000);
	CHECK(!samples_exact(&samples) && !budget.failed);
	for (unsigned per_mille = 10; per_mille <= 1000; per_mille += 10) {
		uint64_t exact = (uint64_t)per_mille * 100 * 1000, found = samples_quantile(&samples, per_mille);

		CHECK(found >= exact && found - exact <= exact / 128 + 1);
	}
	CHECK(samples_quantile(&samples, 1000) == samples.max);
	samples_release(&samples);
}

/* Compares with a sorted array: few and many values, close together and far apart. */
TEST(samples_give_the_value_that_a_sorted_array_has_there)
{
	static const struct {
		size_t nr;
		uint64_t from, range;
	} kinds[] = { { 1, 7, 1 },
		      { 2, UINT64_MAX - 1, 2 },
		      { 31, 1000, 40 },
		      { 500, 1ull << 40, 1000000 },
		      { 2047, 0, UINT64_MAX },
		      { 2048, 0, UINT64_MAX },
		      { 5000, 123456, 65536 },
		      { 300, UINT64_MAX, 1 } };

	for (size_t kind = 0; kind < array_size(kinds); kind++) {
		struct samples_budget budget = { .left = 10000 };
		struct samples samples = { .count = 0 };
		uint64_t sorted[5000], seed = 0x9e3779b97f4a7c15u + kind;
		size_t nr = kinds[kind].nr;

		for (size_t i = 0; i < nr; i++) {
			uint64_t value;

			seed = seed * 6364136223846793005u + 1442695040888963407u;
			value = kinds[kind].from + (seed ^ seed >> 29) % kinds[kind].range;
			samples_add(&samples, &budget, value);
			for (size_t at = i;; at--) {
				if (at && sorted[at - 1] > value) {
					sorted[at] = sorted[at - 1];
					continue;
				}
				sorted[at] = value;
				break;
			}
		}
		for (unsigned per_mille = 1; per_mille <= 1000; per_mille += 3) {
			size_t rank = (nr * per_mille + 999) / 1000;
			uint64_t both[2];

			CHECK(samples_quantile(&samples, per_mille) == sorted[rank - 1]);
			samples_quantiles(&samples, (const unsigned[]){ 1000, per_mille }, 2, both);
			CHECK(both[0] == sorted[nr - 1] && both[1] == sorted[rank - 1]);
		}
		samples_release(&samples);
	}
}

TEST(samples_of_two_stores_join_while_all_are_kept)
{
	struct samples_budget budget = { .left = 6 }, other = { .left = 10 };
	struct samples into = { .count = 0 }, from = { .count = 0 };
	uint64_t value;

	CHECK(samples_join(&into, &budget, &from) && !into.count && budget.left == 6);
	samples_add(&from, &other, 7);
	CHECK(samples_join(&into, &budget, &from) && into.nr == 1);
	samples_add(&into, &budget, 7);
	samples_add(&into, &budget, 7);
	samples_release(&into);
	budget.left = 6;
	samples_add(&from, &other, 3);
	samples_add(&from, &other, 5);
	CHECK(samples_join(&into, &budget, &from) && budget.left == 3);
	CHECK(into.count == 3 && into.sum == 15 && into.min == 3 && into.max == 7);
	samples_add(&into, &budget, 4);
	value = samples_quantile(&into, 500);
	CHECK(value == 4);
	/* Three more values have no room. */
	CHECK(!samples_join(&into, &budget, &from) && !budget.failed);
	CHECK(into.count == 4 && into.sum == 19 && into.nr == 4 && budget.left == 2);
	samples_release(&into);
	samples_release(&from);
}

TEST(samples_that_were_cleared_count_from_nothing_in_the_memory_that_they_had)
{
	struct samples_budget budget = { .left = 10 }, least = { .left = 1, .marks = true };
	struct samples samples = { .count = 0 };
	const uint64_t *values;

	for (uint64_t i = 0; i < 5; i++)
		samples_add(&samples, &budget, 10 + i);
	values = samples.values;
	samples_clear(&samples);
	CHECK(!samples.count && !samples.sum && !samples.max && !samples_quantile(&samples, 500));
	samples_add(&samples, &budget, 3);
	CHECK(samples.values == values && samples.nr == 1 && samples.min == 3 && samples.max == 3 && samples.sum == 3);
	/* More than before. */
	for (uint64_t i = 0; i < 4; i++)
		samples_add(&samples, &budget, 4 + i);
	CHECK(samples.count == 5 && samples_quantile(&samples, 1000) == 7 && samples_quantile(&samples, 1) == 3);
	samples_release(&samples);
	/* Two values, of which one may be stored: both are counted in buckets, whose memory is freed. */
	samples_add(&samples, &least, 1);
	samples_add(&samples, &least, 2);
	CHECK(!samples_exact(&samples));
	samples_clear(&samples);
	CHECK(samples_exact(&samples) && !samples.count && !samples.values && !samples.nr_marks);
}

/* Whether the memory of a value is there before it is written. */
static bool is_mapped(const struct samples *samples, size_t index)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char there = 0;

	return !mincore((void *)((uintptr_t)&samples->values[index] & ~(page - 1)), 1, &there) && there & 1;
}

TEST(samples_of_a_large_store_are_written_into_memory_that_is_mapped)
{
	struct samples_budget budget = { .left = 1 << 20 };
	struct samples samples = { .count = 0 };
	void *page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool can = false;

	REQUIRE(page != MAP_FAILED);
#ifdef MADV_POPULATE_WRITE
	/* Kernels before 5.14 cannot. */
	can = !madvise(page, 1, MADV_POPULATE_WRITE);
#endif
	/* Each page as the first of its values is written: all but those of small arrays. */
	for (size_t i = 0; i < 1 << 19; i++) {
		samples_add(&samples, &budget, i);
		if (can && samples.nr > 1 << 16 && !(samples.nr % 512) && samples.nr < samples.room)
			CHECK(is_mapped(&samples, samples.nr));
	}
	samples_release(&samples);
	munmap(page, 1);
}
