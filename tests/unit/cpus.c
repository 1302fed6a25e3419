// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/cpus.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

static bool reads_as(const char *text, const char *want)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct cpus cpus;

	return !cpus_parse(text, &cpus, NULL) && cpus_list(&cpus, &buf) && !strcmp(buf_str(&buf), want);
}

TEST(cpus_lists_are_read_and_printed_as_the_kernel_does)
{
	CHECK(reads_as("0-3,7", "0-3,7"));
	CHECK(reads_as("7,0,1,2,3", "0-3,7"));
	CHECK(reads_as("63-65", "63-65"));
	CHECK(reads_as("0", "0"));
	CHECK(reads_as("8191", "8191"));
}

TEST(cpus_masks_are_taken_where_they_cannot_be_lists)
{
	CHECK(reads_as("f", "0-3"));
	CHECK(reads_as("0x10", "4"));
	CHECK(reads_as("10", "10"));
	CHECK(reads_as("1,00000000", "32"));
	CHECK(reads_as("00000000,0000000f", "0-3"));
	CHECK(reads_as("ffffffffff", "0-39"));
}

TEST(cpus_masks_print_in_groups_of_32)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct cpus cpus;

	REQUIRE(!cpus_parse("0,1,32,65", &cpus, NULL));
	CHECK(cpus_mask(&cpus, &buf));
	CHECK_STR(buf_str(&buf), "2,00000001,00000003");
}

TEST(cpus_that_are_none_are_refused)
{
	struct fail fail = FAIL_INIT;
	struct cpus cpus;

	CHECK(cpus_parse("", &cpus, &fail) == -EINVAL);
	CHECK(cpus_parse("3-1", &cpus, &fail) == -EINVAL);
	CHECK_STR(fail.text, "'3-1' is neither a list of CPUs such as 0-3,7 nor a hex mask");
	CHECK(cpus_parse("8192", &cpus, &fail) == -ERANGE);
	CHECK(cpus_parse("1-99999999999999999999", &cpus, &fail) == -ERANGE);
	CHECK(cpus_parse("0x0", &cpus, &fail) == -EINVAL);
	CHECK(cpus_parse("0x", &cpus, &fail) == -EINVAL);
	CHECK(cpus_parse("1-", &cpus, &fail) == -EINVAL);
	CHECK(cpus_parse("fg", &cpus, &fail) == -EINVAL);
}

TEST(cpus_of_all_has_each_and_no_more)
{
	struct cpus cpus, two;

	REQUIRE(!cpus_parse("all", &cpus, NULL) && !cpus_parse("0-1", &two, NULL));
	CHECK(cpus_count(&cpus) == CPUS_MAX);
	CHECK(!cpus_has(&cpus, CPUS_MAX));
	cpus_keep(&cpus, &two);
	CHECK(cpus_count(&cpus) == 2 && cpus_next(&cpus, 0) == 0 && cpus_next(&cpus, 1) == 1 &&
	      cpus_next(&cpus, 2) == -1);
}
