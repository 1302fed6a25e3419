// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/stream/live_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/pages/stream/merge.h"
#include "lib/pages/stream/source.h"
#include "tests/unit/test.h"

/* A kernel in memory. Its pages have 64 bytes and records of one word, and become readable when the test says so. */
enum { PAGE_BYTES = 64, PAGE_RECORDS = 6, CPUS = 2, PAGES = 8 };

struct test_page {
	uint64_t ts, commit;
	uint32_t words[PAGE_RECORDS * 2];
};
_Static_assert(sizeof(struct test_page) == PAGE_BYTES, "a page of the test is a page");

struct kernel {
	struct test_page pages[CPUS][PAGES];
	size_t written[CPUS], read[CPUS];
	uint64_t overrun[CPUS];
	unsigned asked; /* how often the overrun was read */
	struct source *source;
	struct merge *merge;
	char text[512]; /* text of the records handed out so far */
	size_t len;
	int64_t lost;
};

static const uint32_t cpu_numbers[CPUS] = { 0, 3 };

static int feed_read(void *arg, size_t cpu, void *into, struct fail *fail)
{
	struct kernel *kernel = arg;

	(void)fail;
	if (kernel->read[cpu] == kernel->written[cpu])
		return 0;
	memcpy(into, &kernel->pages[cpu][kernel->read[cpu]++ % PAGES], PAGE_BYTES);
	return 1;
}

static int feed_overrun(void *arg, size_t cpu, uint64_t taken, uint64_t *ret, struct fail *fail)
{
	struct kernel *kernel = arg;

	(void)taken;
	(void)fail;
	kernel->asked++;
	*ret = kernel->overrun[cpu];
	return 0;
}

static bool begin_with(struct kernel *kernel, size_t queue_max, struct live_times *times)
{
	struct live_source_options options = {
		.feed = { .read = feed_read, .overrun = feed_overrun, .arg = kernel },
		.shape = { .size = PAGE_BYTES, .long_size = 8 },
		.cpus = cpu_numbers,
		.nr_cpus = CPUS,
		.queue_max = queue_max,
		.times = times,
	};

	*kernel = (struct kernel){ .len = 0 };
	return !live_source_new(&options, &kernel->source, NULL) &&
	       !merge_new(kernel->source, NULL, 0, &kernel->merge, NULL);
}

static bool begin(struct kernel *kernel, size_t queue_max)
{
	return begin_with(kernel, queue_max, NULL);
}

/* A page with records at `first`, first + step, ... */
static struct test_page *write_page(struct kernel *kernel, size_t cpu, uint64_t first, uint32_t step, unsigned count)
{
	struct test_page *page = &kernel->pages[cpu][kernel->written[cpu]++ % PAGES];

	*page = (struct test_page){ .ts = first, .commit = count * 8 };
	for (unsigned i = 0; i < count; i++) {
		page->words[i * 2] = record_head(1, i ? step : 0);
		page->words[i * 2 + 1] = i;
	}
	return page;
}

/* Marks the gap before a page as the kernel does. A full page has no room for the number of lost events. */
static void write_gap(struct test_page *page, uint64_t lost)
{
	uint64_t commit = page->commit;

	page->commit |= 1u << 31;
	if (commit == sizeof(page->words))
		return;
	page->commit |= 1u << 30;
	memcpy((char *)page->words + commit, &lost, sizeof(lost));
}

/* Appends the records whose order is certain by now. */
static void hand_out(struct kernel *kernel)
{
	struct cursor *top;

	merge_resume(kernel->merge);
	while ((top = merge_top(kernel->merge))) {
		if (top->lost) {
			kernel->len += (size_t)snprintf(kernel->text + kernel->len, sizeof(kernel->text) - kernel->len,
							"(%lld lost) ", (long long)top->lost);
			kernel->lost += top->lost;
			top->lost = 0;
		}
		kernel->len += (size_t)snprintf(kernel->text + kernel->len, sizeof(kernel->text) - kernel->len,
						"%llu@%u ", (unsigned long long)top->head.ts, top->cpu);
		CHECK(merge_advance(kernel->merge, NULL) >= 0);
		merge_release(kernel->merge, merge_retired(kernel->merge));
	}
}

static bool take_now(struct kernel *kernel, bool is_round, bool *ret_full)
{
	return live_source_take(kernel->source, is_round, ret_full, NULL) >= 0;
}

static void round_trip(struct kernel *kernel)
{
	CHECK(take_now(kernel, true, NULL));
	hand_out(kernel);
}

TEST(live_holds_an_event_back_until_no_older_one_can_come)
{
	struct kernel kernel;

	REQUIRE(begin(&kernel, 1 << 20));
	write_page(&kernel, 0, 100, 10, 2);
	round_trip(&kernel);
	CHECK_STR(kernel.text, "");
	/* This page was written before CPU 0 was read, but is read only now. Its record still comes first. */
	write_page(&kernel, 1, 95, 10, 2);
	round_trip(&kernel);
	CHECK_STR(kernel.text, "95@3 100@0 105@3 110@0 ");
	merge_free(kernel.merge);
}

TEST(live_lets_the_last_record_of_a_cpu_wait_for_the_next)
{
	struct kernel kernel;

	REQUIRE(begin(&kernel, 1 << 20));
	write_page(&kernel, 0, 100, 10, 1);
	write_page(&kernel, 1, 105, 10, 3);
	round_trip(&kernel);
	CHECK_STR(kernel.text, "");
	/* The next record has come; the one behind it is not known yet, and CPU 3 must wait for it, too. */
	write_page(&kernel, 0, 107, 10, 1);
	write_page(&kernel, 1, 200, 10, 3);
	CHECK(take_now(&kernel, false, NULL));
	hand_out(&kernel);
	CHECK_STR(kernel.text, "100@0 105@3 ");
	/* The wait ends. */
	round_trip(&kernel);
	round_trip(&kernel);
	CHECK_STR(kernel.text, "100@0 105@3 107@0 115@3 125@3 200@3 210@3 220@3 ");
	merge_free(kernel.merge);
}

TEST(live_needs_no_rounds_while_every_cpu_is_busy)
{
	struct kernel kernel;

	REQUIRE(begin(&kernel, 1 << 20));
	write_page(&kernel, 0, 100, 10, 3);
	write_page(&kernel, 1, 105, 10, 3);
	CHECK(take_now(&kernel, false, NULL));
	hand_out(&kernel);
	CHECK_STR(kernel.text, "100@0 105@3 110@0 115@3 ");
	merge_free(kernel.merge);
}

TEST(live_takes_no_more_than_it_may_keep)
{
	struct kernel kernel;
	bool full = false;

	/* A page that waits has room for a count. */
	REQUIRE(begin(&kernel, 2 * (PAGE_BYTES + 8)));
	for (unsigned i = 0; i < 5; i++)
		write_page(&kernel, 0, 100 + i * 10, 1, 2);
	CHECK(take_now(&kernel, true, &full));
	CHECK(full && kernel.read[0] == 2);
	CHECK(take_now(&kernel, true, &full));
	CHECK(full && kernel.read[0] == 2);
	/* CPU 3 was empty, so its records are not older than the latest record of the round before. */
	hand_out(&kernel);
	CHECK_STR(kernel.text, "100@0 101@0 110@0 111@0 ");
	for (unsigned i = 0; i < 3; i++)
		round_trip(&kernel);
	CHECK_STR(kernel.text, "100@0 101@0 110@0 111@0 120@0 121@0 130@0 131@0 140@0 141@0 ");
	CHECK(take_now(&kernel, true, &full));
	CHECK(!full);
	merge_free(kernel.merge);
}

TEST(live_goes_on_with_a_full_queue_when_the_other_cpu_is_busy_too)
{
	struct kernel kernel;

	REQUIRE(begin(&kernel, 1));
	for (unsigned i = 0; i < 3; i++) {
		write_page(&kernel, 0, 100 + i * 10, 1, 2);
		write_page(&kernel, 1, 105 + i * 10, 1, 2);
	}
	for (unsigned i = 0; i < 5; i++)
		round_trip(&kernel);
	hand_out(&kernel);
	CHECK_STR(kernel.text, "100@0 101@0 105@3 106@3 110@0 111@0 115@3 116@3 120@0 121@0 125@3 126@3 ");
	merge_free(kernel.merge);
}

TEST(live_hands_out_everything_once_it_has_ended)
{
	struct kernel kernel;

	REQUIRE(begin(&kernel, 1 << 20));
	write_page(&kernel, 0, 100, 10, 2);
	round_trip(&kernel);
	CHECK_STR(kernel.text, "");
	write_page(&kernel, 1, 90, 10, 1);
	CHECK(take_now(&kernel, false, NULL));
	live_source_end(kernel.source);
	CHECK(take_now(&kernel, false, NULL));
	hand_out(&kernel);
	CHECK_STR(kernel.text, "90@3 100@0 110@0 ");
	CHECK(!merge_top(kernel.merge));
	merge_free(kernel.merge);
}

TEST(live_needs_no_rounds_to_end_with_more_than_it_may_keep)
{
	struct kernel kernel;

	REQUIRE(begin(&kernel, PAGE_BYTES));
	for (unsigned i = 0; i < 5; i++)
		write_page(&kernel, 0, 100 + i * 10, 1, 1);
	write_page(&kernel, 1, 125, 1, 1);
	live_source_end(kernel.source);
	for (unsigned i = 0; i < 8; i++) {
		CHECK(take_now(&kernel, false, NULL));
		hand_out(&kernel);
	}
	CHECK_STR(kernel.text, "100@0 110@0 120@0 125@3 130@0 140@0 ");
	merge_free(kernel.merge);
}

TEST(live_asks_for_the_number_of_a_gap_that_a_full_page_has_no_room_for)
{
	struct kernel kernel;

	REQUIRE(begin(&kernel, 1 << 20));
	write_page(&kernel, 0, 100, 1, 1);
	write_gap(write_page(&kernel, 0, 200, 1, 2), 7);
	CHECK(take_now(&kernel, false, NULL));
	CHECK(!kernel.asked);
	write_gap(write_page(&kernel, 0, 300, 1, PAGE_RECORDS), 0);
	kernel.overrun[0] = 30;
	CHECK(take_now(&kernel, false, NULL));
	live_source_end(kernel.source);
	CHECK(take_now(&kernel, false, NULL));
	hand_out(&kernel);
	CHECK_STR(kernel.text, "100@0 (7 lost) 200@0 201@0 (23 lost) 300@0 301@0 302@0 303@0 304@0 305@0 ");
	CHECK(live_source_lost(kernel.source, 0) == 30);
	merge_free(kernel.merge);
}

TEST(live_counts_no_loss_twice_when_the_number_came_too_late)
{
	struct kernel kernel;

	REQUIRE(begin(&kernel, 1 << 20));
	write_gap(write_page(&kernel, 0, 100, 1, PAGE_RECORDS), 0);
	/*
	 * 20 events were lost before this page, and 5 more until the overrun was read. The next page counts these 5
	 * again.
	 */
	kernel.overrun[0] = 25;
	CHECK(take_now(&kernel, false, NULL));
	write_gap(write_page(&kernel, 0, 200, 1, 1), 5);
	CHECK(take_now(&kernel, false, NULL));
	kernel.overrun[0] = 32;
	write_gap(write_page(&kernel, 0, 300, 1, 1), 7);
	CHECK(take_now(&kernel, false, NULL));
	live_source_end(kernel.source);
	CHECK(take_now(&kernel, false, NULL));
	hand_out(&kernel);
	CHECK_STR(kernel.text, "(25 lost) 100@0 101@0 102@0 103@0 104@0 105@0 200@0 (7 lost) 300@0 ");
	CHECK(kernel.lost == 32);
	merge_free(kernel.merge);
}

TEST(live_reads_nothing_of_a_page_that_it_has_left)
{
	struct kernel kernel;
	struct test_page *page;

	REQUIRE(begin(&kernel, 1 << 20));
	/* The page ends in padding, as the kernel's pages do: its last record ends before the committed length. */
	page = write_page(&kernel, 0, 100, 1, 1);
	page->commit = 24;
	page->words[2] = record_head(29, 0);
	for (unsigned i = 0; i < 4; i++)
		round_trip(&kernel);
	hand_out(&kernel);
	CHECK_STR(kernel.text, "100@0 ");
	/* CPU 3 uses the memory of the page again. */
	write_page(&kernel, 1, 200, 1, 4);
	for (unsigned i = 0; i < 4; i++)
		round_trip(&kernel);
	hand_out(&kernel);
	CHECK_STR(kernel.text, "100@0 200@3 201@3 202@3 203@3 ");
	merge_free(kernel.merge);
}

TEST(live_says_that_a_page_is_broken)
{
	struct kernel kernel;
	struct fail fail = FAIL_INIT;

	REQUIRE(begin(&kernel, 1 << 20));
	write_page(&kernel, 1, 100, 1, 1)->commit = 4000;
	CHECK(live_source_take(kernel.source, true, NULL, &fail) < 0);
	CHECK(strstr(fail.text, "CPU 3: commit 4000"));
	merge_free(kernel.merge);
}

/* Two buffers of one stream: a round reads both. */
static void round_of_both(struct kernel kernels[2], struct live_times *times)
{
	for (unsigned i = 0; i < 2; i++)
		CHECK(live_source_take(kernels[i].source, true, NULL, NULL) >= 0);
	live_times_round(times);
	for (unsigned i = 0; i < 2; i++)
		merge_resume(kernels[i].merge);
}

TEST(live_bounds_of_a_silent_buffer_move_with_the_events_of_another)
{
	struct kernel kernels[2];
	struct live_times times = { .latest = 0 };
	uint64_t due;

	REQUIRE(begin_with(&kernels[0], 1 << 20, &times) && begin_with(&kernels[1], 1 << 20, &times));
	write_page(&kernels[0], 0, 100, 10, 2);
	write_page(&kernels[0], 1, 90, 30, 2);
	round_of_both(kernels, &times);
	CHECK(!merge_due(kernels[1].merge, &due) && due == 0);
	CHECK(!merge_due(kernels[0].merge, &due) || due == 90);
	/* The other buffer was empty after all of these records had been seen, so nothing as old can come from it. */
	round_of_both(kernels, &times);
	CHECK(!merge_due(kernels[1].merge, &due) && due == 120);
	CHECK(merge_due(kernels[0].merge, &due) && due == 90);
	for (unsigned i = 0; i < 2; i++)
		merge_free(kernels[i].merge);
}

TEST(live_does_not_promise_more_of_a_buffer_than_was_seen_before_it_was_found_empty)
{
	struct kernel kernels[2];
	struct live_times times = { .latest = 0 };
	uint64_t due;

	REQUIRE(begin_with(&kernels[0], 1 << 20, &times) && begin_with(&kernels[1], 1 << 20, &times));
	/* Rounds without any record do not move the bounds. */
	round_of_both(kernels, &times);
	round_of_both(kernels, &times);
	/*
	 * The record comes from the second buffer, when the first had been found empty. The first may still bring 95.
	 */
	write_page(&kernels[1], 0, 100, 10, 2);
	round_of_both(kernels, &times);
	CHECK(!merge_due(kernels[0].merge, &due) && due < 95);
	write_page(&kernels[0], 0, 95, 10, 2);
	round_of_both(kernels, &times);
	CHECK(merge_due(kernels[0].merge, &due) && due == 95);
	for (unsigned i = 0; i < 2; i++)
		merge_free(kernels[i].merge);
}

TEST(live_holds_nobody_up_once_it_has_ended)
{
	struct kernel kernels[2];
	struct live_times times = { .latest = 0 };
	uint64_t due;

	REQUIRE(begin_with(&kernels[0], 1 << 20, &times) && begin_with(&kernels[1], 1 << 20, &times));
	write_page(&kernels[1], 0, 100, 10, 1);
	for (unsigned i = 0; i < 2; i++) {
		live_source_end(kernels[i].source);
		CHECK(live_source_take(kernels[i].source, false, NULL, NULL) >= 0);
		merge_resume(kernels[i].merge);
	}
	CHECK(!merge_due(kernels[0].merge, &due) && due == UINT64_MAX);
	CHECK(merge_due(kernels[1].merge, &due) && due == 100);
	for (unsigned i = 0; i < 2; i++)
		merge_free(kernels[i].merge);
}

/* A kernel that refuses to be read, or to be asked for its count. */
static int refuse_read(void *arg, size_t cpu, void *into, struct fail *fail)
{
	(void)into;
	return *(const size_t *)arg == cpu ? fail_set(fail, -5, "no page") : 0;
}

static int refuse_overrun(void *arg, size_t cpu, uint64_t taken, uint64_t *ret, struct fail *fail)
{
	(void)arg;
	(void)ret;
	return fail_set(fail, -5, "no count of %zu after %llu", cpu, (unsigned long long)taken);
}

TEST(live_says_which_cpu_cannot_be_read)
{
	for (size_t cpu = 0; cpu < CPUS; cpu++) {
		const struct live_source_options options = {
			.feed = { .read = refuse_read, .arg = &cpu },
			.shape = { .size = PAGE_BYTES, .long_size = 8 },
			.cpus = cpu_numbers,
			.nr_cpus = CPUS,
		};
		struct source *source = NULL;
		struct fail fail = FAIL_INIT;

		REQUIRE(!live_source_new(&options, &source, NULL));
		CHECK(live_source_take(source, true, NULL, &fail) == -5);
		CHECK_STR(fail.text, cpu ? "CPU 3: no page" : "CPU 0: no page");
		source_free(source);
	}
}

/* The pages that `taken` gets, one behind the other. */
struct taken_pages {
	uint8_t bytes[4 * (PAGE_BYTES + 8)];
	size_t len, cpus[4], nr;
};

static void keep_page(void *arg, size_t cpu, const void *page, size_t len)
{
	struct taken_pages *pages = arg;

	REQUIRE(pages->nr < 4 && len == PAGE_BYTES + 8);
	memcpy(pages->bytes + pages->len, page, len);
	pages->len += len;
	pages->cpus[pages->nr++] = cpu;
}

static uint64_t word_at(const struct taken_pages *pages, size_t page, size_t at)
{
	uint64_t word;

	memcpy(&word, pages->bytes + page * (PAGE_BYTES + 8) + at, sizeof(word));
	return word;
}

TEST(live_tells_of_each_page_that_it_takes_with_the_count_of_its_gap)
{
	struct kernel kernel = { .len = 0 };
	struct taken_pages pages = { .len = 0 };
	struct live_source_options options = {
		.feed = { .read = feed_read, .overrun = feed_overrun, .arg = &kernel },
		.shape = { .size = PAGE_BYTES, .long_size = 8 },
		.cpus = cpu_numbers,
		.nr_cpus = CPUS,
		.queue_max = 1 << 20,
		.taken = keep_page,
		.taken_arg = &pages,
	};
	struct fail fail = FAIL_INIT;

	REQUIRE(!live_source_new(&options, &kernel.source, NULL));
	write_page(&kernel, 1, 100, 1, 2);
	write_gap(write_page(&kernel, 0, 200, 1, PAGE_RECORDS), 0);
	write_gap(write_page(&kernel, 0, 300, 1, 3), 9);
	kernel.overrun[0] = 7;
	CHECK(live_source_take(kernel.source, false, NULL, NULL) == 1);
	CHECK(pages.nr == 3 && !pages.cpus[0] && !pages.cpus[1] && pages.cpus[2] == 1);
	/* The kernel had no room for 7, nor has a count of 7 in all for the 9 of the page behind. */
	CHECK(word_at(&pages, 0, 8) == (UINT64_C(3) << 30 | 48) && word_at(&pages, 0, 64) == 7);
	CHECK(word_at(&pages, 1, 8) == 24);
	CHECK(word_at(&pages, 2, 8) == 16 && word_at(&pages, 2, 0) == 100);
	CHECK(live_source_taken(kernel.source, 0) == 9 && live_source_taken(kernel.source, 1) == 2);
	CHECK(live_source_lost(kernel.source, 0) == 7 && !live_source_lost(kernel.source, 1));
	/* Nothing more has come. */
	CHECK(live_source_take(kernel.source, false, NULL, NULL) == 0 && pages.nr == 3);
	source_free(kernel.source);

	/* Without the kernel's count, a gap whose number the page lacks stays one of unknown size. */
	options.feed.overrun = NULL;
	pages = (struct taken_pages){ .len = 0 };
	kernel = (struct kernel){ .len = 0 };
	REQUIRE(!live_source_new(&options, &kernel.source, NULL));
	write_gap(write_page(&kernel, 0, 200, 1, PAGE_RECORDS), 0);
	CHECK(live_source_take(kernel.source, false, NULL, NULL) == 1);
	CHECK(word_at(&pages, 0, 8) == (UINT64_C(2) << 30 | 48) && !live_source_lost(kernel.source, 0));
	source_free(kernel.source);

	options.feed.overrun = refuse_overrun;
	kernel.read[0] = 0;
	REQUIRE(!live_source_new(&options, &kernel.source, NULL));
	CHECK(live_source_take(kernel.source, false, NULL, &fail) == -5);
	CHECK_STR(fail.text, "CPU 0: no count of 0 after 6");
	source_free(kernel.source);
}

/* A kernel of 32 bits: the head of a page has 12 bytes, and so has the count. */
static int read_narrow(void *arg, size_t cpu, void *into, struct fail *fail)
{
	uint32_t *page = into;
	unsigned *left = arg;

	(void)fail;
	if (cpu || !*left)
		return 0;
	--*left;
	memset(page, 0, PAGE_BYTES);
	page[HOST_BIG_ENDIAN] = 500;
	page[2] = 1u << 31 | 52;
	for (unsigned i = 0; i < 13; i += 2)
		page[3 + i] = record_head(i < 12 ? 1 : 29, 1);
	return 1;
}

static int five_overrun(void *arg, size_t cpu, uint64_t taken, uint64_t *ret, struct fail *fail)
{
	(void)arg;
	(void)fail;
	*ret = !cpu && taken == 6 ? 5 : 0;
	return 0;
}

static void keep_narrow(void *arg, size_t cpu, const void *page, size_t len)
{
	(void)cpu;
	CHECK(len == PAGE_BYTES + 8);
	memcpy(arg, page, len);
}

TEST(live_counts_the_gaps_of_a_kernel_of_32_bits)
{
	uint32_t page[(PAGE_BYTES + 8) / 4] = { 0 };
	unsigned left = 1;
	const struct live_source_options options = {
		.feed = { .read = read_narrow, .overrun = five_overrun, .arg = &left },
		.shape = { .size = PAGE_BYTES, .long_size = 4 },
		.cpus = cpu_numbers,
		.nr_cpus = CPUS,
		.taken = keep_narrow,
		.taken_arg = page,
	};
	struct source *source = NULL;

	REQUIRE(!live_source_new(&options, &source, NULL));
	CHECK(live_source_take(source, false, NULL, NULL) == 1);
	CHECK(page[2] == (3u << 30 | 52) && page[16] == 5 && !page[17] && page[HOST_BIG_ENDIAN] == 500);
	CHECK(live_source_lost(source, 0) == 5);
	source_free(source);
}

TEST(live_has_memory_for_full_queues_from_the_start)
{
	struct live_source_options options = {
		.feed = { .read = feed_read },
		.shape = { .size = PAGE_BYTES, .long_size = 8 },
		.cpus = cpu_numbers,
		.nr_cpus = CPUS,
		.queue_max = 10 * (PAGE_BYTES + 8),
	};
	struct source *source = NULL;

	for (size_t busy = 0; busy < 3; busy++) {
		options.busy_cpus = busy;
		REQUIRE(!live_source_new(&options, &source, NULL));
		/* Two blocks of each may be in use besides. */
		CHECK(source->spare_size == busy * 12 * (PAGE_BYTES + 8));
		CHECK(source->nr_cpus == CPUS && source->cpus[1] == 3 && source->shape.size == PAGE_BYTES + 8);
		source_free(source);
	}
}
