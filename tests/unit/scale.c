// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/scale.h"

#include "tests/unit/test.h"

TEST(scale_keeps_all_of_a_product_of_64_bits)
{
	struct scale_wide wide = scale_product(UINT64_MAX, UINT64_MAX);

	CHECK(wide.high == UINT64_MAX - 1 && wide.low == 1);
	wide = scale_product(UINT64_C(0x123456789abcdef0), UINT64_C(0xfedcba9876543210));
	CHECK(wide.high == UINT64_C(0x121fa00ad77d7422) && wide.low == UINT64_C(0x236d88fe5618cf00));
}

TEST(scale_divides_128_bits_by_64)
{
	CHECK(scale_divide(scale_product(UINT64_MAX, UINT64_MAX), UINT64_MAX) == UINT64_MAX);
	CHECK(scale_divide((struct scale_wide){ .high = 0, .low = 1000000007 }, 10) == 100000000);
	CHECK(scale_divide((struct scale_wide){ .high = UINT64_C(1) << 62, .low = 5 }, UINT64_C(3) << 62) ==
	      UINT64_C(0x5555555555555555));
}

TEST(scale_rounds_a_half_to_the_even_number)
{
	CHECK(scale_round(149, 100) == 1 && scale_round(150, 100) == 2 && scale_round(250, 100) == 2);
	CHECK(scale_round(251, 100) == 3 && scale_round(0, 7) == 0);
	CHECK(scale_round_mul_div(1, 1000, 16) == 62 && scale_round_mul_div(3, 1000, 16) == 188);
	CHECK(scale_round_mul_div(UINT64_MAX, UINT64_MAX, UINT64_MAX) == UINT64_MAX);
	CHECK(scale_round_mul_div(UINT64_MAX - 1, 10, UINT64_MAX) == 10);
}

/*
 * The results do not depend on __int128: a rate of 2.4 GHz in ns, as the kernel's option TSC2NSEC gives it, and sizes
 * with a fraction.
 */
TEST(scale_gives_one_result_on_every_machine)
{
	CHECK(scale_mul_shift(UINT64_C(24000000000000), 6990506, 24) == UINT64_C(9999999046325));
	CHECK(scale_shift_div(UINT64_C(9999999523162), 24, 6990506) == UINT64_C(24000001144407));
	CHECK(scale_mul_div(UINT64_C(999999999999), UINT64_C(1) << 40, UINT64_C(1000000000000)) ==
	      UINT64_C(1099511627774));
	CHECK(scale_mul_shift(UINT64_MAX, UINT32_MAX, 0) == (uint64_t)0 - UINT32_MAX);
}
