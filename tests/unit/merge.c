// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/stream/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/stream/source.h"
#include "tests/unit/test.h"

/* Sources in memory. Their pages have 64 bytes and records of one word; a record's payload names its source. */
enum { PAGE_BYTES = 64, PAGE_RECORDS = 6, CPUS = 3, PAGES = 4 };

struct test_page {
	uint64_t ts, commit;
	uint32_t words[PAGE_RECORDS * 2];
};
_Static_assert(sizeof(struct test_page) == PAGE_BYTES, "a page of the test is a page");

struct test_source {
	struct source source;
	struct test_page pages[CPUS][PAGES];
	size_t nr_pages[CPUS], next[CPUS];
	unsigned given, released;
};

static const uint32_t cpu_numbers[CPUS] = { 0, 2, 5 };

static int test_next(struct source *source, size_t cpu_index, struct block **ret, struct fail *fail)
{
	struct test_source *test = (struct test_source *)source;
	struct block *block;

	if (test->next[cpu_index] == test->nr_pages[cpu_index])
		return 0;
	block = source_block(source, PAGE_BYTES);
	if (!block)
		return fail_memory(fail);
	memcpy(block->data, &test->pages[cpu_index][test->next[cpu_index]++], PAGE_BYTES);
	block->len = PAGE_BYTES;
	*ret = block;
	return 1;
}

static void test_free(struct source *source)
{
	free(source);
}

static const struct source_ops test_ops = { .next = test_next, .free = test_free };

static struct test_source *test_source(void)
{
	struct test_source *test = calloc(1, sizeof(*test));

	test->source = (struct source){
		.ops = &test_ops, .shape = { .size = PAGE_BYTES, .long_size = 8 }, .nr_cpus = CPUS, .cpus = cpu_numbers
	};
	return test;
}

/* A page with records at `first`, first + step, ... */
static void add_page(struct test_source *test, size_t cpu, uint64_t first, uint32_t step, unsigned count)
{
	struct test_page *page = &test->pages[cpu][test->nr_pages[cpu]++];

	page->ts = first;
	page->commit = count * 8;
	for (unsigned i = 0; i < count; i++) {
		page->words[i * 2] = record_head(1, i ? step : 0);
		page->words[i * 2 + 1] = (uint32_t)(cpu << 16 | i);
	}
}

static int walk(struct merge *merge, char *text, size_t size, bool *ret_damaged)
{
	struct fail fail = FAIL_INIT;
	struct cursor *top;
	size_t len = 0;
	int count = 0;

	text[0] = 0;
	while ((top = merge_top(merge))) {
		if (len < size)
			len += (size_t)snprintf(text + len, size - len, "%llu@%u ", (unsigned long long)top->head.ts,
						top->cpu);
		count++;
		if (merge_advance(merge, &fail) < 0)
			*ret_damaged = true;
		merge_release(merge, merge_retired(merge));
	}
	return count;
}

TEST(merge_orders_records_by_time_then_cpu)
{
	struct test_source *test = test_source();
	struct fail fail = FAIL_INIT;
	struct merge *merge = NULL;
	bool damaged = false;
	char text[512];

	add_page(test, 0, 10, 10, 3);
	add_page(test, 1, 10, 5, 3);
	add_page(test, 2, 1, 19, 2);
	add_page(test, 1, 30, 1, 1);
	REQUIRE(!merge_new(&test->source, NULL, 0, &merge, &fail));
	walk(merge, text, sizeof(text), &damaged);
	CHECK_STR(text, "1@5 10@0 10@2 15@2 20@0 20@2 20@5 30@0 30@2 ");
	CHECK(!damaged);
	merge_free(merge);
}

TEST(merge_leaves_out_masked_cpus)
{
	struct test_source *test = test_source();
	const uint64_t mask[] = { 1 << 2 };
	struct fail fail = FAIL_INIT;
	struct merge *merge = NULL;
	bool damaged = false;
	char text[512];

	add_page(test, 0, 10, 10, 3);
	add_page(test, 1, 10, 5, 2);
	REQUIRE(!merge_new(&test->source, mask, 1, &merge, &fail));
	walk(merge, text, sizeof(text), &damaged);
	CHECK_STR(text, "10@2 15@2 ");
	merge_free(merge);
}

TEST(merge_goes_on_with_the_others_when_one_cpu_is_damaged)
{
	struct test_source *test = test_source();
	struct fail fail = FAIL_INIT;
	struct merge *merge = NULL;
	bool damaged = false;
	char text[512];

	add_page(test, 0, 10, 10, 3);
	add_page(test, 1, 11, 1, 1);
	add_page(test, 1, 12, 1, 2);
	test->pages[1][1].commit = 4000;
	REQUIRE(!merge_new(&test->source, NULL, 0, &merge, &fail));
	walk(merge, text, sizeof(text), &damaged);
	CHECK_STR(text, "10@0 11@2 20@0 30@0 ");
	CHECK(damaged);
	merge_free(merge);
}

TEST(merge_tells_damage_in_a_first_page)
{
	struct test_source *test = test_source();
	struct fail fail = FAIL_INIT;
	struct merge *merge = NULL;
	bool damaged = false;
	char text[512];

	add_page(test, 0, 10, 10, 1);
	add_page(test, 2, 12, 1, 2);
	test->pages[2][0].commit = 4000;
	REQUIRE(!merge_new(&test->source, NULL, 0, &merge, &fail));
	CHECK(walk(merge, text, sizeof(text), &damaged) == 1);
	REQUIRE(merge_start_damage(merge));
	CHECK(strstr(merge_start_damage(merge), "CPU 5: commit 4000"));
	merge_free(merge);
}

TEST(merge_shows_the_record_that_follows_on_a_cpu)
{
	struct test_source *test = test_source();
	struct fail fail = FAIL_INIT;
	struct merge *merge = NULL;

	add_page(test, 0, 10, 10, 1);
	add_page(test, 0, 50, 10, 1);
	add_page(test, 1, 15, 1, 1);
	REQUIRE(!merge_new(&test->source, NULL, 0, &merge, &fail));
	REQUIRE(merge_top(merge));
	CHECK(!merge_moved(merge));
	CHECK(merge_advance(merge, &fail) == 1);
	REQUIRE(merge_moved(merge));
	CHECK(merge_moved(merge)->head.ts == 50 && merge_moved(merge)->cpu == 0);
	CHECK(merge_top(merge)->head.ts == 15);
	merge_free(merge);
}

TEST(merge_keeps_gaps_with_the_record_behind_them)
{
	const uint64_t lost = 77;
	struct test_source *test = test_source();
	struct fail fail = FAIL_INIT;
	struct merge *merge = NULL;

	add_page(test, 0, 10, 10, 1);
	add_page(test, 0, 50, 10, 1);
	test->pages[0][1].commit |= 1u << 31 | 1u << 30;
	memcpy(&test->pages[0][1].words[2], &lost, sizeof(lost));
	REQUIRE(!merge_new(&test->source, NULL, 0, &merge, &fail));
	REQUIRE(merge_top(merge));
	CHECK(merge_top(merge)->lost == 0 && merge_top(merge)->first);
	CHECK(merge_advance(merge, &fail) == 1);
	REQUIRE(merge_top(merge));
	CHECK(merge_top(merge)->lost == 77 && !merge_top(merge)->first);
	merge_free(merge);
}
