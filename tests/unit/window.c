// SPDX-License-Identifier: GPL-2.0-only
/* Reads one second in the middle of a file of 4 GB and checks how many bytes are read. */
#include "lib/event/events.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/trace/trace.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Large pages, of which only the first bytes are written: the rest of the file is a hole. */
enum { PAGE_SIZE = 256 << 10, PAGES = 8400, CPUS = 2, EVENTS = 50, WORDS = 3 };
#define EVENT_NS UINT64_C(2000000)
#define PAGE_NS (EVENT_NS * EVENTS)
#define FILE_SIZE ((uint64_t)PAGE_SIZE * PAGES * CPUS)

struct head {
	uint64_t ts, commit;
	uint32_t words[EVENTS * WORDS];
};

static void add_u32(struct buf *buf, uint32_t value)
{
	(void)!buf_add(buf, &value, sizeof(value));
}

static void add_u64(struct buf *buf, uint64_t value)
{
	(void)!buf_add(buf, &value, sizeof(value));
}

/* Writes the parts of a version 6 file before its pages, all empty. */
static bool write_start(int fd, uint64_t *ret_pages)
{
	static const char start[] = "\x17\x08\x44tracing6\0";
	const char order_and_long[] = { HOST_BIG_ENDIAN, 8 };
	struct buf buf = { 0 };
	bool done;

	(void)!buf_add(&buf, start, sizeof(start) - 1);
	(void)!buf_add(&buf, order_and_long, sizeof(order_and_long));
	add_u32(&buf, PAGE_SIZE);
	(void)!buf_add(&buf, "header_page", 12);
	add_u64(&buf, 0);
	(void)!buf_add(&buf, "header_event", 13);
	add_u64(&buf, 0);
	for (int i = 0; i < 4; i++)
		add_u32(&buf, 0); /* formats of ftrace, systems, kallsyms, printk */
	add_u64(&buf, 0);         /* command lines */
	add_u32(&buf, CPUS);
	(void)!buf_add(&buf, "flyrecord", 10);
	*ret_pages = PAGE_SIZE;
	for (uint64_t i = 0; i < CPUS; i++) {
		add_u64(&buf, *ret_pages + i * PAGES * PAGE_SIZE);
		add_u64(&buf, (uint64_t)PAGES * PAGE_SIZE);
	}
	done = pwrite(fd, buf.data, buf.len, 0) == (ssize_t)buf.len;
	buf_release(&buf);
	return done;
}

/* Both CPUs have an event every 2 ms, the second 1 ms after the first. */
static bool write_pages(int fd, uint64_t at)
{
	struct head head = { .commit = sizeof(head.words) };

	for (unsigned i = 0; i < EVENTS; i++) {
		head.words[i * WORDS] = record_head(2, (uint32_t)(i ? EVENT_NS : 0));
		head.words[i * WORDS + 1] = 1;
	}
	for (uint64_t i = 0; i < CPUS * PAGES; i++) {
		head.ts = i % PAGES * PAGE_NS + i / PAGES * EVENT_NS / 2;
		if (pwrite(fd, &head, sizeof(head), (off_t)(at + i * PAGE_SIZE)) != (ssize_t)sizeof(head))
			return false;
	}
	return !ftruncate(fd, (off_t)(at + FILE_SIZE));
}

/* The number of bytes that this process has read; 0 when the kernel does not tell. */
static uint64_t bytes_read(void)
{
	cleanup_file FILE *file = fopen("/proc/self/io", "r");
	unsigned long long bytes = 0;

	return file && fscanf(file, "rchar: %llu", &bytes) == 1 ? bytes : 0;
}

static uint64_t count_window(struct trace *trace, uint64_t since, uint64_t until)
{
	struct events_options options = { .since = since, .until = until };
	struct context *context = NULL;
	struct events *events = NULL;
	struct event event;
	uint64_t count = 0;

	if (context_new(trace, 0, &context, NULL))
		return 0;
	if (!events_open(context, &options, &events, NULL))
		while (events_next(events, &event, NULL) > 0)
			count += CHECK(event.ts >= since && event.ts <= until);
	events_free(events);
	context_free(context);
	return count;
}

TEST(events_of_a_second_in_a_file_of_4_gb_read_less_than_a_hundredth_of_it)
{
	cleanup_file FILE *file = tmpfile();
	uint64_t second = UINT64_C(1000000000), middle = PAGES / 2 * PAGE_NS, at, before;
	struct trace *trace = NULL;
	struct fail fail = FAIL_INIT;

	REQUIRE(FILE_SIZE > UINT64_C(4) << 30);
	REQUIRE(file && write_start(fileno(file), &at) && write_pages(fileno(file), at));
	before = bytes_read();
	REQUIRE(!trace_open_fd(fileno(file), "sparse", &trace, &fail));
	CHECK(count_window(trace, middle, middle + second - 1) == CPUS * second / EVENT_NS);
	CHECK(bytes_read() - before < FILE_SIZE / 100);
	CHECK(count_window(trace, 0, EVENT_NS) == 3);
	CHECK(count_window(trace, PAGES * PAGE_NS - EVENT_NS, UINT64_MAX) == CPUS);
	CHECK(bytes_read() - before < FILE_SIZE / 50);
	trace_free(trace);
}
