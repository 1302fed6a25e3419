// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/number.h"

#include "tests/unit/test.h"

TEST(number_takes_its_digits_and_leaves_the_rest)
{
	const char *text = "18446744073709551615/7 end", *at = text;
	uint64_t value = 0;
	uint32_t small = 0;

	CHECK(number_u64(&at, &value) && value == UINT64_MAX);
	CHECK_STR(at, "/7 end");
	at++;
	CHECK(number_u32(&at, &small) && small == 7);
	CHECK_STR(at, " end");
}

TEST(number_that_does_not_fit_changes_nothing)
{
	const char *at = "18446744073709551616", *before = at;
	uint64_t value = 5;
	uint32_t small = 6;
	int64_t number = 7;
	int32_t id = 8;

	CHECK(!number_u64(&at, &value) && at == before && value == 5);
	at = "99999999999999999999999999";
	CHECK(!number_u64(&at, &value) && value == 5);
	at = "4294967296";
	CHECK(!number_u32(&at, &small) && small == 6);
	at = "9223372036854775808";
	CHECK(!number_s64(&at, &number) && number == 7);
	at = "-2147483649";
	CHECK(!number_s32(&at, &id) && id == 8);
	at = "2147483648";
	CHECK(!number_s32(&at, &id) && id == 8);
	at = "10000000000000000";
	CHECK(!number_hex(&at, &value) && value == 5);
}

TEST(number_reaches_both_ends_of_its_type)
{
	const char *at = "-9223372036854775808";
	int64_t number = 0;
	int32_t id = 0;
	uint64_t value = 0;
	uint32_t small = 0;

	CHECK(number_s64(&at, &number) && number == INT64_MIN);
	at = "9223372036854775807";
	CHECK(number_s64(&at, &number) && number == INT64_MAX);
	at = "-2147483648";
	CHECK(number_s32(&at, &id) && id == INT32_MIN);
	at = "4294967295";
	CHECK(number_u32(&at, &small) && small == UINT32_MAX);
	at = "ffffFFFFffffFFFF";
	CHECK(number_hex(&at, &value) && value == UINT64_MAX);
}

TEST(number_is_none_without_a_digit)
{
	static const char *const none[] = { "", " 1", "+1", "x", "-", "--1", "a1" };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		const char *at = none[i];
		uint64_t value = 5;
		int64_t number = 6;

		CHECK(!number_u64(&at, &value) && at == none[i] && value == 5);
		CHECK(!number_s64(&at, &number) && at == none[i] && number == 6);
	}
}

TEST(number_in_hex_needs_no_prefix)
{
	const char *at = "0x7fffC0de]", *bare = "0x", *zero = "0 x";
	uint64_t value = 0;

	CHECK(number_hex(&at, &value) && value == 0x7fffc0de && *at == ']');
	CHECK(number_hex(&bare, &value) && !value && *bare == 'x');
	CHECK(number_hex(&zero, &value) && !value && *zero == ' ');
}

TEST(number_of_a_file_stands_alone_on_its_line)
{
	CHECK(number_of("1408\n", 7) == 1408);
	CHECK(number_of("  12 \nmore", 7) == 12);
	CHECK(number_of("0", 7) == 0);
	CHECK(number_of("", 7) == 7);
	CHECK(number_of("12 (expanded: 1408)\n", 7) == 7);
	CHECK(number_of("-1\n", 7) == 7);
	CHECK(number_of("X\n", 7) == 7);
}

TEST(number_is_found_behind_its_name)
{
	static const char text[] = "MemTotal:   100 kB\nMemFree:\t 20 kB\nMemNone:\n";
	uint64_t value = 5;

	CHECK(!number_after(text, "MemNone:", &value) && value == 5);
	CHECK(number_after(text, "MemFree:", &value) && value == 20);
	CHECK(!number_after(text, "Swap:", &value) && value == 20);
}
