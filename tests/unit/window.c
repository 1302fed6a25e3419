// SPDX-License-Identifier: GPL-2.0-only
/* Windows of time: how many bytes of a large file are read for one, and that it has the events of the whole. */
#include "lib/meaning/event/events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/made_file.h"
#include "lib/pages/trace/part.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"
#include "tests/unit/test.h"

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

/* Bursts and silences: the times of each CPU's events, of which no rate tells where one is. */
enum { SMALL_PAGE = 1024, SMALL_PAGES = 2400, SMALL_EVENTS = 30, SMALL_NR = SMALL_PAGES * SMALL_EVENTS };

static uint64_t times[CPUS][SMALL_NR];

static void make_times(void)
{
	uint32_t dice = 4711;

	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		for (unsigned i = 0; i < SMALL_NR; i++) {
			dice = dice * 1664525 + 1013904223;
			times[cpu][i] = (i ? times[cpu][i - 1] : 1000 * cpu) + (dice >> 20    ? dice >> 31 :
										dice >> 8 & 1 ? 50000000000 :
												300000);
		}
}

static int write_bursts(void *arg, struct part *part, struct writer *writer, struct fail *fail)
{
	const struct page_shape shape = { .size = SMALL_PAGE, .long_size = 8 };
	int r = writer_buffer(writer, "", "local", SMALL_PAGE, fail);
	uint32_t words[6] = { 1 }, dice = 1;
	struct page_writer pages;
	uint8_t page[SMALL_PAGE];

	(void)arg;
	for (unsigned cpu = 0; !r && cpu < CPUS; cpu++) {
		for (unsigned i = 0; !r && i < SMALL_NR; i += SMALL_EVENTS) {
			page_writer_begin(&pages, &shape, page, 0);
			for (unsigned j = i; j < i + SMALL_EVENTS; j++) {
				for (size_t word = 2; word < array_size(words); word++)
					words[word] = dice = dice * 1664525 + 1013904223;
				if (!page_writer_add(&pages, &(struct record){ .ts = times[cpu][j],
									       .data = (uint8_t *)words,
									       .len = sizeof(words) }))
					return -ENOSPC;
			}
			page_writer_end(&pages);
			r = part_add(part, page, sizeof(page), sizeof(page), fail);
		}
		r = r ? r : part_write(part, writer, cpu, fail);
	}
	return r;
}

static uint64_t count_times(uint64_t since, uint64_t until)
{
	uint64_t count = 0;

	for (unsigned cpu = 0; cpu < CPUS; cpu++)
		for (unsigned i = 0; i < SMALL_NR; i++)
			count += times[cpu][i] >= since && times[cpu][i] <= until;
	return count;
}

static void check_windows(const struct writer_options *options)
{
	static const char header_page[] = "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n";
	const struct writer_metadata metadata = {
		.header_page = header_page, .header_event = "", .version = "", .cpu_count = CPUS
	};
	cleanup_file FILE *file = tmpfile();
	uint64_t last = times[0][SMALL_NR - 1], size;
	struct fail fail = FAIL_INIT;
	struct trace *trace;

	REQUIRE(file && !made_file_write(fileno(file), options, &metadata, write_bursts, NULL, &size, &fail));
	REQUIRE(!trace_open_fd(fileno(file), "bursts", &trace, &fail));
	CHECK(count_window(trace, 0, UINT64_MAX) == CPUS * SMALL_NR);
	/* From and up to times of events, and beside them. */
	for (unsigned i = 0; i < 48; i++) {
		uint64_t since = times[i % CPUS][(uint64_t)i * SMALL_NR / 48] + i % 3 - 1,
			 until = since + (i % 4 ? 2000 : last / 7);

		if (!CHECK(count_window(trace, since, until) == count_times(since, until)))
			fprintf(stderr, "from %llu to %llu\n", (unsigned long long)since, (unsigned long long)until);
	}
	CHECK(count_window(trace, last, UINT64_MAX) == count_times(last, UINT64_MAX));
	CHECK(count_window(trace, UINT64_MAX - 1, UINT64_MAX) == 0);
	trace_free(trace);
}

TEST(events_of_any_window_of_bursts_and_silences_are_those_of_the_whole)
{
	struct writer_options options = { .version = 7, .long_size = 8, .page_size = SMALL_PAGE, .compress = true };

	make_times();
	check_windows(&options);
	options.compress = false;
	check_windows(&options);
	options.version = 6;
	check_windows(&options);
}
