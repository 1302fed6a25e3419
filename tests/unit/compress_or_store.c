// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/compress_or_store_internal.h"

#include "tests/unit/test.h"

enum { MS = 1000 * 1000, MB = 1000 * 1000, SPARE = 100 * MB };

TEST(slack_is_there_while_the_buffer_fills_slowly)
{
	struct compress_or_store slack = compress_or_store_of(MB, 25, SPARE, 0);

	/* A quarter of the buffer fills in 10 ms, so the whole buffer fills in 40 ms. */
	for (uint64_t now = 10 * MS; now < 200 * MS; now += 10 * MS) {
		CHECK(compress_or_store_took(&slack, MB / 4, now));
		compress_or_store_empty(&slack, now);
	}
}

TEST(slack_is_none_when_the_buffer_was_much_fuller_than_readers_are_woken_for)
{
	struct compress_or_store slack = compress_or_store_of(MB, 25, SPARE, 0);

	CHECK(!compress_or_store_took(&slack, MB * 2 / 3, 1000 * MS));
	compress_or_store_empty(&slack, 1000 * MS);
	/* For a while afterwards there is no slack. */
	CHECK(!compress_or_store_took(&slack, MB / 4, 1010 * MS));
	compress_or_store_empty(&slack, 1010 * MS);
	CHECK(compress_or_store_took(&slack, MB / 4, 1500 * MS));
}

TEST(slack_knows_readers_that_are_woken_late_on_purpose)
{
	struct compress_or_store slack = compress_or_store_of(MB, 80, SPARE, 0);

	CHECK(compress_or_store_took(&slack, MB * 8 / 10, 1000 * MS));
}

TEST(slack_is_none_when_the_buffer_fills_fast)
{
	struct compress_or_store slack = compress_or_store_of(MB, 25, SPARE, 0),
				 large = compress_or_store_of(20 * MB, 25, SPARE, 0);

	/* A quarter of the buffer in a millisecond. */
	CHECK(!compress_or_store_took(&slack, MB / 4, 1 * MS));
	CHECK(compress_or_store_took(&large, MB / 4, 1 * MS));
}

TEST(slack_is_there_once_enough_was_stored_unless_a_turn_comes_late)
{
	struct compress_or_store slack = compress_or_store_of(MB, 25, MB / 2, 0);

	CHECK(!compress_or_store_took(&slack, MB / 4, 1 * MS));
	compress_or_store_stored(&slack, MB / 4);
	compress_or_store_empty(&slack, 100 * MS);
	CHECK(!compress_or_store_took(&slack, MB / 4, 101 * MS));
	compress_or_store_stored(&slack, MB);
	compress_or_store_empty(&slack, 200 * MS);
	CHECK(compress_or_store_took(&slack, MB / 4, 201 * MS));
	compress_or_store_empty(&slack, 300 * MS);
	CHECK(!compress_or_store_took(&slack, MB * 2 / 3, 301 * MS));
}

TEST(slack_is_doubtful_after_half_of_the_buffer)
{
	struct compress_or_store slack = compress_or_store_of(20 * MB, 25, SPARE, 0);

	for (int i = 0; i < 10; i++)
		CHECK(compress_or_store_took(&slack, MB, (uint64_t)(i + 50) * 10 * MS));
	CHECK(!compress_or_store_is_doubtful(&slack));
	CHECK(compress_or_store_took(&slack, MB, 600 * MS));
	CHECK(compress_or_store_is_doubtful(&slack));
	compress_or_store_is_none(&slack, 600 * MS);
	CHECK(!compress_or_store_took(&slack, MB, 601 * MS));
	compress_or_store_empty(&slack, 700 * MS);
	CHECK(!compress_or_store_is_doubtful(&slack));
	CHECK(compress_or_store_took(&slack, MB, 800 * MS));
}

TEST(slack_is_always_there_for_a_buffer_of_unknown_size)
{
	struct compress_or_store slack = compress_or_store_of(0, 25, SPARE, 0);

	CHECK(compress_or_store_took(&slack, 100 * MB, 1));
	CHECK(!compress_or_store_is_doubtful(&slack));
}
