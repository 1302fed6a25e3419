// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/sampling.h"

#include <stdio.h>

#include "tests/unit/test.h"

/* Bit N: hour 490000 + N is chosen. */
static uint64_t chosen(const char *host, uint32_t of)
{
	uint64_t bits = 0;

	for (unsigned n = 0; n < 40; n++)
		bits |= (uint64_t)sampling_takes(host, (490000 + (int64_t)n) * 3600, of) << n;
	return bits;
}

/* XXH64() of libxxhash, of "HOST HOUR" with seed 0, is a multiple of 10 for these hours. */
TEST(sampling_chooses_hours_by_a_hash_of_the_host_and_the_hour)
{
	CHECK(chosen("web-01", 10) == (UINT64_C(1) << 3 | UINT64_C(1) << 16 | UINT64_C(1) << 33));
	CHECK(chosen("web-02", 10) == UINT64_C(1) << 19);
	CHECK(chosen("db", 10) == (UINT64_C(1) << 12 | UINT64_C(1) << 35 | UINT64_C(1) << 37));
	CHECK(chosen("db", 1) == (UINT64_C(1) << 40) - 1);
}

TEST(sampling_gives_one_answer_for_all_of_an_hour)
{
	for (int64_t s = 0; s < 3600; s++) {
		CHECK(sampling_takes("web-01", INT64_C(490003) * 3600 + s, 10));
		CHECK(!sampling_takes("web-01", INT64_C(490004) * 3600 + s, 10));
		CHECK(sampling_takes("web-01", -3600 + s, 10) == sampling_takes("web-01", -1, 10));
	}
}

TEST(sampling_takes_the_share_that_was_asked_for_and_fewer_hours_are_among_more)
{
	unsigned taken = 0;

	for (unsigned host = 0; host < 200; host++)
		for (unsigned hour = 0; hour < 100; hour++) {
			char name[16];
			int64_t s = (490000 + (int64_t)hour) * 3600;

			snprintf(name, sizeof(name), "h%u", host);
			taken += sampling_takes(name, s, 20);
			CHECK(!sampling_takes(name, s, 20) || sampling_takes(name, s, 10));
		}
	/* 5 % of 20,000; three standard deviations are 92. */
	CHECK(taken > 908 && taken < 1092);
}

TEST(sampling_reads_pressure)
{
	CHECK(sampling_pressure_of("some avg10=63.99 avg60=1.00 avg300=0.00 total=1\nfull avg10=0.00\n") == 63);
	CHECK(sampling_pressure_of("some avg10=0.00 avg60=99.00 avg300=0.00 total=1\n") == 0);
	CHECK(sampling_pressure_of("some avg10=100.00 avg60=99.00 avg300=0.00 total=1\n") == 100);
	CHECK(sampling_pressure_of("full avg10=1.00\n") == -1);
	CHECK(sampling_pressure_of("") == -1);
}
