// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/stream/merge.h"
#include "lib/pages/stream/source.h"
#include "tests/unit/test.h"

/* A source of many CPUs in memory. Its pages have 64 bytes, a block has two of them, and a record is one word. */
enum { PAGE_BYTES = 64, BODY = 48, RECORD = 8, CPUS = 70, PAGES = 8, PER_BLOCK = 2 };

struct wide {
	struct source source;
	uint8_t pages[CPUS][PAGES][PAGE_BYTES];
	size_t nr_pages[CPUS], next[CPUS], first[CPUS];
	uint32_t cpus[CPUS];
	unsigned sought[CPUS], restarts, out, memory;
	uint64_t sought_ts;
};

static int wide_next(struct source *source, size_t cpu_index, struct block **ret, struct fail *fail)
{
	struct wide *wide = (struct wide *)source;
	size_t left = wide->nr_pages[cpu_index] - wide->next[cpu_index], nr = left < PER_BLOCK ? left : PER_BLOCK;
	struct block *block;

	if (!nr)
		return 0;
	block = source_block(source, PER_BLOCK * PAGE_BYTES);
	if (!block)
		return fail_memory(fail);
	memcpy(block->data, wide->pages[cpu_index][wide->next[cpu_index]], nr * PAGE_BYTES);
	block->len = nr * PAGE_BYTES;
	block->piece = cpu_index;
	block->offset = wide->next[cpu_index] * PAGE_BYTES;
	block->later = wide->next[cpu_index] > 0;
	wide->next[cpu_index] += nr;
	wide->out++;
	*ret = block;
	return 1;
}

static int wide_seek(struct source *source, size_t cpu_index, uint64_t ts, struct fail *fail)
{
	struct wide *wide = (struct wide *)source;

	wide->sought[cpu_index]++;
	wide->sought_ts = ts;
	wide->next[cpu_index] = wide->first[cpu_index];
	return ts == 666 ? fail_set(fail, -5, "no such time") : 0;
}

static int wide_restart(struct source *source, uint64_t ts, struct fail *fail)
{
	struct wide *wide = (struct wide *)source;

	(void)ts;
	(void)fail;
	memset(wide->next, 0, sizeof(wide->next));
	wide->restarts++;
	return 0;
}

static void wide_lacks_memory(struct source *source)
{
	((struct wide *)source)->memory++;
}

static void wide_free(struct source *source)
{
	free(source);
}

static const struct source_ops wide_ops = {
	.next = wide_next,
	.seek = wide_seek,
	.restart = wide_restart,
	.lacks_memory = wide_lacks_memory,
	.free = wide_free,
};

static struct wide *wide_new(size_t nr)
{
	struct wide *wide = calloc(1, sizeof(*wide));

	wide->source = (struct source){
		.ops = &wide_ops, .shape = { .size = PAGE_BYTES, .long_size = 8 }, .nr_cpus = nr, .cpus = wide->cpus
	};
	for (uint32_t i = 0; i < CPUS; i++)
		wide->cpus[i] = i;
	return wide;
}

/* Puts records at these times, one at least, on a new page of a CPU. */
static uint8_t *add_page(struct wide *wide, size_t cpu, const uint64_t *times, size_t nr)
{
	uint8_t *page = wide->pages[cpu][wide->nr_pages[cpu]++];
	uint64_t commit = nr * RECORD;

	memcpy(page, times, sizeof(*times));
	memcpy(page + 8, &commit, sizeof(commit));
	for (size_t i = 0; i < nr; i++) {
		uint32_t words[] = { record_head(1, (uint32_t)(times[i] - times[i ? i - 1 : 0])), (uint32_t)cpu };

		memcpy(page + 16 + i * RECORD, words, sizeof(words));
	}
	return page;
}

/* `lost` events were lost before the page; its number stands behind the records. */
static void set_lost(uint8_t *page, uint64_t lost)
{
	uint64_t commit;

	memcpy(&commit, page + 8, sizeof(commit));
	memcpy(page + 16 + commit, &lost, sizeof(lost));
	commit |= 1u << 31 | 1u << 30;
	memcpy(page + 8, &commit, sizeof(commit));
}

struct seen {
	uint64_t ts;
	uint64_t cpu; /* as wide as ts: no gap is compared */
};

static int by_time_and_cpu(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/* Fills CPUs with pages of records whose times meet now and then, and lists them. Each CPU has other numbers. */
static size_t fill(struct wide *wide, size_t nr_cpus, uint32_t seed, struct seen *list)
{
	size_t len = 0;

	for (size_t cpu = 0; cpu < nr_cpus; cpu++) {
		uint64_t ts = 1000 + seed % 7;

		for (size_t page = 0; page < 1 + cpu % 3; page++) {
			uint64_t times[BODY / RECORD];

			for (size_t i = 0; i < BODY / RECORD; i++) {
				seed = seed * 1664525 + 1013904223;
				ts += seed >> 29;
				times[i] = ts;
				list[len++] = (struct seen){ ts, cpu };
			}
			add_page(wide, cpu, times, BODY / RECORD);
		}
	}
	return len;
}

/* Reads on to the end and gives each block back as soon as its cursor has left it. */
static size_t read_all(struct merge *merge, struct seen *list, size_t max)
{
	struct cursor *top;
	size_t len = 0;

	while ((top = merge_top(merge)) && len < max) {
		uint64_t due;

		CHECK(merge_due(merge, &due) && due == top->head.ts);
		list[len++] = (struct seen){ top->head.ts, top->cpu };
		CHECK(merge_advance(merge, NULL) >= 0);
		merge_release(merge, merge_retired(merge));
	}
	return len;
}

enum { LIST_MAX = CPUS * 3 * (BODY / RECORD) + 1 };

TEST(merge_orders_any_number_of_cpus_as_a_sort_does)
{
	static const size_t counts[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 70 };
	struct seen *want = calloc(LIST_MAX, sizeof(*want)), *got = calloc(LIST_MAX, sizeof(*got));

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		for (uint32_t seed = 1; seed < 12; seed++) {
			struct wide *wide = wide_new(counts[i]);
			size_t nr = fill(wide, counts[i], seed * 7919, want), nr_got;
			struct merge *merge = NULL;
			uint64_t due = 0;

			qsort(want, nr, sizeof(*want), by_time_and_cpu);
			REQUIRE(!merge_new(&wide->source, NULL, 0, &merge, NULL));
			nr_got = read_all(merge, got, LIST_MAX);
			CHECK(nr_got == nr && !memcmp(got, want, nr * sizeof(*want)));
			CHECK(!merge_due(merge, &due) && due == UINT64_MAX);
			CHECK(!merge_start_damage(merge) && !merge_has_remains(merge));
			merge_free(merge);
		}
	free(want);
	free(got);
}

TEST(merge_masks_cpus_by_the_bit_of_their_number)
{
	static const uint64_t mask[] = { UINT64_C(1) << 63 | 2, 1 };
	static const struct {
		size_t words;
		uint32_t cpu;
		bool masked;
	} table[] = {
		{ 2, 0, true },  { 2, 1, false },  { 2, 62, true },  { 2, 63, false }, { 2, 64, false },
		{ 2, 65, true }, { 2, 128, true }, { 1, 63, false }, { 1, 64, true },  { 0, 1, true },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		CHECK(merge_masked(mask, table[i].words, table[i].cpu) == table[i].masked);
	CHECK(!merge_masked(NULL, 0, 500));
}

/* The CPUs of the records in order, each a digit. */
static const char *digits(struct merge *merge, char *text)
{
	struct seen list[64];
	size_t nr = read_all(merge, list, 64);

	for (size_t i = 0; i < nr; i++)
		text[i] = (char)('0' + list[i].cpu);
	text[nr] = '\0';
	return text;
}

TEST(merge_restarts_with_all_cpus_or_only_one)
{
	struct wide *wide = wide_new(3);
	struct merge *merge = NULL;
	struct fail fail = FAIL_INIT;
	char text[65];

	for (uint64_t cpu = 0; cpu < 3; cpu++) {
		add_page(wide, cpu, (uint64_t[]){ 10 + cpu, 20 + cpu }, 2);
		add_page(wide, cpu, (uint64_t[]){ 30 - cpu }, 1);
		add_page(wide, cpu, (uint64_t[]){ 40 + cpu }, 1);
	}
	REQUIRE(!merge_new(&wide->source, NULL, 0, &merge, NULL));
	CHECK_STR(digits(merge, text), "012012210012");
	CHECK(!merge_restart(merge, 0, NULL));
	CHECK(wide->restarts == 1 && !wide->sought[0]);
	CHECK_STR(digits(merge, text), "012012210012");
	/* In the middle, while a record that was read has to be sorted in. */
	CHECK(!merge_restart(merge, 0, NULL));
	CHECK(merge_top(merge) && merge_advance(merge, NULL) == 1);
	CHECK(!merge_restart(merge, 0, NULL));
	CHECK(!merge_moved(merge));
	CHECK_STR(digits(merge, text), "012012210012");
	merge_only(merge, 1);
	CHECK(!merge_restart(merge, 0, NULL));
	CHECK_STR(digits(merge, text), "1111");
	merge_only(merge, 0);
	CHECK(!merge_restart(merge, 0, NULL));
	CHECK_STR(digits(merge, text), "0000");
	merge_only(merge, 1);
	/* The seek leads to the second block, of one page. */
	wide->first[1] = 2;
	CHECK(!merge_restart(merge, 35, NULL));
	CHECK(!wide->sought[0] && wide->sought[1] == 1 && !wide->sought[2] && wide->sought_ts == 35);
	CHECK_STR(digits(merge, text), "1");
	merge_only(merge, -1);
	wide->first[0] = wide->first[2] = 2;
	CHECK(!merge_restart(merge, 35, NULL));
	CHECK(wide->sought[0] == 1 && wide->sought[1] == 2 && wide->sought[2] == 1);
	CHECK_STR(digits(merge, text), "012");
	CHECK(merge_restart(merge, 666, &fail) == -5);
	CHECK_STR(fail.text, "no such time");
	/* The first CPU is the one that fails; the others are not asked. */
	CHECK(wide->sought[0] == 2 && wide->sought[1] == 2);
	merge_free(merge);
}

TEST(cursor_says_where_its_head_is_and_what_was_lost_before_it)
{
	struct wide *wide = wide_new(1);
	struct chain retired = { .tail = &retired.first };
	struct cursor_place place;
	struct cursor cursor;

	add_page(wide, 0, (uint64_t[]){ 10, 20 }, 2);
	/* Two empty pages with lost events, then one with more of them. */
	set_lost(add_page(wide, 0, (uint64_t[]){ 21 }, 0), 5);
	set_lost(add_page(wide, 0, (uint64_t[]){ 22 }, 0), 6);
	set_lost(add_page(wide, 0, (uint64_t[]){ 30, 40 }, 2), 7);
	add_page(wide, 0, (uint64_t[]){ 50 }, 1);
	cursor_init(&cursor, &wide->source, 0, &retired);
	cursor_place(&cursor, &place);
	CHECK(place.piece == UINT64_MAX && !place.page && !place.record && !place.lost);
	CHECK(!cursor_followed(&cursor) && !cursor.live);
	CHECK(cursor_next(&cursor, NULL) == 1);
	cursor_place(&cursor, &place);
	CHECK(place.piece == 0 && place.page == PAGE_BYTES && place.record == RECORD && !place.lost);
	CHECK(cursor.head.ts == 10 && cursor.first && cursor_followed(&cursor) && cursor.live);
	CHECK(cursor_next(&cursor, NULL) == 1 && cursor.head.ts == 20 && !cursor_followed(&cursor) && cursor.first);
	CHECK(cursor_next(&cursor, NULL) == 1);
	cursor_place(&cursor, &place);
	CHECK(cursor.head.ts == 30 && !cursor.first && place.page == 4 * PAGE_BYTES && place.record == RECORD &&
	      place.lost == 18);
	cursor.lost = 0;
	CHECK(cursor_next(&cursor, NULL) == 1 && cursor.head.ts == 40 && !cursor.lost);
	CHECK(cursor_next(&cursor, NULL) == 1 && cursor.head.ts == 50);
	cursor_place(&cursor, &place);
	CHECK(place.page == 5 * PAGE_BYTES);
	CHECK(cursor_next(&cursor, NULL) == 0 && !cursor.live && !cursor.dry);
	/* Three blocks were read, and each had a record that was handed out. */
	CHECK(wide->out == 3);
	CHECK(retired.first && retired.first->next && retired.first->next->next && !retired.first->next->next->next);
	CHECK(retired.size == 3 * PER_BLOCK * PAGE_BYTES);
	for (struct block *block = retired.first, *next; block; block = next) {
		next = block->next;
		source_release(&wide->source, block);
	}
	CHECK(wide->source.spare_size == 3 * PER_BLOCK * PAGE_BYTES);
	cursor_release(&cursor);
	source_free(&wide->source);
}

TEST(cursor_adds_up_gaps_of_one_event)
{
	struct wide *wide = wide_new(1);
	struct chain retired = { .tail = &retired.first };
	struct cursor cursor;

	for (uint64_t i = 0; i < 3; i++)
		set_lost(add_page(wide, 0, (uint64_t[]){ 10 + i }, i == 2), 1);
	cursor_init(&cursor, &wide->source, 0, &retired);
	CHECK(cursor_next(&cursor, NULL) == 1 && cursor.head.ts == 12 && cursor.lost == 3);
	cursor_release(&cursor);
	source_release(&wide->source, retired.first);
	source_free(&wide->source);
}

TEST(cursor_counts_the_events_of_a_gap_anew_once_their_number_is_not_known)
{
	struct wide *wide = wide_new(1);
	struct chain retired = { .tail = &retired.first };
	struct cursor cursor;
	uint64_t commit = 1u << 31;

	set_lost(add_page(wide, 0, (uint64_t[]){ 10 }, 0), 5);
	memcpy(add_page(wide, 0, (uint64_t[]){ 20 }, 0) + 8, &commit, sizeof(commit));
	add_page(wide, 0, (uint64_t[]){ 30 }, 1);
	cursor_init(&cursor, &wide->source, 0, &retired);
	CHECK(cursor_next(&cursor, NULL) == 1 && cursor.head.ts == 30 && cursor.lost == PAGE_LOST_UNKNOWN);
	/* The block of the empty pages is not given to the owner: no record of it was handed out. */
	CHECK(!retired.first);
	cursor_release(&cursor);
	CHECK(retired.first && !retired.first->next);
	source_release(&wide->source, retired.first);
	source_free(&wide->source);
}

TEST(source_uses_released_blocks_again_the_oldest_first)
{
	struct wide *wide = wide_new(1);
	struct source *source = &wide->source;
	struct block *one = source_block(source, 100), *two = source_block(source, 200), *large;
	uint8_t *copy;

	REQUIRE(one && two);
	CHECK(one->size == 100 && !one->len && !one->next);
	copy = source_copy(one, 150);
	CHECK(copy && source_copy(one, 50) == copy + 150 && !source_copy(one, 1));
	one->len = 99;
	source_release(source, one);
	source_release(source, two);
	CHECK(source->spare_size == 300);
	CHECK(source_block(source, 100) == one && !one->len && !one->copies_len && source->spare_size == 200);
	CHECK(source_copy(one, 200) == copy);
	/* A block that is too small is made larger, and so is the memory for its copies. */
	CHECK(source_block(source, 300) == two && two->size == 300 && !source->spare_size);
	CHECK(source_copy(two, 600));
	source_release(source, one);
	CHECK(source_block(source, 1000) == one && one->size == 1000 && source_copy(one, 2000));
	/* Not more than 12 MB are kept. */
	large = source_block(source, (12 << 20) - 1000);
	REQUIRE(large);
	source_release(source, one);
	source_release(source, large);
	CHECK(source->spare_size == 12 << 20);
	source_release(source, two);
	CHECK(source->spare_size == 12 << 20);
	source_free(source);
}
