// SPDX-License-Identifier: GPL-2.0-only
/*
 * least FILE BYTES: prints the least time that one thread needs for what no reader can do without, in seconds: to read
 * all pages of a trace.dat that is in the page cache, decompressed once; and to write so many bytes of text once, into
 * memory that stays in the cache. The shortest of five times each, in CPU time, so that others count little.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/trace/trace.h"

enum { TIMES = 5, PIECE = 256 << 10, BLOCK = 64 << 10 };

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void give_up(const struct fail *fail)
{
	fprintf(stderr, "least: %s\n", fail->text);
	exit(1);
}

static void read_cpu(struct trace *trace, size_t buffer, size_t cpu, struct frame_reader *reader, struct buf *scratch)
{
	static uint8_t *data;
	static size_t room;
	struct fail fail = FAIL_INIT;
	struct trace_pages pages;
	size_t size;
	int r = trace_pages_init(&pages, trace, buffer, cpu, &fail);

	while (r >= 0 && (r = trace_pages_size(&pages, PIECE, &size, &fail)) > 0) {
		if (size > room) {
			data = realloc(data, size);
			room = size;
		}
		if (!data)
			exit(1);
		r = trace_pages_read(&pages, reader, scratch, data, size, &fail);
	}
	if (r < 0)
		give_up(&fail);
}

static double read_all(const char *path)
{
	struct fail fail = FAIL_INIT;
	struct frame_reader *reader = NULL;
	struct trace *trace;
	struct buf scratch = BUF_INIT;
	double start;

	if (trace_open(path, &trace, &fail) || frame_reader_new(&reader, &fail))
		give_up(&fail);
	start = now();
	for (size_t i = 0; i < trace_buffers(trace); i++)
		for (size_t cpu = 0; cpu < trace_buffer(trace, i)->nr_cpus; cpu++)
			read_cpu(trace, i, cpu, reader, &scratch);
	start = now() - start;
	frame_reader_free(reader);
	buf_release(&scratch);
	trace_free(trace);
	return start;
}

static double write_text(unsigned long long bytes)
{
	static char from[BLOCK], to[BLOCK];
	double start = now();

	for (unsigned long long done = 0; done < bytes; done += BLOCK) {
		memcpy(to, from, BLOCK);
		__asm__ volatile("" ::"r"(to) : "memory");
	}
	return now() - start;
}

int main(int argc, char **argv)
{
	double pages = 1e9, text = 1e9;

	if (argc != 3)
		return 2;
	for (int i = 0; i < TIMES; i++) {
		double read = read_all(argv[1]), written = write_text(strtoull(argv[2], NULL, 10));

		pages = read < pages ? read : pages;
		text = written < text ? written : text;
	}
	printf("%.6f %.6f\n", pages, text);
	return 0;
}
