// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/text.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

TEST(text_glob_matches_the_whole_text_only)
{
	CHECK(text_glob("sched_*", "sched_switch"));
	CHECK(!text_glob("sched_", "sched_switch"));
	CHECK(!text_glob("*_swi", "sched_switch"));
	CHECK(text_glob("*", ""));
	CHECK(!text_glob("?", ""));
	CHECK(text_glob("s?hed*w*h", "sched_switch"));
	CHECK(text_glob("*a*b*c", "xxaxxbxbxxcxc"));
}

TEST(text_knows_what_a_name_is_made_of)
{
	CHECK(text_is_name("_prev_pid2", 10));
	CHECK(text_is_name("a-b", 1));
	CHECK(!text_is_name("a-b", 3));
	CHECK(!text_is_name("2a", 2));
	CHECK(!text_is_name("", 0));
	CHECK(!text_is_name("\xe4", 1));
}

TEST(text_glob_knows_sets_and_backslashes)
{
	CHECK(text_glob("cpu[0-3]", "cpu2"));
	CHECK(!text_glob("cpu[0-3]", "cpu4"));
	CHECK(text_glob("cpu[!0-3]", "cpu4"));
	CHECK(text_glob("[]x]", "]"));
	CHECK(text_glob("a\\*", "a*"));
	CHECK(!text_glob("a\\*", "ab"));
	CHECK(text_glob("a[b", "a[b"));
	CHECK(text_glob("*[", "x["));
}

TEST(text_glob_takes_no_exponential_time)
{
	char text[4001];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK(!text_glob("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

TEST(text_sizes_are_powers_of_1024_and_bare_numbers_kilobytes)
{
	uint64_t bytes = 7;

	CHECK(!text_parse_size("512K", &bytes, NULL) && bytes == 512 << 10);
	CHECK(!text_parse_size("10m", &bytes, NULL) && bytes == 10 << 20);
	CHECK(!text_parse_size("1.5MiB", &bytes, NULL) && bytes == 3 << 19);
	CHECK(!text_parse_size("64", &bytes, NULL) && bytes == 64 << 10);
	CHECK(!text_parse_size("4096B", &bytes, NULL) && bytes == 4096);
}

TEST(text_sizes_that_are_none_are_refused)
{
	struct fail fail = FAIL_INIT;
	uint64_t bytes = 7;

	CHECK(text_parse_size("", &bytes, &fail) == -EINVAL);
	CHECK(text_parse_size("K", &bytes, &fail) == -EINVAL);
	CHECK(text_parse_size("-1K", &bytes, &fail) == -EINVAL);
	CHECK(text_parse_size("10X", &bytes, &fail) == -EINVAL);
	CHECK_STR(fail.text, "'10X' is not a size such as 512K or 10M: unknown unit 'X'");
	CHECK(text_parse_size("99999999999999999999", &bytes, &fail) == -ERANGE);
	CHECK(text_parse_size("17179869184G", &bytes, &fail) == -ERANGE);
	CHECK(bytes == 7);
}

TEST(text_times_are_exact_to_the_nanosecond)
{
	uint64_t ns;

	CHECK(!text_parse_time("10ms", &ns, NULL) && ns == 10000000);
	CHECK(!text_parse_time("1.5s", &ns, NULL) && ns == 1500000000);
	CHECK(!text_parse_time("2m", &ns, NULL) && ns == 120000000000);
	CHECK(!text_parse_time("1h", &ns, NULL) && ns == 3600000000000);
	CHECK(!text_parse_time("1784.123456789", &ns, NULL) && ns == 1784123456789);
	CHECK(!text_parse_time("0.1234567891234", &ns, NULL) && ns == 123456789);
	CHECK(text_parse_time("5 s", &ns, NULL) == -EINVAL);
}

TEST(text_integers_take_the_whole_word_and_know_their_bounds)
{
	struct fail fail = FAIL_INIT;
	uint64_t value;
	int64_t number;

	CHECK(!text_parse_u64("18446744073709551615", &value, NULL) && value == UINT64_MAX);
	CHECK(text_parse_u64("18446744073709551616", &value, NULL) == -ERANGE);
	CHECK(!text_parse_u64("0xff", &value, NULL) && value == 255);
	CHECK(text_parse_u64("12a", &value, NULL) == -EINVAL);
	CHECK(text_parse_u64("+1", &value, NULL) == -EINVAL);
	CHECK(!text_parse_s64("-9223372036854775808", &number, NULL) && number == INT64_MIN);
	CHECK(text_parse_s64("9223372036854775808", &number, NULL) == -ERANGE);
	CHECK(text_parse_range("0", 1, 5, &value, &fail) == -ERANGE);
	CHECK_STR(fail.text, "0 is not between 1 and 5");
	CHECK(text_parse_range("0", 1, UINT64_MAX, &value, &fail) == -ERANGE);
	CHECK_STR(fail.text, "0 is too small; the smallest is 1");
}

TEST(text_lines_and_words_are_cut_without_copies)
{
	const char *at = "a b\n\nlast", *words = " ,x,, yy";
	size_t left = strlen(at);
	struct text_word word;

	CHECK(text_next_line(&at, &left, &word) && text_word_is(word, "a b"));
	CHECK(text_next_line(&at, &left, &word) && !word.len);
	CHECK(text_next_line(&at, &left, &word) && text_word_is(word, "last"));
	CHECK(!text_next_line(&at, &left, &word));
	CHECK(text_next_word(&words, ", ", &word) && text_word_is(word, "x"));
	CHECK(text_next_word(&words, ", ", &word) && text_word_is(word, "yy"));
	CHECK(!text_next_word(&words, ", ", &word));
}

TEST(text_prints_for_people)
{
	char into[TEXT_HUMAN];

	CHECK_STR(text_size(into, 1023), "1023 B");
	CHECK_STR(text_size(into, 1536), "1.5 KiB");
	CHECK_STR(text_size(into, (1 << 20) - 1), "1.0 MiB");
	CHECK_STR(text_size(into, 102400 - 52), "99.9 KiB");
	CHECK_STR(text_size(into, 102400 - 51), "100 KiB");
	CHECK_STR(text_size(into, (1023 << 10) + 511), "1023 KiB");
	CHECK_STR(text_size(into, 1408 << 10), "1.4 MiB");
	CHECK_STR(text_size(into, UINT64_MAX), "16.0 EiB");
	CHECK_STR(text_time(into, 999), "999 ns");
	CHECK_STR(text_time(into, 12345), "12.3 us");
	CHECK_STR(text_time(into, 2500000000), "2.50 s");
	CHECK_STR(text_time(into, 125000000000), "2m 05s");
	CHECK_STR(text_count(into, 1234567), "1,234,567");
	CHECK_STR(text_count(into, 999), "999");
	CHECK_STR(text_count(into, UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(text_rounds_the_last_digit_half_to_even)
{
	char into[TEXT_HUMAN];

	CHECK_STR(text_time(into, 110478672), "110.5 ms");
	CHECK_STR(text_time(into, 1099), "1.1 us");
	CHECK_STR(text_time(into, 1050), "1.0 us");
	CHECK_STR(text_time(into, 1150), "1.2 us");
	CHECK_STR(text_time(into, 999949), "999.9 us");
	CHECK_STR(text_time(into, 999950), "1.0 ms");
	CHECK_STR(text_time(into, 999949999), "999.9 ms");
	CHECK_STR(text_time(into, 999950000), "1.00 s");
	CHECK_STR(text_time(into, 59994999999), "59.99 s");
	CHECK_STR(text_time(into, 59995000000), "1m 00s");
	CHECK_STR(text_time(into, 90500000000), "1m 30s");
	CHECK_STR(text_time(into, 91500000000), "1m 32s");
	CHECK_STR(text_time(into, 3599499999999), "59m 59s");
	CHECK_STR(text_time(into, 3599500000000), "1h 00m");
	CHECK_STR(text_time(into, 5370000000000), "1h 30m");
	CHECK_STR(text_time(into, 5490000000000), "1h 32m");
	CHECK_STR(text_time(into, UINT64_MAX), "5124095h 35m");
	CHECK_STR(text_size(into, 1280), "1.2 KiB");
	CHECK_STR(text_size(into, 1281), "1.3 KiB");
	CHECK_STR(text_stamp(into, 1999999500), "2.000000");
	CHECK_STR(text_stamp(into, 12000001499), "12.000001");
}
