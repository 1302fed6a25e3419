// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/stream/file_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/pool.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/stream/merge.h"
#include "lib/pages/stream/source.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"
#include "tests/unit/test.h"

/*
 * A file of two CPUs. CPU 0 has its events at an even rate, CPU 3 in bursts with silence between them. The bytes of the
 * records are noise, so a chunk stays large. A chunk has up to 10 pages.
 */
enum {
	PAGE = 256,
	PAGES = 400,
	PAYLOAD = 24,
	PER_PAGE = (PAGE - 16) / (4 + PAYLOAD),
	CPUS = 2,
	RECORDS = PAGES * PER_PAGE * CPUS
};

struct made {
	struct made_record {
		uint64_t ts;
		uint32_t cpu;
	} records[RECORDS]; /* in order */
	uint64_t first[CPUS][PAGES];
	size_t nr, large; /* large: bytes of a page of a file with nothing else */
	uint32_t noise;
};

static uint32_t noise(struct made *made)
{
	return (made->noise = made->noise * 1664525 + 1013904223) >> 8;
}

static int write_cpu(struct made *made, struct part *part, uint32_t cpu, struct fail *fail)
{
	const struct page_shape shape = { .size = PAGE, .long_size = 8 };
	uint64_t ts = 1000 + cpu;
	int r = 0;

	for (size_t at = 0; at < PAGES && !r;) {
		uint8_t pages[10 * PAGE];
		size_t nr = 1 + noise(made) % 10;

		nr = nr < PAGES - at ? nr : PAGES - at;
		for (size_t i = 0; i < nr; i++) {
			struct page_writer writer;

			page_writer_begin(&writer, &shape, pages + i * PAGE, PAGE_LOST_NONE);
			for (unsigned k = 0; k < PER_PAGE; k++) {
				uint32_t words[PAYLOAD / 4];
				struct record record = { .data = (const uint8_t *)words, .len = PAYLOAD };

				ts += cpu ? (noise(made) % 97 ? noise(made) % 3 : 30000) : 60 + noise(made) % 9;
				for (unsigned w = 0; w < PAYLOAD / 4; w++)
					words[w] = noise(made) * noise(made);
				record.ts = ts;
				if (!k)
					made->first[!!cpu][at + i] = ts;
				CHECK(page_writer_add(&writer, &record));
				made->records[made->nr++] = (struct made_record){ ts, cpu };
			}
			page_writer_end(&writer);
		}
		r = part_add(part, pages, nr * PAGE, PAGE, fail);
		at += nr;
	}
	return r;
}

static int in_order(const void *a, const void *b)
{
	const struct made_record *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static int write_buffer(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	struct made *made = arg;
	int r = writer_buffer(writer, "", "local", PAGE, fail);

	for (uint32_t cpu = 0; !r && cpu < 2; cpu++) {
		r = write_cpu(made, part, cpu * 3, fail);
		r = r ? r : part_write(part, writer, cpu * 3, fail);
	}
	return r;
}

static int make(const struct writer_options *options, made_file_buffers *buffers, struct made *made)
{
	static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
					  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
					  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
					  "\tfield: char data;\toffset:16;\tsize:240;\tsigned:1;\n";
	const struct writer_metadata metadata = { .header_page = header_page,
						  .header_event = "",
						  .cmdlines = "",
						  .uname = "Linux",
						  .version = "made",
						  .clock = "[local]",
						  .cpu_count = 4 };
	int fd = memfd_create("file_source", MFD_CLOEXEC);
	uint64_t size;

	made->noise = 7;
	if (!CHECK(fd >= 0) || !CHECK(!made_file_write(fd, options, &metadata, buffers, made, &size, NULL)))
		return fd;
	qsort(made->records, made->nr, sizeof(*made->records), in_order);
	return fd;
}

static const struct writer_options forms[] = {
	{ .version = 6, .long_size = 8, .page_size = PAGE, .big_endian = HOST_BIG_ENDIAN },
	{ .version = 7,
	  .long_size = 8,
	  .page_size = PAGE,
	  .big_endian = HOST_BIG_ENDIAN,
	  .compress = true,
	  .level = 1 },
};

/* Calls a function with a file of each form. */
static void with_files(void (*use)(struct made *made, struct trace *trace, int fd, bool packed))
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct made *made = calloc(1, sizeof(*made));
		int fd = make(&forms[i], write_buffer, made);
		struct trace *trace = NULL;

		if (CHECK(made->nr == RECORDS) && CHECK(!trace_open_fd(fd, "made", &trace, NULL)))
			use(made, trace, fd, forms[i].compress);
		trace_free(trace);
		close(fd);
		free(made);
	}
}

/* Reads to the first record at `ts` or later, compares what follows, and returns how many records came before. */
static size_t check_from(struct merge *merge, const struct made *made, uint64_t ts)
{
	size_t at = 0, before = 0, end;
	struct cursor *top;

	while (at < made->nr && made->records[at].ts < ts)
		at++;
	end = at + 40 < made->nr ? at + 40 : made->nr;
	while ((top = merge_top(merge)) && top->head.ts < ts) {
		before++;
		CHECK(merge_advance(merge, NULL) >= 0);
		merge_release(merge, merge_retired(merge));
	}
	for (; at < end && (top = merge_top(merge)); at++) {
		if (!CHECK(top->head.ts == made->records[at].ts && top->cpu == made->records[at].cpu))
			break;
		CHECK(merge_advance(merge, NULL) >= 0);
		merge_release(merge, merge_retired(merge));
	}
	CHECK(at == end);
	return before;
}

/* At most one piece of each CPU is read in front of the time: a page, or a chunk. */
static void check_seeks(struct made *made, struct trace *trace, int fd, bool packed)
{
	(void)fd;
	for (size_t i = 0; i < made->nr; i += 97)
		for (uint64_t by = 0; by < 2; by++) {
			uint64_t ts = made->records[i].ts + by;
			struct source *source = NULL;
			struct merge *merge = NULL;

			REQUIRE(!file_source_new(trace, 0, NULL, &source, NULL));
			REQUIRE(!merge_new(source, NULL, 0, &merge, NULL));
			CHECK(!merge_seek(merge, ts, NULL));
			CHECK(check_from(merge, made, ts) <= 2 * (PER_PAGE + 4) * (packed ? 10 : 1));
			merge_free(merge);
		}
}

TEST(file_source_seeks_the_piece_before_a_time)
{
	with_files(check_seeks);
}

/* Onward in steps of one length, onward in others, and back again. */
static void check_restarts(struct made *made, struct trace *trace, int fd, bool packed)
{
	static const size_t steps[] = { 1, 40, 400, 1999 };
	struct source *source = NULL;
	struct merge *merge = NULL;
	size_t limit = 2 * PER_PAGE * (packed ? 50 : 2);

	(void)fd;
	REQUIRE(!file_source_new(trace, 0, NULL, &source, NULL));
	REQUIRE(!merge_new(source, NULL, 0, &merge, NULL));
	for (size_t k = 0; k < sizeof(steps) / sizeof(steps[0]); k++)
		for (size_t i = k * 50; i < made->nr && i < 300 * steps[k]; i += steps[k]) {
			CHECK(!merge_restart(merge, made->records[i].ts, NULL));
			CHECK(check_from(merge, made, made->records[i].ts) <= limit);
		}
	for (size_t i = made->nr; i > 700; i -= 700) {
		CHECK(!merge_restart(merge, made->records[i - 1].ts, NULL));
		CHECK(check_from(merge, made, made->records[i - 1].ts) <= limit);
	}
	CHECK(!merge_restart(merge, 0, NULL));
	CHECK(check_from(merge, made, 0) == 0);
	CHECK(!merge_restart(merge, made->records[made->nr - 1].ts + 1, NULL));
	CHECK(check_from(merge, made, made->records[made->nr - 1].ts + 1) <= limit);
	CHECK(!merge_top(merge));
	merge_free(merge);
}

TEST(file_source_restarts_near_any_time)
{
	with_files(check_restarts);
}

/* The blocks of a CPU one after the other: where they were, and what is told of them. */
static void check_blocks(struct made *made, struct trace *trace, int fd, bool packed)
{
	struct source *source = NULL;
	struct trace_pages pages;

	(void)fd;
	REQUIRE(!file_source_new(trace, 0, NULL, &source, NULL));
	CHECK(source->nr_cpus == 2 && source->cpus[0] == 0 && source->cpus[1] == 3);
	CHECK(source->shape.size == PAGE && source->shape.long_size == 8 && !source->shape.swap);
	for (size_t cpu = 0; cpu < 2; cpu++) {
		struct block *block = NULL;
		size_t page = 0, nr = 0;

		REQUIRE(!trace_pages_init(&pages, trace, 0, cpu, NULL));
		while (source->ops->next(source, cpu, &block, NULL) > 0) {
			size_t size = 0;

			/* Raw pages come in runs of 64 KB. */
			CHECK(trace_pages_size(&pages, 64 << 10, &size, NULL) == 1 && block->len == size);
			CHECK(block->later == (nr > 0));
			CHECK(block->piece == (packed ? pages.next : 0) && block->offset == (packed ? 0 : pages.next));
			for (size_t at = 0; at < block->len; at += PAGE, page++)
				CHECK(!memcmp(block->data + at, &made->first[cpu][page], 8));
			CHECK(trace_pages_skip(&pages, size, NULL) == 0);
			source_release(source, block);
			nr++;
		}
		CHECK(page == PAGES && nr > 1);
	}
	/* Without a pool, one block is used again and again. */
	CHECK(source->spare_size && !source->spare->next);
	source_free(source);
}

TEST(file_source_hands_out_the_pages_of_a_cpu_in_blocks)
{
	with_files(check_blocks);
}

static void check_ahead(struct made *made, struct trace *trace, int fd, bool packed)
{
	for (unsigned threads = 0; threads < 3; threads += 2) {
		struct source *source = NULL;
		struct merge *merge = NULL;
		struct pool *pool = NULL;
		struct fail fail = FAIL_INIT;
		struct block *block = NULL;

		(void)fd;
		REQUIRE(!pool_new(threads, &pool, NULL));
		REQUIRE(!file_source_new(trace, 0, pool, &source, NULL));
		REQUIRE(!merge_new(source, NULL, 0, &merge, NULL));
		CHECK(!merge_seek(merge, made->records[1234].ts, NULL));
		check_from(merge, made, made->records[1234].ts);
		if (packed) {
			CHECK(merge_restart(merge, 0, &fail) < 0);
			CHECK_STR(fail.text, "what is read ahead cannot be read again");
		} else {
			/* Raw pages are not read ahead. */
			CHECK(!merge_restart(merge, 0, NULL));
		}
		merge_free(merge);
		/* A job reads a quarter of a megabyte, so all chunks behind the first one come in one block. */
		REQUIRE(!file_source_new(trace, 0, pool, &source, NULL));
		CHECK(source->ops->next(source, 1, &block, NULL) == 1);
		CHECK(packed ? block->len == PAGES * (size_t)PAGE && block->size == 256 << 10 : block->len == 64 << 10);
		source_release(source, block);
		source_free(source);
		pool_free(pool);
	}
}

TEST(file_source_reads_ahead_with_a_pool)
{
	with_files(check_ahead);
}

static void check_times(struct made *made, struct trace *trace, int fd, bool packed)
{
	struct source *source = NULL;
	uint64_t ts = 0;

	(void)fd;
	(void)packed;
	REQUIRE(!file_source_new(trace, 0, NULL, &source, NULL));
	for (size_t cpu = 0; cpu < 2; cpu++) {
		uint64_t before = 0;

		for (uint64_t part = 0; part < 20; part++) {
			size_t page = 0;

			if (!CHECK(source->ops->time_at(source, cpu, part, 20, &ts, NULL) == 1))
				break;
			while (page < PAGES && made->first[cpu][page] != ts)
				page++;
			/* It is the time of a piece, and as far in the file as the part says. */
			CHECK(page < PAGES && ts >= before && (part || !page));
			CHECK(page + 20 >= part * PAGES / 20 && page <= part * PAGES / 20 + 20);
			if (!packed)
				CHECK(page == part * PAGES / 20);
			before = ts;
		}
		CHECK(source->ops->time_at(source, cpu, 20, 20, &ts, NULL) == 0);
		/* Parts of less than two bytes are told apart, too. */
		for (uint64_t part = 1; part < 6; part++) {
			uint64_t nr = trace_buffer(trace, 0)->cpus[cpu].size / 5 * 4;

			CHECK(source->ops->time_at(source, cpu, part - 1, 6, &before, NULL) == 1);
			CHECK(source->ops->time_at(source, cpu, nr / 6 * part, nr, &ts, NULL) == 1 && ts > before);
		}
		CHECK(source->ops->seek(source, cpu, ts, NULL) == 0);
	}
	source_free(source);
}

TEST(file_source_knows_the_times_on_the_way_through_a_cpu)
{
	with_files(check_times);
}

/* The oracle for a jump is a walk over all pieces. */
static void check_jumps(struct made *made, struct trace *trace, int fd, bool packed)
{
	cleanup_buf struct buf scratch = BUF_INIT;
	uint64_t starts[PAGES + 1];
	size_t nr = 0, size;
	struct trace_pages all, pages;

	(void)made;
	(void)fd;
	REQUIRE(!trace_pages_init(&all, trace, 0, 1, NULL));
	for (pages = all; trace_pages_size(&pages, PAGE, &size, NULL) > 0 && nr < PAGES;) {
		uint64_t packed_size = trace_pages_packed(&pages, PAGE), at = pages.next;

		starts[nr++] = pages.next;
		CHECK(trace_pages_skip(&pages, size, NULL) == 0);
		CHECK(packed_size == pages.next - at);
	}
	CHECK(packed ? nr > PAGES / 10 && nr < PAGES : nr == PAGES);
	CHECK(trace_pages_total(trace, 0, 1) == PAGES * PAGE);
	for (size_t i = 0; i < nr; i++) {
		pages = all;
		CHECK(trace_pages_jump(&pages, starts[i], UINT64_MAX, &scratch, NULL) == 1 && pages.next == starts[i]);
		pages = all;
		CHECK(trace_pages_jump(&pages, starts[i], starts[i] + 1, &scratch, NULL) == 1 &&
		      pages.next == starts[i]);
		pages = all;
		CHECK(trace_pages_jump(&pages, starts[i], starts[i], &scratch, NULL) == 0 && pages.next == all.next);
		if (i + 1 == nr)
			break;
		CHECK(trace_pages_jump(&pages, starts[i] + 1, starts[i + 1] + 1, &scratch, NULL) == 1 &&
		      pages.next == starts[i + 1]);
		pages = all;
		CHECK(trace_pages_jump(&pages, starts[i] + 1, starts[i + 1], &scratch, NULL) == 0);
		CHECK(trace_pages_jump(&pages, starts[i + 1] - 1, UINT64_MAX, &scratch, NULL) == 1 &&
		      pages.next == starts[i + 1]);
	}
	pages = all;
	CHECK(trace_pages_jump(&pages, starts[nr - 1] + 1, UINT64_MAX, &scratch, NULL) == 0);
	/* From before the CPU, it is the first one. */
	CHECK(trace_pages_jump(&pages, 0, UINT64_MAX, &scratch, NULL) == 1 && pages.next == starts[0]);
}

TEST(trace_jumps_to_the_first_piece_from_an_offset_on)
{
	with_files(check_jumps);
}

/* A chunk in the middle is damaged: what is before it comes, then the CPU ends, and the other one goes on. */
static void check_damage(struct made *made, struct trace *trace, int fd, bool packed)
{
	struct trace_pages pages;
	size_t size, before = 0;

	if (!packed)
		return;
	(void)made;
	REQUIRE(!trace_pages_init(&pages, trace, 0, 0, NULL));
	for (unsigned i = 0; i < 9 && trace_pages_size(&pages, PAGE, &size, NULL) > 0; i++) {
		before += size / PAGE * PER_PAGE;
		CHECK(trace_pages_skip(&pages, size, NULL) == 0);
	}
	CHECK(pwrite(fd, "damaged", 7, (off_t)pages.next + 20) == 7);
	for (unsigned threads = 0; threads < 3; threads++) {
		struct source *source = NULL;
		struct merge *merge = NULL;
		struct pool *pool = NULL;
		size_t counts[4] = { 0 };
		unsigned damaged = 0;
		struct cursor *top;
		struct fail fail = FAIL_INIT;

		if (threads)
			REQUIRE(!pool_new(threads - 1, &pool, NULL));
		REQUIRE(!file_source_new(trace, 0, pool, &source, NULL));
		REQUIRE(!merge_new(source, NULL, 0, &merge, NULL));
		while ((top = merge_top(merge))) {
			counts[top->cpu]++;
			if (merge_advance(merge, &fail) < 0) {
				CHECK(!damaged++ && top->cpu == 0 && strstr(fail.text, "CPU 0: "));
			}
			merge_release(merge, merge_retired(merge));
		}
		CHECK(damaged == 1 && counts[0] == before && counts[3] == PAGES * PER_PAGE);
		merge_free(merge);
		pool_free(pool);
	}
}

TEST(file_source_hands_out_all_before_a_damaged_chunk)
{
	with_files(check_damage);
}

/* What can be read of a file with a damaged chunk is there after a restart at any time. */
static void check_restarts_at_damage(struct made *made, struct trace *trace, int fd, bool packed)
{
	struct source *source = NULL;
	struct merge *merge = NULL;
	struct trace_pages pages;
	struct cursor *top;
	uint64_t good = 0;
	size_t size, page = 0;

	if (!packed)
		return;
	REQUIRE(!trace_pages_init(&pages, trace, 0, 0, NULL));
	for (unsigned i = 0; i < 40 && trace_pages_size(&pages, PAGE, &size, NULL) > 0; i++) {
		page += size / PAGE;
		CHECK(trace_pages_skip(&pages, size, NULL) == 0);
	}
	REQUIRE(page < PAGES);
	good = made->first[0][page];
	CHECK(pwrite(fd, "damaged", 7, (off_t)pages.next + 20) == 7);
	REQUIRE(!file_source_new(trace, 0, NULL, &source, NULL));
	REQUIRE(!merge_new(source, NULL, 0, &merge, NULL));
	for (size_t i = 0; i < made->nr; i += 131) {
		uint64_t ts = made->records[i].ts;
		size_t at = i;

		CHECK(!merge_restart(merge, ts, NULL));
		while (at && made->records[at - 1].ts == ts)
			at--;
		for (; at < made->nr && at < i + 200; at++) {
			if (made->records[at].cpu == 0 && made->records[at].ts >= good)
				continue;
			while ((top = merge_top(merge)) && (top->head.ts < ts || (!top->cpu && top->head.ts >= good))) {
				(void)!merge_advance(merge, NULL); /* fails at the damage */
				merge_release(merge, merge_retired(merge));
			}
			if (!CHECK(top && top->head.ts == made->records[at].ts && top->cpu == made->records[at].cpu))
				break;
			(void)!merge_advance(merge, NULL); /* fails at the damage */
			merge_release(merge, merge_retired(merge));
		}
	}
	merge_free(merge);
}

TEST(file_source_restarts_at_any_time_of_a_file_with_a_damaged_chunk)
{
	with_files(check_restarts_at_damage);
}

/* Says that a page is full of events; there is enough noise in it that a file has a kilobyte of ten of them. */
static void fill_page(uint8_t *page, size_t size)
{
	struct made made = { .noise = page[0] };
	uint64_t commit = size - 16;

	memcpy(page + 8, &commit, sizeof(commit));
	for (size_t i = 0; i < 150; i++)
		page[100 + i] = (uint8_t)noise(&made);
}

/* Pages of a megabyte: ten of them are one chunk, of which a CPU keeps 8 MB at a time. */
static int write_large(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	const struct made *made = arg;
	const struct page_shape shape = { .size = (uint32_t)made->large, .long_size = 8 };
	uint8_t *pages = calloc(10, made->large);
	int r = writer_buffer(writer, "", "local", shape.size, fail);

	for (uint32_t i = 0; i < 10; i++) {
		struct record record = { .ts = 100 + i, .data = (const uint8_t *)"12345678", .len = 8 };
		struct page_writer page;

		page_writer_begin(&page, &shape, pages + i * made->large, PAGE_LOST_NONE);
		CHECK(page_writer_add(&page, &record));
		page_writer_end(&page);
		fill_page(pages + i * made->large, made->large);
	}
	for (uint32_t cpu = 0; !r && cpu < 2; cpu++) {
		r = part_add(part, pages, 10 * made->large, shape.size, fail);
		r = r ? r : part_write(part, writer, cpu, fail);
	}
	free(pages);
	return r;
}

TEST(file_source_hands_out_a_large_chunk_in_parts)
{
	struct writer_options form = forms[1];
	struct made *made = calloc(1, sizeof(*made));
	struct trace *trace = NULL;
	int fd;

	form.page_size = 1 << 20;
	made->large = form.page_size;
	fd = make(&form, write_large, made);
	if (CHECK(!trace_open_fd(fd, "large", &trace, NULL)))
		for (unsigned threads = 0; threads < 3; threads++) {
			struct block *one = NULL, *two = NULL, *none = NULL;
			struct source *source = NULL;
			struct pool *pool = NULL;

			if (threads)
				REQUIRE(!pool_new(threads - 1, &pool, NULL));
			REQUIRE(!file_source_new(trace, 0, pool, &source, NULL));
			CHECK(source->ops->next(source, 1, &one, NULL) == 1 &&
			      source->ops->next(source, 1, &two, NULL) == 1);
			CHECK(source->ops->next(source, 1, &none, NULL) == 0);
			CHECK(one->len == 8 << 20 && two->len == 2 << 20);
			CHECK(one->piece == two->piece && one->offset == 0 && two->offset == 8 << 20);
			CHECK(!one->later && two->later && one->data[0] == 100 && one->data[7 << 20] == 107);
			CHECK(two->data[0] == 108 && two->data[1 << 20] == 109);
			source_release(source, one);
			source_release(source, two);
			source_free(source);
			pool_free(pool);
		}
	trace_free(trace);
	close(fd);
	free(made);
}

/* A CPU with 30 pages of zeros, in three chunks. Their heads say that so many bytes in all are events. */
static int write_zeros(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	const struct made *made = arg;
	uint8_t *pages = calloc(10, 1 << 20);
	uint64_t left = made->large;
	int r = writer_buffer(writer, "", "local", 1 << 20, fail);

	for (size_t chunk = 0; chunk < 3; chunk++) {
		for (size_t i = 0; i < 10; i++) {
			uint64_t commit = left < (1 << 20) - 16 ? left : (1 << 20) - 16;

			memcpy(pages + (i << 20) + 8, &commit, sizeof(commit));
			left -= commit;
		}
		r = r ? r : part_add(part, pages, 10 << 20, 1 << 20, fail);
	}
	r = r ? r : part_write(part, writer, 0, fail);
	free(pages);
	return r;
}

TEST(file_source_refuses_more_bytes_of_events_than_recordings_have)
{
	struct made *made = calloc(1, sizeof(*made));
	struct writer_options form = forms[1];

	form.page_size = 1 << 20;
	/* As many as recordings may have, too many, and too many in a file that is trusted. */
	for (unsigned i = 0; i < 3; i++) {
		struct source *source = NULL;
		struct trace *trace = NULL;
		struct fail fail = FAIL_INIT;
		unsigned nr = 0;
		char want[200];
		uint64_t size;
		int fd, r;

		made->large = i ? 30 << 20 : 21 << 20;
		fd = make(&form, write_zeros, made);
		REQUIRE(!trace_open_fd(fd, "zeros", &trace, NULL));
		size = trace_buffer(trace, 0)->cpus[0].size;
		if (i == 2)
			trace_trust_sizes(trace);
		REQUIRE(!file_source_new(trace, 0, NULL, &source, NULL));
		for (struct block *block = NULL; (r = source->ops->next(source, 0, &block, &fail)) > 0; nr++)
			source_release(source, block);
		snprintf(want, sizeof(want),
			 "there are more than %llu bytes of events in %llu of the file, more than any real recording "
			 "has; --trust-size reads them",
			 (unsigned long long)((16 << 20) + 8192 * size), (unsigned long long)size);
		CHECK(i == 1 ? r == -EBADMSG && nr == 2 : !r && nr == 3);
		CHECK_STR(fail.text, i == 1 ? want : "");
		/* Half of what may be is much, and so is a tenth of that for one of ten parts of the file. */
		CHECK(source->ops->is_much(source, 1) && source->ops->is_much(source, 10));
		source_free(source);
		trace_free(trace);
		close(fd);
	}
	free(made);
}

/* Each CPU has one empty page. */
static int write_many(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	const struct made *made = arg;
	uint8_t *page = calloc(1, 1 << 20);
	int r = writer_buffer(writer, "", "local", 1 << 20, fail);

	for (uint32_t cpu = 0; !r && cpu < made->nr; cpu++) {
		r = part_add(part, page, 1 << 20, 1 << 20, fail);
		r = r ? r : part_write(part, writer, cpu, fail);
	}
	free(page);
	return r;
}

TEST(file_source_refuses_pages_that_take_more_memory_than_recordings_need)
{
	struct made *made = calloc(1, sizeof(*made));
	struct writer_options form = forms[1];

	form.page_size = 1 << 20;
	for (size_t nr = 64; nr < 66; nr++) {
		struct fail fail = FAIL_INIT;
		struct source *source = NULL;
		struct trace *trace = NULL;
		int fd, r;

		made->nr = nr;
		fd = make(&form, write_many, made);
		if (CHECK(!trace_open_fd(fd, "many", &trace, NULL))) {
			r = file_source_new(trace, 0, NULL, &source, &fail);
			CHECK(nr == 64 ? !r : r < 0);
			if (r)
				CHECK_STR(fail.text, "the pages of 65 CPUs take more than 64 MB, a page of each; "
						     "--trust-size reads them");
			else
				source_free(source);
		}
		trace_free(trace);
		close(fd);
	}
	free(made);
}
