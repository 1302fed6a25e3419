// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/ring/page.h"

#include <errno.h>

#include "lib/ground/base/fail.h"
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
	struct fail fail = FAIL_INIT;
	uint64_t first, last;

	fill(page, 0, times, 5);
	REQUIRE(page_trim(&shape, page, 1001, 1000000005, into, &first, &last, NULL) == 1);
	CHECK(first == 1001 && last == 1000000005);
	CHECK(has(into, 0, times, 1, 3));
	REQUIRE(page_trim(&shape, page, 9000000000, UINT64_MAX, into, &first, &last, NULL) == 1);
	CHECK(has(into, 0, times, 4, 1));
	CHECK(page_trim(&shape, page, 1002, 5000, into, &first, &last, NULL) == 0);
	CHECK(page_trim(&shape, page, 9000000001, UINT64_MAX, into, &first, &last, NULL) == 0);
	/* A commit that exceeds the page. */
	memset(page + 8, 0x11, 8);
	CHECK(page_trim(&shape, page, 0, UINT64_MAX, into, &first, &last, &fail) == -EBADMSG &&
	      strstr(fail.text, "commit"));
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

/* Two times between which only a new page can be: without it the page is copied with all its events. */
TEST(page_trim_keeps_more_where_a_page_cannot_be_written_again)
{
	static const uint64_t apart[] = { 1000, 1001, 1ull << 61 };
	uint8_t page[SIZE], into[SIZE];
	uint32_t *words = (uint32_t *)(void *)(page + 16);
	uint64_t first, last;

	fill(page, 0, apart, 2);
	/* The kernel itself writes an absolute time below 2^59; the upper bits are those of the page. */
	words[4] = HOST_BIG_ENDIAN ? record_head(30, 0) : record_head(30, 0);
	words[5] = 1u << 31;
	words[6] = record_head(1, 0);
	words[7] = 2;
	page[HOST_BIG_ENDIAN ? 15 : 8] = 32;
	REQUIRE(page_trim(&shape, page, 1001, UINT64_MAX, into, &first, &last, NULL) == 1);
	CHECK(first == 1001 && last > 1ull << 57);
	/* The rest of a page that is copied comes along. */
	fill(page, 7, times, 5);
	memset(page + 120, 0x77, SIZE - 120);
	REQUIRE(page_trim(&shape, page, 0, UINT64_MAX, into, &first, &last, NULL) == 1);
	CHECK(!memcmp(page, into, SIZE));
}
