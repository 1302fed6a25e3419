// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/intervals_internal.h"
#include "tests/unit/test.h"

static bool is_within(uint64_t ns)
{
	uint64_t middle = interval_bucket_middle(interval_bucket(ns));
	uint64_t off = middle > ns ? middle - ns : ns - middle;

	/* At most 1/32 of it, without overflow. */
	return off <= ns / 32;
}

TEST(interval_buckets_have_their_middle_within_one_32nd_of_all_that_they_count)
{
	for (uint64_t ns = 0; ns < 1 << 16; ns++) {
		CHECK(is_within(ns));
		CHECK(interval_bucket(ns + 1) - interval_bucket(ns) <= 1);
	}
	for (unsigned bit = 4; bit < 64; bit++) {
		uint64_t power = UINT64_C(1) << bit;

		CHECK(is_within(power));
		CHECK(is_within(power - 1));
		CHECK(is_within(power + (power >> 1) + (power >> 5)));
		CHECK(interval_bucket(power) == interval_bucket(power - 1) + 1);
	}
	CHECK(is_within(UINT64_MAX));
	CHECK(interval_bucket(UINT64_MAX) < 1024);
}
