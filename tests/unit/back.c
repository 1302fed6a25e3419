// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/reader/back.h"

#include "tests/unit/test.h"

/* The windows from `from` back to `first`: each ends where the last one began, and the last one begins at `first`. */
static unsigned windows(uint64_t first, struct walk_place from, bool longer)
{
	struct back back;
	unsigned nr = 0;

	back_init(&back, first, false);
	back_to(&back, from);
	while (!back.at_start && nr < 100000) {
		uint64_t since = back_since(&back);

		CHECK(since >= first);
		CHECK(since < back.before.ts || back.before.nth);
		back_to(&back, (struct walk_place){ since, 0 });
		if (longer)
			back_longer(&back);
		nr++;
	}
	CHECK(back.before.ts == first && !back.before.nth);
	return nr;
}

TEST(back_windows_meet_and_end_at_the_first_event)
{
	CHECK(windows(5000000, (struct walk_place){ 8500000, 3 }, false) == 4);
	CHECK(windows(5000000, (struct walk_place){ 8500000, 3 }, true) == 2);
	CHECK(windows(0, (struct walk_place){ 1, 0 }, true) == 1);
	CHECK(windows(0, WALK_END, true) < 40);
	/* Events of the first time are before the place. */
	CHECK(windows(700, (struct walk_place){ 700, 5 }, true) == 1);
}

TEST(back_has_nothing_before_the_first_event)
{
	struct back back;

	back_init(&back, 700, true);
	back_to(&back, (struct walk_place){ 700, 0 });
	CHECK(back.at_start);
	back_to(&back, WALK_START);
	CHECK(back.at_start);
	back_to(&back, (struct walk_place){ 701, 0 });
	CHECK(!back.at_start);
}

TEST(back_numbers_events_of_one_time)
{
	struct walk_place place = walk_next_place(WALK_END, 5);

	CHECK(!walk_compare(place, (struct walk_place){ 5, 0 }));
	place = walk_next_place(place, 5);
	CHECK(!walk_compare(place, (struct walk_place){ 5, 1 }));
	place = walk_next_place(place, 6);
	CHECK(!walk_compare(place, (struct walk_place){ 6, 0 }));
}
