// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/record/event_count_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/kernel/buffer/ring_buffer.h"
#include "lib/kernel/record/spool.h"
#include "lib/pages/ring/page.h"
#include "tests/unit/fake_tracefs.h"
#include "tests/unit/test.h"

enum { PAGE_BYTES = 4096, EVENTS = 3, LOST = 7 };

/* Counts a spool of one page of a kernel whose long has this size. */
static void count(struct fake *fake, uint8_t long_size, struct event_count *ret)
{
	const struct page_shape shape = { .size = PAGE_BYTES, .long_size = long_size };
	const struct spool_options options = { .shape = shape };
	static const uint32_t payload[4] = { 1, 2, 3, 4 };
	struct page_writer writer;
	uint8_t page[PAGE_BYTES];
	struct spool spool;
	int dir;

	page_writer_begin(&writer, &shape, page, LOST);
	for (unsigned i = 0; i < EVENTS; i++)
		CHECK(page_writer_add(&writer, &(struct record){ .ts = 1000 + i,
								 .data = (const uint8_t *)payload,
								 .len = sizeof(payload) }));
	page_writer_end(&writer);
	dir = open(fake->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!CHECK(dir >= 0))
		return;
	if (CHECK(!spool_new(dir, 0, long_size, &options, &spool, NULL))) {
		CHECK(!spool_append(&spool, page, sizeof(page), 0, sizeof(page), NULL));
		CHECK(!event_count_count(&spool, ret, NULL));
		spool_release(&spool);
	}
	close(dir);
}

TEST(kept_events_are_those_of_a_kernel_of_32_and_of_64_bits_whatever_weft_is)
{
	struct fake fake;

	if (CHECK(fake_new(&fake))) {
		for (uint8_t long_size = 4; long_size <= 8; long_size += 4) {
			struct event_count kept = { .events = 0 };

			count(&fake, long_size, &kept);
			CHECK(kept.events == EVENTS && kept.lost == LOST);
		}
	}
	fake_free(&fake);
}

static int shape_of(struct fake *fake, const char *commit, const char *data, struct page_shape *ret, struct fail *fail)
{
	char text[256];

	snprintf(text, sizeof(text), "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n%s%s", commit, data);
	fake_write(fake, "events/header_page", text);
	return ring_buffer_shape(&fake->top, ret, fail);
}

TEST(ring_buffer_shape_has_the_kernels_long)
{
	static const char *const commit64 = "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n";
	static const char *const commit32 = "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n";
	static const char *const data64 = "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
	static const char *const data32 = "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n";
	struct page_shape shape = { .size = 0 };
	struct fail fail = FAIL_INIT;
	struct fake fake;

	if (CHECK(fake_new(&fake))) {
		CHECK(!shape_of(&fake, commit64, data64, &shape, NULL) && shape.size == 4096 && shape.long_size == 8);
		CHECK(!shape_of(&fake, commit32, data32, &shape, NULL) && shape.size == 4096 && shape.long_size == 4);
		CHECK(shape_of(&fake, "", data64, &shape, &fail) < 0 && strstr(fail.text, "'commit'"));
		CHECK(shape_of(&fake, commit64, "", &shape, &fail) < 0 && strstr(fail.text, "sub-buffer"));
	}
	fake_free(&fake);
}
