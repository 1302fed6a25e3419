// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/ring/page.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "tests/unit/test.h"

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
	CHECK_STR(fail.text, "the record at byte 0 crosses the page's 8 committed bytes");
}

TEST(page_rejects_a_commit_larger_than_the_page)
{
	struct page_bytes bytes = { .commit = sizeof(bytes.words) + 1 };
	struct fail fail = FAIL_INIT;
	struct page page;

	CHECK(page_init(&page, &shape, &bytes, sizeof(bytes), &fail) == -EBADMSG);
	CHECK_STR(fail.text, "commit 241 exceeds the page's 240 bytes");
	bytes.commit = sizeof(bytes.words);
	CHECK(page_init(&page, &shape, &bytes, sizeof(bytes) - 4, &fail) == -EBADMSG);
	CHECK_STR(fail.text, "commit 240 exceeds the 236 bytes that the page has");
	CHECK(page_init(&page, &shape, &bytes, 15, &fail) == -EBADMSG);
	CHECK_STR(fail.text, "15 bytes are too few for the header of a sub-buffer");
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

/* A time extend (30) or a time stamp (31) has eight bytes, and may be the last entry; four of them are damage. */
TEST(page_may_end_with_a_time)
{
	for (uint32_t type = 30; type <= 31; type++)
		for (uint32_t commit = 4; commit <= 8; commit += 4) {
			struct page_bytes bytes = { .ts = 500, .commit = commit, .words = { record_head(type, 3), 1 } };
			struct fail fail = FAIL_INIT;
			struct record record;
			struct page page;

			REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), &fail));
			CHECK(page_record_size(&page, 0) == (commit == 8 ? 8 : 0));
			CHECK(page_next(&page, &record, &fail) == (commit == 8 ? 0 : -EBADMSG));
			CHECK_STR(fail.text,
				  commit == 8 ? "" : "the record at byte 0 crosses the page's 4 committed bytes");
			if (commit == 8)
				CHECK(page.ts == (1 << 27) + 3 + (type == 30 ? 500 : 0));
		}
}

/* Bit 30 says that the number of lost events is stored, bit 31 that some were lost: neither without a loss. */
TEST(page_writer_marks_no_loss_where_there_was_none)
{
	static const struct {
		int64_t lost;
		uint32_t flags;
	} rows[] = { { PAGE_LOST_NONE, 0 }, { PAGE_LOST_UNKNOWN, 1u << 31 }, { 1, 3u << 30 } };
	const struct record record = { .ts = 5, .data = (const uint8_t *)"weft", .len = 4 };

	for (size_t i = 0; i < array_size(rows); i++) {
		struct page_bytes bytes = { .ts = 0 };
		struct page_writer writer;

		page_writer_begin(&writer, &shape, &bytes, rows[i].lost);
		CHECK(page_writer_add(&writer, &record));
		page_writer_end(&writer);
		CHECK(bytes.commit == (8 | rows[i].flags));
	}
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
	/* A page that is full to its end. */
	CHECK(order_of(sizeof(struct page_bytes) - 16, 8, &swap) && !swap);
	CHECK(order_of(sizeof(struct page_bytes) - 12, 4, &swap) && !swap);
	CHECK(!order_of(sizeof(struct page_bytes) - 8, 4, &swap));
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
	/* Only a commit whose upper bit is set has its sign extended. */
	CHECK(!order_of(UINT64_MAX << 32 | 40, 8, &swap));
	CHECK(!order_of(1ull << 32 | 1ull << 31 | 40, 8, &swap));
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

TEST(page_set_lost_marks_pages_of_each_kernel)
{
	for (unsigned i = 0; i < 4; i++) {
		const struct page_shape kind = { .size = sizeof(struct page_bytes),
						 .long_size = i & 1 ? 4 : 8,
						 .swap = i & 2 };
		struct page_bytes bytes = { .ts = 500 };
		uint8_t *commit = (uint8_t *)&bytes + 8;
		struct page page;

		for (unsigned byte = 0; byte < kind.long_size; byte++)
			commit[byte] = 0;
		/* 8 bytes are committed, in the order of this kernel. */
		commit[kind.swap == HOST_BIG_ENDIAN ? 0 : kind.long_size - 1] = 8;
		REQUIRE(!page_init(&page, &kind, &bytes, sizeof(bytes), NULL));
		CHECK(page.commit == 8 && page.lost == PAGE_LOST_NONE);
		page_set_lost(&kind, &bytes);
		REQUIRE(!page_init(&page, &kind, &bytes, sizeof(bytes), NULL));
		CHECK(page.commit == 8 && page.lost == PAGE_LOST_UNKNOWN);
	}
}

enum { KINDS = 4 };

/* 64 and 32 bits, in both byte orders. */
static struct page_shape kind_of(unsigned i, uint32_t size)
{
	return (struct page_shape){ .size = size, .long_size = i & 1 ? 4 : 8, .swap = i & 2 };
}

/* The word of a record's head in the byte order of a kernel. */
static uint32_t head_of(const struct page_shape *kind, uint32_t type, uint32_t delta)
{
	bool big = kind->swap != HOST_BIG_ENDIAN;
	uint32_t word = big ? type << 27 | delta : delta << 5 | type;

	return kind->swap ? __builtin_bswap32(word) : word;
}

TEST(page_of_each_kernel_is_read_as_it_was_written)
{
	static const uint8_t data[200] = "payload";
	static const struct record records[] = {
		{ .ts = 1000, .len = 4 },
		{ .ts = 1000 + (1 << 27) - 1, .len = 112 },
		{ .ts = 1ull << 33, .len = 116 },
		{ .ts = 1 << 20, .len = 7 },
	};
	static const int64_t losses[] = { PAGE_LOST_NONE, 1, 138, PAGE_LOST_UNKNOWN };

	for (unsigned i = 0; i < KINDS * array_size(losses); i++) {
		const struct page_shape kind = kind_of(i, 512);
		struct page_writer writer;
		struct record record;
		struct page page;
		uint8_t bytes[512];
		uint32_t at = 0;

		page_writer_begin(&writer, &kind, bytes, losses[i / KINDS]);
		for (unsigned j = 0; j < array_size(records); j++)
			CHECK(page_writer_add(
				&writer, &(struct record){ .ts = records[j].ts, .data = data, .len = records[j].len }));
		page_writer_end(&writer);
		REQUIRE(!page_init(&page, &kind, bytes, sizeof(bytes), NULL));
		CHECK(page.lost == losses[i / KINDS]);
		for (unsigned j = 0; j < array_size(records); j++) {
			REQUIRE(page_next(&page, &record, NULL) == 1);
			CHECK(record.ts == records[j].ts && record.len == records[j].len);
			CHECK(!memcmp(record.data, data, records[j].len));
			/* A time that is far from the one before has an entry of its own. */
			at += j > 1 ? page_record_size(&page, at) : 0;
			at += page_record_size(&page, at);
			CHECK(at == page.next);
		}
		CHECK(page_next(&page, &record, NULL) == 0 && page_record_size(&page, at) == 0);
	}
}

/* The longest record whose length is in its head: its first word is payload. */
TEST(page_blank_of_a_record_of_28_words_has_none_of_them)
{
	const struct page_shape kind = kind_of(0, 256);
	struct page_writer writer;
	uint8_t page[256], into[256], data[112];

	memset(data, 0x5a, sizeof(data));
	page_writer_begin(&writer, &kind, page, 0);
	CHECK(page_writer_add(&writer, &(struct record){ .ts = 1, .data = data, .len = sizeof(data) }));
	page_writer_end(&writer);
	page_blank(&kind, page, sizeof(page), into);
	CHECK(!memchr(into, 0x5a, sizeof(into)));
}

/* What stands behind the end's padding is left of an older page. */
TEST(page_blank_keeps_discarded_records_and_the_end_and_nothing_behind_it)
{
	for (unsigned i = 0; i < KINDS; i++) {
		const struct page_shape kind = kind_of(i, sizeof(struct page_bytes));
		const uint32_t left = 0x5a5a5a5a, ends = kind.swap ? __builtin_bswap32(8) : 8;
		uint32_t words[] = { head_of(&kind, 29, 500), ends, left, head_of(&kind, 1, 7), left,
				     head_of(&kind, 29, 0),   left, left };
		uint8_t bytes[sizeof(struct page_bytes)] = { 0 }, into[sizeof(struct page_bytes)];
		uint32_t head = page_head_size(&kind);
		struct record record;
		struct page page;

		for (unsigned cut = 0; cut < 2; cut++) {
			bytes[kind.swap == HOST_BIG_ENDIAN ? 8 : head - 1] = cut ? 24 : 32;
			memcpy(bytes + head, words, sizeof(words));
			page_blank(&kind, bytes, sizeof(bytes), into);
			CHECK(!memchr(into, 0x5a, sizeof(into)));
			CHECK(!memcmp(into, bytes, head));
			words[2] = words[4] = words[6] = words[7] = 0;
			CHECK(!memcmp(into + head, words, sizeof(words)));
			words[2] = words[4] = words[6] = words[7] = left;
			REQUIRE(!page_init(&page, &kind, into, sizeof(into), NULL));
			REQUIRE(page_next(&page, &record, NULL) == 1);
			CHECK(record.ts == 7 && record.len == 4 && record.data == into + head + 16);
			CHECK(page_next(&page, &record, NULL) == 0);
		}
	}
}

/* A record whose length is no multiple of 4 ends with the page: what rounds it up lies behind the committed bytes. */
TEST(page_ends_with_a_record_that_is_cut_inside_a_word)
{
	struct page_bytes bytes = { .commit = 11, .words = { record_head(0, 1), 7, 0x11 } };
	struct record record;
	struct page page;

	REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), NULL));
	CHECK(page_record_size(&page, 0) == 11);
	CHECK(page_next(&page, &record, NULL) == 1 && record.len == 3);
	CHECK(page_next(&page, &record, NULL) == 0);
}

TEST(page_writer_leaves_room_for_the_number_of_lost_events)
{
	for (unsigned i = 0; i < KINDS; i++)
		for (int64_t lost = PAGE_LOST_UNKNOWN; lost <= 2; lost++) {
			const struct page_shape kind = kind_of(i, 64);
			uint32_t room = 64 - page_head_size(&kind) - (lost > 0 ? kind.long_size : 0), nr = 0;
			struct page_writer writer;
			struct page page;
			uint8_t bytes[64 + 8];

			memset(bytes, 0x77, sizeof(bytes));
			page_writer_begin(&writer, &kind, bytes, lost);
			while (page_writer_add(&writer,
					       &(struct record){ .ts = 5, .data = (uint8_t *)"weft", .len = 4 }))
				nr++;
			page_writer_end(&writer);
			CHECK(nr == room / 8 && bytes[64] == 0x77);
			REQUIRE(!page_init(&page, &kind, bytes, 64, NULL));
			CHECK(page.lost == lost && page.commit == nr * 8);
		}
}

TEST(page_rejects_lengths_that_no_record_has)
{
	static const struct {
		uint32_t words[3], commit;
	} cases[] = {
		{ { 0, 3 }, 12 }, { { 0, 12 }, 12 }, { { 29, 3 }, 12 }, { { 29, 16 }, 12 },
		{ { 30 }, 4 },    { { 31 }, 4 },     { { 0 }, 4 },
	};

	for (unsigned i = 0; i < array_size(cases); i++) {
		struct page_bytes bytes = { .commit = cases[i].commit,
					    .words = { record_head(cases[i].words[0], 1), cases[i].words[1] } };
		struct fail fail = FAIL_INIT;
		struct record record;
		struct page page;

		REQUIRE(!page_init(&page, &shape, &bytes, sizeof(bytes), &fail));
		CHECK(page_next(&page, &record, &fail) == -EBADMSG && strstr(fail.text, "crosses"));
		CHECK(page_record_size(&page, 0) == 0);
	}
}

TEST(page_blank_keeps_what_makes_a_page_one_and_nothing_else)
{
	static const char secret[] = "a secret of 24 characters";
	struct record record, blanked;
	struct page_writer writer;
	uint8_t page[256], into[256];
	struct page walk, blank;

	for (unsigned order = 0; order < KINDS; order++) {
		const struct page_shape kind = kind_of(order, 256);

		memset(page, 0x5a, sizeof(page));
		page_writer_begin(&writer, &kind, page, 138);
		for (unsigned i = 0; i < 3; i++)
			REQUIRE(page_writer_add(&writer, &(struct record){ .ts = 1000 + i * 300000000ull,
									   .data = (const uint8_t *)secret,
									   .len = i == 1 ? 24 : 21 }));
		page_writer_end(&writer);
		for (uint32_t len = 0; len <= 256; len += 64) {
			memset(into, 0xff, sizeof(into));
			page_blank(&kind, page, len, into);
			CHECK(!memmem(into, sizeof(into), secret, 4));
			CHECK(!memchr(into, 0x5a, sizeof(into)));
			if (len < 128) {
				CHECK(!into[0] && !memcmp(into, into + 1, sizeof(into) - 1));
				continue;
			}
			REQUIRE(!page_init(&walk, &kind, page, sizeof(page), NULL) &&
				!page_init(&blank, &kind, into, sizeof(into), NULL));
			CHECK(walk.lost == 138 &&
			      blank.lost == (len < 116u + 2u * kind.long_size ? PAGE_LOST_UNKNOWN : 138));
			for (unsigned i = 0; i < 3; i++) {
				REQUIRE(page_next(&walk, &record, NULL) == 1 && page_next(&blank, &blanked, NULL) == 1);
				CHECK(blanked.ts == record.ts && blanked.len == record.len);
				CHECK(blanked.data - into == record.data - page);
				for (uint32_t at = 0; at < blanked.len; at++)
					CHECK(!blanked.data[at]);
			}
			CHECK(page_next(&blank, &blanked, NULL) == 0);
		}
		/* More bytes than a page has are none of a page. */
		memset(into, 0xff, sizeof(into));
		page_blank(&kind, page, 257, into);
		CHECK(!into[0] && !memcmp(into, into + 1, sizeof(into) - 1));
	}
}
