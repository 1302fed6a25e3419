// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/buffer/ring_watch.h"

#include "tests/unit/test.h"

static const struct ring_buffer_stats before = { .entries = 10, .overrun = 100, .read = 1000 };

static struct ring_watch watch_from(const struct ring_buffer_stats *base)
{
	return (struct ring_watch){ .fd = -1, .base = *base, .last = *base };
}

TEST(ring_watch_adds_up_losses_over_a_clear)
{
	struct ring_watch watch = watch_from(&before);

	ring_watch_add(&watch, &(struct ring_buffer_stats){ .entries = 50, .overrun = 150, .dropped = 3, .read = 2000 },
		       0);
	CHECK(!watch.cleared);
	ring_watch_add(&watch, &(struct ring_buffer_stats){ .entries = 50, .overrun = 7 }, 0);
	CHECK(watch.cleared == 1);
	CHECK(ring_watch_overrun(&watch, &watch.last) == 57);
	CHECK(ring_watch_lost(&watch, &watch.last) == 60);
}

TEST(ring_watch_sees_a_clear_that_many_events_hide_by_what_was_taken)
{
	struct ring_watch watch = watch_from(&(struct ring_buffer_stats){ .entries = 0 });

	ring_watch_add(&watch, &(struct ring_buffer_stats){ .entries = 5, .read = 1000 }, 1000);
	ring_watch_add(&watch, &(struct ring_buffer_stats){ .entries = 5, .read = 1100 }, 2600);
	CHECK(watch.cleared == 1);
}

TEST(ring_watch_does_not_count_a_clear_of_what_was_there_before)
{
	struct ring_watch watch = watch_from(&before);

	ring_watch_add(&watch, &(struct ring_buffer_stats){ .entries = 1 }, 0);
	CHECK(!watch.cleared);
	ring_watch_add(&watch, &(struct ring_buffer_stats){ .entries = 1, .read = 60 }, 0);
	CHECK(watch.base.read == 0);
	ring_watch_add(&watch, &(struct ring_buffer_stats){ .entries = 1 }, 0);
	CHECK(watch.cleared == 1);
}

TEST(ring_watch_takes_counts_of_different_moments_for_no_clear)
{
	struct ring_watch watch = watch_from(&(struct ring_buffer_stats){ .entries = 0 });

	/* 100 events were overwritten and 100 were read after their line had been written. */
	ring_watch_add(&watch, &(struct ring_buffer_stats){ .entries = 200, .overrun = 100, .read = 100 }, 0);
	ring_watch_add(&watch, &(struct ring_buffer_stats){ .entries = 1, .overrun = 100, .read = 100 }, 0);
	CHECK(!watch.cleared);
}
