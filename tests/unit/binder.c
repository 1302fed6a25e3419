// SPDX-License-Identifier: GPL-2.0-only
#include "lib/files/rewrite/binder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/stream/cursor.h"
#include "lib/pages/stream/file_source.h"
#include "lib/pages/stream/source.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"
#include "tests/unit/test.h"

enum { PAGE_BYTES = 4096, CPUS = 3, RECORDS = 9000, BASE = 1 << 20 };

/* Three records share a time; CPU 2 has no record. */
static uint64_t time_of(uint32_t i)
{
	return 1000 + i / 3 * 10;
}

static const uint32_t cpus[] = { 0, 1, 3 };

struct bound {
	struct binder *binder;
	struct writer_options form;
	uint8_t bytes[64];
};

static struct record record_of(struct bound *bound, uint32_t cpu, uint32_t i)
{
	const uint32_t numbers[] = { cpu, i };

	memset(bound->bytes, 0, sizeof(bound->bytes));
	memcpy(bound->bytes, numbers, sizeof(numbers));
	return (struct record){ .ts = time_of(i), .data = bound->bytes, .len = 8 + i % 5 * 4 };
}

/* `into`: for binder_place(), with room for `span` bytes of each CPU; -1: binder_pack(). */
static bool bind_records(struct bound *bound, bool compress, int into, uint64_t span)
{
	const struct page_shape shape = { .size = PAGE_BYTES, .long_size = 8 };
	bool ok;

	*bound = (struct bound){ .form = { .version = 7,
					   .compress = compress,
					   .level = 1,
					   .long_size = 8,
					   .page_size = PAGE_BYTES,
					   .big_endian = HOST_BIG_ENDIAN } };
	if (!CHECK(!binder_new(&shape, NULL, &bound->binder, NULL)))
		return false;
	ok = into >= 0 ? !binder_place(bound->binder, into, BASE, span, &bound->form, NULL) :
			 !binder_pack(bound->binder, &bound->form, NULL);
	for (uint32_t i = 0; ok && i < RECORDS; i++)
		for (size_t c = 0; ok && c < CPUS; c++) {
			const struct record record = record_of(bound, cpus[c], i);

			ok = !binder_add(bound->binder, cpus[c], &record, PAGE_LOST_NONE, NULL);
		}
	return CHECK(ok);
}

static int has(struct bound *bound, uint32_t cpu, const struct record *record)
{
	bool found = false;

	return binder_has(bound->binder, cpu, record, &found, NULL) ? -1 : found;
}

/* Asks for each record, by `step` (RECORDS is no multiple of its prime factors), so forwards, backwards and across. */
static bool finds_all(struct bound *bound, uint32_t step)
{
	for (uint32_t n = 0, i = 0; n < RECORDS; n++, i = (i + step) % RECORDS) {
		struct record record = record_of(bound, 1, i);

		if (has(bound, 1, &record) != 1)
			return false;
		bound->bytes[7] = 1;
		if (has(bound, 1, &record) != 0)
			return false;
		record = record_of(bound, 1, i);
		record.ts++;
		if (has(bound, 1, &record) != 0)
			return false;
	}
	return true;
}

static void check_has(struct bound *bound)
{
	struct record record;
	uint64_t records, lost;

	CHECK(finds_all(bound, 1));
	CHECK(finds_all(bound, RECORDS - 1));
	CHECK(finds_all(bound, 4099));
	/* Only its own CPU has it. */
	record = record_of(bound, 0, 5);
	CHECK(has(bound, 0, &record) == 1 && has(bound, 1, &record) == 0 && has(bound, 2, &record) == 0 &&
	      has(bound, 77, &record) == 0);
	record.ts = 1;
	CHECK(has(bound, 0, &record) == 0);
	record.ts = UINT64_MAX;
	CHECK(has(bound, 0, &record) == 0);
	/* The one that is added after it was asked for. */
	record = record_of(bound, 0, RECORDS);
	CHECK(has(bound, 0, &record) == 0);
	CHECK(!binder_add(bound->binder, 0, &record, 7, NULL));
	CHECK(has(bound, 0, &record) == 1);
	CHECK(binder_count(bound->binder, 0, &records, &lost) && records == RECORDS + 1 && lost == 7);
}

TEST(binder_has_each_record_wherever_its_page_is)
{
	for (unsigned kind = 0; kind < 4; kind++) {
		cleanup_fd int fd = kind >= 2 ? memfd_create("placed", MFD_CLOEXEC) : -1;
		struct bound bound;

		/* In a file of their own, compressed or not; in their place of the file; in both. */
		REQUIRE(kind < 2 || fd >= 0);
		if (bind_records(&bound, kind == 1, fd, kind == 2 ? 64ull << 20 : 8 * PAGE_BYTES))
			check_has(&bound);
		binder_free(bound.binder);
	}
}

/* Of no whole words. */
TEST(binder_has_a_record_that_ends_inside_a_word)
{
	static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct record six = { .ts = 5, .data = bytes, .len = 6 };
	struct bound bound;

	REQUIRE(bind_records(&bound, false, -1, 0));
	CHECK(!binder_add(bound.binder, 9, &six, PAGE_LOST_NONE, NULL));
	CHECK(has(&bound, 9, &six) == 1);
	CHECK(has(&bound, 9, &(struct record){ .ts = 5, .data = bytes, .len = 4 }) == 0);
	CHECK(has(&bound, 9, &(struct record){ .ts = 5, .data = bytes + 1, .len = 6 }) == 0);
	binder_free(bound.binder);
}

static int write_pages(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	int r = writer_buffer(writer, "", "local", PAGE_BYTES, fail);

	return r ? r : binder_write(arg, part, writer, fail);
}

/* Whether a CPU has all records and no others, and none is lost. */
static bool cpu_holds_all(struct bound *bound, struct source *source, size_t index)
{
	struct chain retired = { .first = NULL, .tail = &retired.first };
	struct cursor cursor;
	bool same = true;
	uint32_t i = 0;

	cursor_init(&cursor, source, index, &retired);
	for (; same && cursor_next(&cursor, NULL) > 0; i++) {
		const struct record want = record_of(bound, cpus[index], i);

		same = cursor.cpu == cpus[index] && cursor.head.ts == want.ts && cursor.head.len == want.len &&
		       !memcmp(cursor.head.data, want.data, want.len) && !cursor.lost;
	}
	cursor_release(&cursor);
	while (retired.first) {
		struct block *block = retired.first;

		retired.first = block->next;
		source_release(source, block);
	}
	return same && i == RECORDS;
}

static void check_file(struct bound *bound, int fd)
{
	struct source *source = NULL;
	struct trace *trace = NULL;
	bool opened = CHECK(!trace_open_fd(dup(fd), "placed", &trace, NULL)) &&
		      CHECK(!file_source_new(trace, 0, NULL, &source, NULL)) && CHECK(source->nr_cpus == CPUS);

	for (size_t index = 0; opened && index < CPUS; index++)
		CHECK(cpu_holds_all(bound, source, index));
	source_free(source);
	trace_free(trace);
}

TEST(binder_places_pages_in_the_file_and_copies_those_without_room)
{
	static const struct writer_metadata metadata = { .header_page = "", .header_event = "" };
	/* Room for none, for the first pages, for one CPU's but not all that have to follow, for all. */
	static const uint64_t spans[] = { PAGE_BYTES, 8 * PAGE_BYTES, 40 * PAGE_BYTES, 64ull << 20 };

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		cleanup_fd int fd = memfd_create("placed", MFD_CLOEXEC);
		struct fail fail = FAIL_INIT;
		struct bound bound;
		struct stat st;
		uint64_t size = 0;

		REQUIRE(fd >= 0);
		if (bind_records(&bound, false, fd, spans[i]) &&
		    CHECK(!made_file_write(fd, &bound.form, &metadata, write_pages, bound.binder, &size, &fail))) {
			check_file(&bound, fd);
			CHECK(!fstat(fd, &st) && (uint64_t)st.st_size == size && (size > BASE) == (i > 0));
			/* What nobody writes takes no room. */
			CHECK((uint64_t)st.st_blocks * 512 < CPUS * RECORDS * 40 + (1 << 20));
		}
		binder_free(bound.binder);
	}
}

TEST(writer_skips_to_an_offset_behind_what_it_wrote)
{
	const struct writer_options form = { .version = 7, .long_size = 8, .page_size = PAGE_BYTES };
	static const struct writer_metadata metadata = { .header_page = "", .header_event = "" };
	cleanup_fd int fd = memfd_create("skipped", MFD_CLOEXEC);
	struct writer *writer = NULL;
	struct fail fail = FAIL_INIT;
	uint64_t size;
	char want[80];

	REQUIRE(fd >= 0 && !writer_new(fd, &form, &writer, NULL));
	REQUIRE(!writer_metadata(writer, &metadata, NULL) && !writer_buffer(writer, "", "local", PAGE_BYTES, NULL));
	size = writer_size(writer);
	CHECK(writer_skip(writer, size - 1, &fail) == -EFBIG);
	snprintf(want, sizeof(want), "what comes before the pages has %" PRIu64 " bytes", size);
	CHECK_STR(fail.text, want);
	CHECK(!writer_skip(writer, size, NULL) && writer_size(writer) == size);
	CHECK(!writer_skip(writer, size + 12345, NULL) && writer_size(writer) == size + 12345);
	writer_free(writer);
}

static void check_runs(bool compress)
{
	const struct writer_options form = { .version = 7, .compress = compress, .level = 1, .page_size = PAGE_BYTES };
	static uint8_t pages[3][8 * PAGE_BYTES], got[8 * PAGE_BYTES];
	struct writer_run runs[3];
	struct fail fail = FAIL_INIT;
	struct part *part = NULL;
	static const size_t sizes[] = { 8 * PAGE_BYTES, PAGE_BYTES, 3 * PAGE_BYTES }, order[] = { 2, 0, 1, 1, 0, 2 };

	REQUIRE(!part_new(&form, &part, NULL));
	for (size_t i = 0; i < 3; i++) {
		for (size_t at = 0; at < sizes[i]; at++)
			pages[i][at] = (uint8_t)(at * (i + 3) >> 4);
		CHECK(!part_add_run(part, pages[i], sizes[i], PAGE_BYTES, &runs[i], NULL));
		CHECK(compress ? runs[i].chunks == 1 && runs[i].size < sizes[i] : runs[i].size == sizes[i]);
	}
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		size_t nr = order[i];

		memset(got, 0, sizeof(got));
		CHECK(!part_read_run(part, &runs[nr], got, sizes[nr], NULL));
		CHECK_MEM(got, sizes[nr], pages[nr], sizes[nr]);
	}
	/* There is no more than was added. */
	runs[2].size += 1;
	CHECK(part_read_run(part, &runs[2], got, sizes[2], &fail) == -EIO);
	CHECK_STR(fail.text, "cannot read pages of the temporary file");
	part_free(part);
}

TEST(part_reads_its_runs_back_in_any_order)
{
	check_runs(false);
	check_runs(true);
}
