// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/ring/page.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/stream/cursor.h"
#include "lib/pages/stream/file_source.h"
#include "lib/pages/stream/source.h"
#include "lib/pages/trace/trace.h"
#include "tests/unit/test.h"

enum { PAGE_BYTES = 256 };

/* Pages of every shape: both byte orders, both sizes of long. */
static const struct page_shape shapes[] = {
	{ .size = PAGE_BYTES, .long_size = 8, .swap = false },
	{ .size = PAGE_BYTES, .long_size = 8, .swap = true },
	{ .size = PAGE_BYTES, .long_size = 4, .swap = false },
	{ .size = PAGE_BYTES, .long_size = 4, .swap = true },
};

static const uint32_t payload[64] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static struct record record_at(uint64_t ts, uint32_t len)
{
	return (struct record){ .ts = ts, .data = (const uint8_t *)payload, .len = len };
}

/* Whether reading the page returns these records. */
static bool reads_back(const struct page_writer *writer, const struct record *want, size_t nr)
{
	struct record record;
	struct page page;

	if (page_init(&page, &writer->shape, writer->page, writer->shape.size, NULL) || page.lost != writer->lost)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (page_next(&page, &record, NULL) != 1 || record.ts != want[i].ts || record.len != want[i].len ||
		    memcmp(record.data, want[i].data, record.len))
			return false;
	return page_next(&page, &record, NULL) == 0;
}

static bool all_shapes(int64_t lost, const struct record *records, size_t nr)
{
	struct page_writer writer;
	uint8_t bytes[PAGE_BYTES];

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		page_writer_begin(&writer, &shapes[i], bytes, lost);
		for (size_t n = 0; n < nr; n++)
			if (!page_writer_add(&writer, &records[n]))
				return false;
		page_writer_end(&writer);
		if (!reads_back(&writer, records, nr))
			return false;
	}
	return true;
}

TEST(page_writer_keeps_records_of_every_length)
{
	const struct record records[] = { record_at(1000, 4), record_at(1000, 8), record_at(1003, 112),
					  record_at(1004, 6) };

	CHECK(all_shapes(PAGE_LOST_NONE, records, 4));
	CHECK(all_shapes(PAGE_LOST_NONE, &(struct record){ .ts = 7, .data = (const uint8_t *)payload, .len = 116 }, 1));
}

TEST(page_writer_keeps_times_that_are_far_or_go_back)
{
	const struct record records[] = { record_at((1ull << 60) + 5, 4), record_at((1ull << 60) + (1ull << 27) + 4, 4),
					  record_at((1ull << 60) + (1ull << 40), 4), record_at((1ull << 60) + 3, 4),
					  record_at((1ull << 60) + (1ull << 27) + 2, 4) };

	CHECK(all_shapes(PAGE_LOST_NONE, records, 5));
}

TEST(page_writer_refuses_a_time_that_only_a_new_page_can_tell)
{
	const struct record late = record_at((1ull << 60) + 5, 4), early = record_at(5, 4);
	struct page_writer writer;
	uint8_t bytes[PAGE_BYTES];

	page_writer_begin(&writer, &shapes[0], bytes, PAGE_LOST_NONE);
	CHECK(page_writer_add(&writer, &late) && !page_writer_add(&writer, &early));
	page_writer_begin(&writer, &shapes[0], bytes, PAGE_LOST_NONE);
	CHECK(page_writer_add(&writer, &early) && !page_writer_add(&writer, &late));
}

TEST(page_writer_tells_what_was_lost_on_a_full_page_too)
{
	struct record record = record_at(9, 4);
	struct page_writer writer;
	uint8_t bytes[PAGE_BYTES];

	CHECK(all_shapes(138, &record, 1));
	CHECK(all_shapes(PAGE_LOST_UNKNOWN, &record, 1));
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct page page;

		page_writer_begin(&writer, &shapes[i], bytes, 77);
		while (page_writer_add(&writer, &record))
			;
		page_writer_end(&writer);
		REQUIRE(!page_init(&page, &shapes[i], bytes, sizeof(bytes), NULL));
		CHECK(page.lost == 77);
		CHECK(page.commit + page_head_size(&shapes[i]) + shapes[i].long_size + 8 > PAGE_BYTES);
	}
}

TEST(page_writer_refuses_what_no_page_holds)
{
	const struct record record = record_at(9, PAGE_BYTES - 16 - 4);
	struct page_writer writer;
	uint8_t bytes[PAGE_BYTES];

	page_writer_begin(&writer, &shapes[0], bytes, PAGE_LOST_NONE);
	CHECK(!page_writer_add(&writer, &record) && page_writer_empty(&writer));
}

/* Pages made from one CPU's records, with the losses on the pages that the records came from. */
struct made {
	struct page_writer writer;
	uint8_t page[1 << 16];
	struct buf pages;
	uint64_t records;
};

static void made_turn(struct made *made, int64_t lost)
{
	struct page_shape shape = made->writer.shape;

	page_writer_end(&made->writer);
	if (!page_writer_empty(&made->writer) && !buf_add(&made->pages, made->page, shape.size))
		abort();
	page_writer_begin(&made->writer, &shape, made->page, lost);
}

static void give_back(struct source *source, struct block *chain)
{
	while (chain) {
		struct block *block = chain;

		chain = block->next;
		source_release(source, block);
	}
}

static bool make_pages(struct made *made, struct source *source, size_t cpu)
{
	struct chain retired = { .first = NULL, .tail = &retired.first };
	struct cursor cursor;
	bool ok = true;

	cursor_init(&cursor, source, cpu, &retired);
	page_writer_begin(&made->writer, &source->shape, made->page, PAGE_LOST_NONE);
	while (ok && cursor_next(&cursor, NULL) > 0) {
		if (cursor.lost)
			made_turn(made, cursor.lost);
		cursor.lost = 0;
		if (!page_writer_add(&made->writer, &cursor.head)) {
			made_turn(made, PAGE_LOST_NONE);
			ok = page_writer_add(&made->writer, &cursor.head);
		}
		made->records++;
	}
	made_turn(made, PAGE_LOST_NONE);
	cursor_release(&cursor);
	give_back(source, retired.first);
	return ok;
}

/* The next record of the made pages. */
static int made_next(struct made *made, size_t *at, struct page *page, struct record *ret, int64_t *ret_lost)
{
	while (!page->data || page_next(page, ret, NULL) != 1) {
		if (*at == made->pages.len)
			return 0;
		if (page_init(page, &made->writer.shape, made->pages.data + *at, made->writer.shape.size, NULL))
			return -1;
		*at += made->writer.shape.size;
		*ret_lost = page->lost;
	}
	return 1;
}

static void compare(struct made *made, struct source *source, size_t cpu)
{
	struct chain retired = { .first = NULL, .tail = &retired.first };
	struct page page = { .data = NULL };
	struct cursor cursor;
	size_t at = 0;

	cursor_init(&cursor, source, cpu, &retired);
	while (cursor_next(&cursor, NULL) > 0) {
		struct record record = { .ts = 0 };
		int64_t lost = 0;

		REQUIRE(made_next(made, &at, &page, &record, &lost) == 1);
		REQUIRE(record.ts == cursor.head.ts && record.len == cursor.head.len && lost == cursor.lost);
		REQUIRE(!memcmp(record.data, cursor.head.data, record.len));
		cursor.lost = 0;
	}
	CHECK(at == made->pages.len);
	cursor_release(&cursor);
	give_back(source, retired.first);
}

static uint64_t remake(const char *path)
{
	struct source *from = NULL, *again = NULL;
	struct made *made = calloc(1, sizeof(*made));
	struct trace *trace = NULL;
	uint64_t records = 0;

	if (CHECK(made && !trace_open(path, &trace, NULL)) && CHECK(!file_source_new(trace, 0, NULL, &from, NULL)) &&
	    CHECK(!file_source_new(trace, 0, NULL, &again, NULL))) {
		for (size_t cpu = 0; cpu < from->nr_cpus; cpu++) {
			buf_clear(&made->pages);
			CHECK(make_pages(made, from, cpu));
			compare(made, again, cpu);
		}
		records = made->records;
	}
	source_free(from);
	source_free(again);
	if (trace)
		trace_free(trace);
	if (made)
		buf_release(&made->pages);
	free(made);
	return records;
}

TEST(page_writer_makes_pages_of_the_records_of_every_golden_capture)
{
	glob_t golden;

	REQUIRE(!glob("tests/fixtures/golden/*.dat", 0, NULL, &golden));
	CHECK(golden.gl_pathc >= 10);
	for (size_t i = 0; i < golden.gl_pathc; i++)
		CHECK(remake(golden.gl_pathv[i]) > 0);
	globfree(&golden);
}

TEST(page_writer_takes_no_word_for_the_length_of_a_short_record)
{
	static const uint8_t bytes[116];
	uint8_t page[256];
	struct page_writer writer;
	const struct page_shape kind = { .size = sizeof(page), .long_size = 8 };

	page_writer_begin(&writer, &kind, page, PAGE_LOST_NONE);
	CHECK(page_writer_add(&writer, &(struct record){ .ts = 1, .data = bytes, .len = 12 }) && writer.used == 4 + 12);
	CHECK(page_writer_add(&writer, &(struct record){ .ts = 2, .data = bytes, .len = 13 }) &&
	      writer.used == 16 + 8 + 16);
	CHECK(page_writer_add(&writer, &(struct record){ .ts = 3, .data = bytes, .len = 112 }) &&
	      writer.used == 40 + 4 + 112);
	CHECK(page_writer_add(&writer, &(struct record){ .ts = 1ull << 28, .data = bytes, .len = 4 }) &&
	      writer.used == 156 + 8 + 8);
}
