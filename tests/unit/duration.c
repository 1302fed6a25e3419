// SPDX-License-Identifier: GPL-2.0-only
#include "formats/kernel/duration_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"

static const char *text(uint64_t ns, char *at)
{
	*duration_write(ns, at) = 0;
	return at;
}

TEST(duration_has_seven_digits_at_most_and_twelve_characters)
{
	char at[DURATION_MAX + 1];

	CHECK_STR(text(0, at), "0.000 us    ");
	CHECK_STR(text(999, at), "0.999 us    ");
	CHECK_STR(text(4256, at), "4.256 us    ");
	CHECK_STR(text(10756, at), "10.756 us   ");
	CHECK_STR(text(207537, at), "207.537 us  ");
	CHECK_STR(text(3198727, at), "3198.727 us ");
	CHECK_STR(text(13657909, at), "13657.90 us ");
	CHECK_STR(text(123456789, at), "123456.7 us ");
	CHECK_STR(text(1234567890, at), "1234567 us  ");
	CHECK_STR(text(12345678901, at), "12345678 us ");
	CHECK_STR(text(123456789012, at), "123456789 us ");
}

TEST(duration_of_an_exit_before_its_entry_is_huge_and_fits)
{
	char at[DURATION_MAX + 1];

	CHECK_STR(text(UINT64_MAX, at), "18446744073709551 us ");
}

TEST(duration_agrees_with_printf_over_all_magnitudes)
{
	char at[DURATION_MAX + 1], want[64];

	for (uint64_t ns = 1; ns < 10000000; ns = ns * 21 / 20 + 1) {
		snprintf(want, sizeof(want), "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
		snprintf(want + strlen(want), sizeof(want) - strlen(want), " us %*s", 8 - (int)strlen(want), "");
		CHECK_STR(text(ns, at), want);
	}
}

TEST(duration_mark_tells_the_power_of_ten_that_was_exceeded)
{
	CHECK(duration_mark(0) == ' ');
	CHECK(duration_mark(10000) == ' ');
	CHECK(duration_mark(10001) == '+');
	CHECK(duration_mark(100000) == '+');
	CHECK(duration_mark(100001) == '!');
	CHECK(duration_mark(1000001) == '#');
	CHECK(duration_mark(10000001) == '*');
	CHECK(duration_mark(100000001) == '@');
	CHECK(duration_mark(1000000000) == '@');
	CHECK(duration_mark(1000000001) == '$');
	CHECK(duration_mark(UINT64_MAX) == '$');
}
