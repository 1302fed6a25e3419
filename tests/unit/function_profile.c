// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/measure/function_profile.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

#define HEAD                                                                                    \
	"  Function                               Hit    Time            Avg             s^2\n" \
	"  --------                               ---    ----            ---             ---\n"

static int parse(struct function_profile *profile, const char *text)
{
	return function_profile_parse(profile, text, strlen(text), NULL);
}

TEST(the_counts_of_all_cpus_are_added)
{
	struct function_profile profile = FUNCTION_PROFILE_INIT;

	CHECK(!parse(&profile, HEAD
		     "  vfs_read                                10    100.000 us      10.000 us       4.000 us    \n"));
	CHECK(!parse(&profile, HEAD
		     "  vfs_write                                1    7.250 us        7.250 us        0.000 us    \n"
		     "  vfs_read                                 5    50.500 us       10.100 us       9.000 us    \n"));
	CHECK(profile.nr == 2);
	CHECK(profile.timed);
	CHECK(!strcmp(profile.functions[0].name, "vfs_read"));
	CHECK(profile.functions[0].hits == 15);
	CHECK(profile.functions[0].time_ns == 150500);
	CHECK(profile.functions[1].hits == 1 && profile.functions[1].time_ns == 7250);
	CHECK(profiled_function_deviation(&profile.functions[1]) == 0);
	function_profile_release(&profile);
}

/* 1 2 3 on one CPU (variance 1) and 5 9 on another (variance 8) have the mean 4 and the variance 10. */
TEST(the_deviation_of_parts_is_that_of_the_whole)
{
	struct function_profile profile = FUNCTION_PROFILE_INIT;

	CHECK(!parse(&profile, HEAD
		     "  f                                        3    6.000 us        2.000 us        1.000 us    \n"));
	CHECK(!parse(&profile, HEAD
		     "  f                                        2    14.000 us       7.000 us        8.000 us    \n"));
	CHECK(fabs(profiled_function_deviation(&profile.functions[0]) - sqrt(10)) < 1e-6);
	function_profile_release(&profile);
}

TEST(a_kernel_that_measures_no_time_has_hits_only)
{
	struct function_profile profile = FUNCTION_PROFILE_INIT;

	CHECK(!parse(&profile,
		     "  Function                               Hit\n  --------                               ---\n"
		     "  schedule                               117\n"));
	CHECK(!profile.timed);
	CHECK(profile.nr == 1 && profile.functions[0].hits == 117);
	function_profile_release(&profile);
}

TEST(a_name_of_thirty_letters_may_have_been_cut)
{
	struct function_profile profile = FUNCTION_PROFILE_INIT;

	CHECK(!parse(&profile, HEAD
		     "  abcdefghijklmnopqrstuvwxyzabcd           3    6.000 us        2.000 us        1.000 us    \n"
		     "  abcdefghijklmnopqrstuvwxyzabc            3    6.000 us        2.000 us        1.000 us    \n"));
	CHECK(profile.functions[0].cut);
	CHECK(!profile.functions[1].cut);
	function_profile_release(&profile);
}

TEST(many_functions_are_each_found_again)
{
	struct function_profile profile = FUNCTION_PROFILE_INIT;
	cleanup_buf struct buf text = BUF_INIT;

	REQUIRE(buf_add_str(&text, "  Function  Hit\n  --------  ---\n"));
	for (int i = 0; i < 3000; i++)
		REQUIRE(buf_addf(&text, "  function_%d  %d\n", i, i));
	for (int cpu = 0; cpu < 2; cpu++)
		REQUIRE(!function_profile_parse(&profile, buf_str(&text), text.len, NULL));
	REQUIRE(profile.nr == 3000);
	CHECK_STR(profile.functions[2999].name, "function_2999");
	for (size_t i = 0; i < profile.nr; i++)
		REQUIRE(profile.functions[i].hits == 2 * i);
	function_profile_release(&profile);
}

TEST(a_line_of_something_else_is_refused)
{
	static const char *const lines[] = {
		HEAD "  f\n",
		HEAD "  f x\n",
		HEAD "  f 3 a us b us c us\n",
		HEAD "  f 99999999999999999999999\n",
		HEAD "  abcdefghijklmnopqrstuvwxyzabcdefg 3\n",
	};

	for (size_t i = 0; i < array_size(lines); i++) {
		struct function_profile profile = FUNCTION_PROFILE_INIT;

		CHECK(parse(&profile, lines[i]) == -EBADMSG);
		function_profile_release(&profile);
	}
}
