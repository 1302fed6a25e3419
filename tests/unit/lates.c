// SPDX-License-Identifier: GPL-2.0-only
/* The longest cases of weft latency: which of them are kept. */
#include "tests/unit/test.h"

#include "lib/answers/latency/latency_split_internal.h"

TEST(lates_keep_a_case_that_lasted_no_time_unless_a_time_is_asked_for)
{
	const struct late none = { .lasted = 0 }, some = { .lasted = 5 };
	const struct state state = { .nr_tasks = 0 };
	struct lates lates;

	lates_init(&lates, 2, 0);
	CHECK(slowest_room(&lates.slowest, 0) && lates_keep(&lates, &state, &none) && lates.slowest.nr == 1);
	CHECK(lates_keep(&lates, &state, &some) && lates.slowest.nr == 2 && lates_at(&lates, 0)->lasted == 5);
	CHECK(!slowest_room(&lates.slowest, 0) && slowest_room(&lates.slowest, 1));
	slowest_release(&lates.slowest);
	lates_init(&lates, 2, 5);
	CHECK(!slowest_room(&lates.slowest, 5) && slowest_room(&lates.slowest, 6));
}
