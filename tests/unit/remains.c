// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/ring/remains.h"

#include <stdlib.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/release.h"
#include "tests/unit/test.h"

struct page_bytes {
	uint64_t ts, commit;
	uint32_t words[16];
};

static const struct page_shape shape = { .size = sizeof(struct page_bytes), .long_size = 8, .swap = false };

/* The word behind the record that the page has at the offset `at`. */
static uint32_t word_behind(struct remains *remains, const struct page *page, uint32_t at)
{
	uint32_t word, len = page_record_size(page, at) - 8;
	struct record record = { .data = page->data + at + 8, .len = len, .more = RECORD_MORE };
	uint8_t copy[64 + REMAINS_ROOM];

	remains_take(remains, page, at + 8 + len);
	remains_copy(remains, &record, copy);
	CHECK_MEM(copy, len, record.data, len);
	memcpy(&word, copy + len, sizeof(word));
	return word;
}

TEST(remains_behind_a_short_record_are_those_of_longer_ones_before_it)
{
	struct page_bytes first = { .commit = 48,
				    .words = { record_head(0, 0), 8, 0x11, record_head(0, 0), 16, 0x21, 0x22, 0x23,
					       record_head(0, 0), 12, 0x31, 0x32 } },
			  second = { .commit = 12, .words = { record_head(0, 0), 8, 0x41 } };
	struct remains *remains = remains_new(&shape);
	struct page page;

	REQUIRE(remains);
	REQUIRE(!page_init(&page, &shape, &first, sizeof(first), NULL));
	CHECK(word_behind(remains, &page, 0) == 0);
	CHECK(word_behind(remains, &page, 32) == 0x23);
	remains_take(remains, &page, page.commit);
	remains_turn(remains);
	REQUIRE(!page_init(&page, &shape, &second, sizeof(second), NULL));
	CHECK(word_behind(remains, &page, 0) == 0x32);
	free(remains);
}

TEST(remains_are_printed_by_kernels_before_the_commit_that_mends_the_length)
{
	static const struct {
		unsigned major, minor, patch;
		bool want;
	} kernels[] = { { 0, 0, 0, false },  { 5, 4, 300, true },  { 6, 1, 177, true }, { 6, 1, 178, false },
			{ 6, 12, 96, true }, { 6, 12, 97, false }, { 6, 19, 14, true }, { 7, 1, 4, true },
			{ 7, 1, 5, false },  { 7, 2, 0, false } };

	for (size_t i = 0; i < array_size(kernels); i++) {
		const struct context context = { .release_major = kernels[i].major,
						 .release_minor = kernels[i].minor,
						 .release_patch = kernels[i].patch };

		CHECK(release_prints_more(&context) == kernels[i].want);
	}
}
