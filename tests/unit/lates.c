// SPDX-License-Identifier: GPL-2.0-only
/* The longest cases of weft latency: which of them are kept. */
#include "tests/unit/test.h"

#include "lib/analysis/latency_split_internal.h"

#include <stdlib.h>

TEST(lates_keep_a_case_that_lasted_no_time_unless_a_time_is_asked_for)
{
	const struct late none = { .lasted = 0 }, some = { .lasted = 5 };
	struct lates lates = { .items = NULL };

	CHECK(lates_want(&lates, 2, 0) && lates_keep(&lates, 2, &none) && lates.nr == 1);
	CHECK(lates_keep(&lates, 2, &some) && lates.nr == 2 && lates.items[0].lasted == 5);
	CHECK(!lates_want(&lates, 2, 0) && lates_want(&lates, 2, 1));
	free(lates.items);
	lates = (struct lates){ .longer = 5 };
	CHECK(!lates_want(&lates, 2, 5) && lates_want(&lates, 2, 6));
}
