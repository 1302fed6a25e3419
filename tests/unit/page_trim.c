// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ring/page_trim.h"

#include "lib/ring/page_writer.h"
#include "tests/unit/test.h"

enum { SIZE = 256 };

static const struct page_shape shape = { .size = SIZE, .long_size = 8 };

/* Makes a page of events with these times, whose payload is their number, after `lost` events. */
static void fill(uint8_t page[SIZE], int64_t lost, const uint64_t *times, uint32_t nr)
{
	struct page_writer writer;

	page_writer_begin(&writer, &shape, page, lost);
	for (uint32_t i = 0; i < nr; i++)
		CHECK(page_writer_add(&writer, &(struct record){ .ts = times[i], .data = (uint8_t *)&i, .len = 4 }));
	page_writer_end(&writer);
}

/* Whether a page has the events from `first` on, and as many events were lost before it. */
static bool has(const uint8_t page[SIZE], int64_t lost, const uint64_t *times, uint32_t first, uint32_t nr)
{
	struct record record;
	struct page walk;
	uint32_t number;

	if (page_init(&walk, &shape, page, SIZE, NULL) || walk.lost != lost)
		return false;
	for (uint32_t i = first; i < first + nr; i++) {
		if (page_next(&walk, &record, NULL) != 1 || record.ts != times[i])
			return false;
		memcpy(&number, record.data, sizeof(number));
		if (number != i)
			return false;
	}
	return page_next(&walk, &record, NULL) == 0;
}

static const uint64_t times[] = { 1000, 1001, 1000000000, 1000000005, 9000000000 };

TEST(page_trim_keeps_the_events_of_a_time)
{
	uint8_t page[SIZE], into[SIZE];
	uint64_t first, last;

	fill(page, 0, times, 5);
	REQUIRE(page_trim(&shape, page, 1001, 1000000005, into, &first, &last, NULL) == 1);
	CHECK(first == 1001 && last == 1000000005);
	CHECK(has(into, 0, times, 1, 3));
	REQUIRE(page_trim(&shape, page, 9000000000, UINT64_MAX, into, &first, &last, NULL) == 1);
	CHECK(has(into, 0, times, 4, 1));
	CHECK(page_trim(&shape, page, 1002, 5000, into, &first, &last, NULL) == 0);
	CHECK(page_trim(&shape, page, 9000000001, UINT64_MAX, into, &first, &last, NULL) == 0);
}

TEST(page_trim_copies_a_page_that_lies_in_the_time)
{
	uint8_t page[SIZE], into[SIZE];
	uint64_t first, last;

	fill(page, 7, times, 5);
	REQUIRE(page_trim(&shape, page, 1000, 9000000000, into, &first, &last, NULL) == 1);
	CHECK(!memcmp(page, into, SIZE));
}

TEST(page_trim_tells_lost_events_only_before_the_page_s_first)
{
	uint8_t page[SIZE], into[SIZE];
	uint64_t first, last;

	fill(page, 7, times, 5);
	REQUIRE(page_trim(&shape, page, 0, 1001, into, &first, &last, NULL) == 1);
	CHECK(has(into, 7, times, 0, 2));
	REQUIRE(page_trim(&shape, page, 1001, UINT64_MAX, into, &first, &last, NULL) == 1);
	CHECK(has(into, 0, times, 1, 4));
}
