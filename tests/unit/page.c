// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ring/page.h"

#include "lib/base/fail.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <string.h>

/* A page of a 64-bit kernel with this byte order: its head, then words. */
struct page_bytes {
	uint64_t ts, commit;
	uint32_t words[60];
};

static const struct page_shape shape = { .size = sizeof(struct page_bytes), .long_size = 8, .swap = false };

TEST(page_hands_out_records_with_running_time)
{
	struct page_bytes bytes = { .ts = 1000,
				    .commit = 20,
				    .words = { record_head(1, 5), 0x11, record_head(2, 7), 0x22, 0x33 } };
	struct fail fail = FAIL_INIT;
	struct record record;
	struct page page;

	REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), &fail));
	REQUIRE(page_next(&page, &record, &fail) == 1);
	CHECK(record.ts == 1005 && record.len == 4 && record.data == (uint8_t *)&bytes.words[1]);
	REQUIRE(page_next(&page, &record, &fail) == 1);
	CHECK(record.ts == 1012 && record.len == 8);
	CHECK(page_next(&page, &record, &fail) == 0);
}

TEST(page_follows_time_extends_stamps_and_discarded_records)
{
	struct page_bytes bytes = { .ts = 1ull << 60,
				    .commit = 9 * 4 + 8,
				    .words = { record_head(30, 3), 2, record_head(29, 4), 8, 0, record_head(31, 9), 1,
					       record_head(0, 1), 8, 0x77 } };
	struct fail fail = FAIL_INIT;
	struct record record;
	struct page page;

	bytes.commit = 10 * 4;
	REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), &fail));
	REQUIRE(page_next(&page, &record, &fail) == 1);
	CHECK(record.ts == ((1ull << 60) | ((1ull << 27) + 9 + 1)));
	CHECK(record.len == 4 && record.data == (uint8_t *)&bytes.words[9]);
	CHECK(page_next(&page, &record, &fail) == 0);
}

TEST(page_passes_by_the_delta_of_a_discarded_record)
{
	struct page_bytes bytes = { .ts = 1000,
				    .commit = 7 * 4,
				    .words = { record_head(29, 500), 8, 0, record_head(1, 7), 0x77, record_head(1, 5),
					       0x78 } };
	struct fail fail = FAIL_INIT;
	struct record record;
	struct page page;

	REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), &fail));
	REQUIRE(page_next(&page, &record, &fail) == 1);
	CHECK(record.ts == 1007);
	REQUIRE(page_next(&page, &record, &fail) == 1);
	CHECK(record.ts == 1012);
	CHECK(page_next(&page, &record, &fail) == 0);
}

TEST(page_rejects_a_record_that_crosses_the_end)
{
	struct page_bytes bytes = { .commit = 8, .words = { record_head(2, 0) } };
	struct fail fail = FAIL_INIT;
	struct record record;
	struct page page;

	REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), &fail));
	CHECK(page_next(&page, &record, &fail) == -EBADMSG);
	CHECK(strstr(fail.text, "crosses"));
}

TEST(page_rejects_a_commit_larger_than_the_page)
{
	struct page_bytes bytes = { .commit = sizeof(bytes.words) + 1 };
	struct fail fail = FAIL_INIT;
	struct page page;

	CHECK(page_init(&page, &shape, &bytes, sizeof(bytes), &fail) == -EBADMSG);
	bytes.commit = sizeof(bytes.words);
	CHECK(page_init(&page, &shape, &bytes, sizeof(bytes) - 4, &fail) == -EBADMSG);
	CHECK(page_init(&page, &shape, &bytes, 15, &fail) == -EBADMSG);
}

TEST(page_reads_how_many_events_were_lost)
{
	struct page_bytes bytes = { .commit = 8 | 1ull << 31 | 1ull << 30 | 0xffffffffull << 32,
				    .words = { record_head(1, 0), 0, HOST_BIG_ENDIAN ? 0 : 138,
					       HOST_BIG_ENDIAN ? 138 : 0 } };
	struct fail fail = FAIL_INIT;
	struct page page;

	REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), &fail));
	CHECK(page.lost == 138);
	bytes.commit = 8 | 1ull << 31;
	REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), &fail));
	CHECK(page.lost == PAGE_LOST_UNKNOWN);
	/* A full page has no room for the count. */
	bytes.commit = sizeof(bytes.words) | 1ull << 31 | 1ull << 30;
	REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), &fail));
	CHECK(page.lost == PAGE_LOST_UNKNOWN);
}

TEST(page_reads_the_other_byte_order)
{
	struct page_bytes bytes = { .ts = __builtin_bswap64(500),
				    .commit = __builtin_bswap64(8),
				    .words = { __builtin_bswap32(HOST_BIG_ENDIAN ? 6 << 5 | 1 : 1u << 27 | 6), 0 } };
	const struct page_shape swapped = { .size = sizeof(bytes), .long_size = 8, .swap = true };
	struct fail fail = FAIL_INIT;
	struct record record;
	struct page page;

	REQUIRE(!page_init(&page, &swapped, &bytes, sizeof(bytes), &fail));
	REQUIRE(page_next(&page, &record, &fail) == 1);
	CHECK(record.ts == 506 && record.len == 4);
}

static bool order_of(uint64_t commit, uint8_t long_size, bool *ret_swap)
{
	/* In a 32-bit kernel the commit is the first half of these 8 bytes. */
	struct page_bytes bytes = { .ts = 500, .commit = HOST_BIG_ENDIAN && long_size == 4 ? commit << 32 : commit };
	const struct page_shape either = { .size = sizeof(bytes), .long_size = long_size, .swap = false };

	return page_order(&either, &bytes, sizeof(bytes), ret_swap);
}

TEST(page_tells_its_byte_order_by_its_commit)
{
	const uint64_t lost = 1ull << 31, stored = 1ull << 30;
	bool swap;

	CHECK(order_of(40, 8, &swap) && !swap);
	CHECK(order_of(__builtin_bswap64(40), 8, &swap) && swap);
	CHECK(order_of(40 | lost | stored, 8, &swap) && !swap);
	CHECK(order_of(__builtin_bswap64(40 | lost | stored), 8, &swap) && swap);
	/* 6.1 extends the sign of the commit. */
	CHECK(order_of(UINT64_MAX << 32 | lost | 40, 8, &swap) && !swap);
	CHECK(order_of(40, 4, &swap) && !swap);
	CHECK(order_of(__builtin_bswap32((uint32_t)(40 | lost)), 4, &swap) && swap);
}

TEST(page_tells_no_byte_order_where_it_has_none)
{
	const struct page_shape either = { .size = sizeof(struct page_bytes), .long_size = 8, .swap = false };
	const uint8_t cut[15] = { [8] = 40 };
	bool swap;

	/* Commits: an empty page; more than a page; half a word; undefined bits. */
	CHECK(!order_of(0, 8, &swap));
	CHECK(!order_of(sizeof(struct page_bytes), 8, &swap));
	CHECK(!order_of(42, 8, &swap));
	CHECK(!order_of(40 | 1u << 29, 8, &swap));
	/* Both orders are possible: 128 bytes behind lost events in one, 192 bytes behind lost events in the other. */
	CHECK(!order_of(0xc0000080, 4, &swap));
	CHECK(!page_order(&either, cut, sizeof(cut), &swap));
}

/* mips64 and riscv64: ring_buffer_event_length() counts the word with the length. */
TEST(page_tells_of_which_records_the_kernel_takes_a_word_too_much)
{
	struct page_bytes bytes = { .ts = 1000,
				    .commit = 16 + 124 + 8,
				    .words = { record_head(0, 5), 12, 0x11, 0x12 } };
	struct record record;
	struct page page;

	bytes.words[4] = record_head(0, 1);
	bytes.words[5] = 120;
	bytes.words[35] = record_head(1, 1);
	REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), NULL));
	REQUIRE(page_next(&page, &record, NULL) == 1);
	CHECK(record.len == 8 && record.more == RECORD_MORE);
	REQUIRE(page_next(&page, &record, NULL) == 1);
	CHECK(record.len == 116 && !record.more);
	REQUIRE(page_next(&page, &record, NULL) == 1);
	CHECK(record.len == 4 && !record.more);
}

TEST(page_record_size_counts_the_head_and_ends_with_the_page)
{
	struct page_bytes bytes = { .commit = 8 * 4,
				    .words = { record_head(30, 3), 2, record_head(1, 5), 0x11, record_head(0, 1), 12,
					       0x77, 0x78 } };
	struct page page;

	REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), NULL));
	CHECK(page_record_size(&page, 0) == 8);
	CHECK(page_record_size(&page, 8) == 8);
	CHECK(page_record_size(&page, 16) == 16);
	CHECK(page_record_size(&page, 32) == 0);
	bytes.words[5] = 16;
	CHECK(page_record_size(&page, 16) == 0);
}
