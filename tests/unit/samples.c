// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/samples.h"

#include "tests/unit/test.h"

TEST(samples_give_percentiles_by_nearest_rank)
{
	struct samples_budget budget = { .left = 1000 };
	struct samples samples = { .count = 0 }, other = { .count = 0 };

	CHECK(samples_quantile(&samples, 500) == 0);
	/* 1 to 100 in some order, and once 10^12. */
	for (uint64_t i = 0; i < 100; i++)
		samples_add(&samples, &budget, i * 37 % 100 + 1);
	CHECK(samples_quantile(&samples, 500) == 50);
	CHECK(samples_quantile(&samples, 990) == 99);
	CHECK(samples_quantile(&samples, 1000) == 100);
	samples_add(&other, &budget, 1000000000000);
	samples_merge(&samples, &budget, &other);
	CHECK(samples.count == 101 && samples.max == 1000000000000 && samples.min == 1 &&
	      samples.sum == 5050 + 1000000000000);
	CHECK(samples_quantile(&samples, 1000) == 1000000000000);
	CHECK(samples_exact(&samples));
	samples_release(&samples);
	samples_release(&other);
	CHECK(budget.left == 1000 - 102);
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
