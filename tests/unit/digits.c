// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/digits.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/unit/test.h"

static void check_hex(uint64_t value)
{
	char got[DIGITS_MAX + 1], want[DIGITS_MAX + 1];

	*digits_put_hex(got, value) = '\0';
	snprintf(want, sizeof(want), "%" PRIx64, value);
	CHECK_STR(got, want);
}

TEST(digits_of_hex_numbers_are_those_of_printf_at_every_length)
{
	check_hex(0);
	for (unsigned shift = 0; shift < 64; shift++) {
		check_hex(UINT64_C(1) << shift);
		check_hex((UINT64_C(1) << shift) - 1);
		check_hex(UINT64_C(0xfedcba9876543210) >> shift);
		check_hex(UINT64_C(0x90af9a0f0f9fa09a) >> shift);
	}
	check_hex(UINT64_MAX);
}

static void check_decimal(uint64_t value)
{
	char got[DIGITS_MAX + 1], want[DIGITS_MAX + 1];

	*digits_put_u64(got, value) = '\0';
	snprintf(want, sizeof(want), "%" PRIu64, value);
	CHECK_STR(got, want);
	*digits_put_s64(got, (int64_t)value) = '\0';
	snprintf(want, sizeof(want), "%" PRId64, (int64_t)value);
	CHECK_STR(got, want);
}

TEST(digits_of_decimal_numbers_are_those_of_printf_at_every_length)
{
	check_decimal(0);
	for (uint64_t power = 1; power <= UINT64_C(1000000000000000000); power *= 10) {
		check_decimal(power - 1);
		check_decimal(power);
		check_decimal(power + 1);
		check_decimal(UINT64_C(9876543210987654321) / power);
		check_decimal(0 - power);
	}
	check_decimal(INT64_MAX);
	check_decimal(UINT64_C(1) << 63);
	check_decimal(UINT64_MAX);
}
