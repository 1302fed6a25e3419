// SPDX-License-Identifier: GPL-2.0-only
/*
 * least FILE BYTES: prints the least time that one thread needs for what no reader can do without, in seconds: to read
 * all pages of a trace.dat that is in the page cache, decompressed once; and to write so many bytes of text once, into
 * memory that stays in the cache. The shortest of five times each, in CPU time, so that others count little.
 * least FILE pack: what no recorder can do without: to copy the pages once, and to compress them.
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

/* What a recorder does with the pages. */
struct packing {
	struct frame_writer *writer;
	uint8_t copy[FRAME_BLOCK_MAX], *frame;
	size_t room;
	double copied, packed; /* seconds */
};

static void pack_one(struct packing *packing, const uint8_t *pages, size_t len)
{
	struct fail fail = FAIL_INIT;
	double start = now(), copied;
	size_t packed;

	memcpy(packing->copy, pages, len);
	copied = now();
	if (frame_write(packing->writer, packing->copy, len, packing->frame, packing->room, &packed, &fail))
		give_up(&fail);
	packing->packed += now() - copied;
	packing->copied += copied - start;
}

static void pack(struct packing *packing, const uint8_t *pages, size_t size)
{
	for (size_t at = 0; at < size; at += FRAME_BLOCK_MAX)
		pack_one(packing, pages + at, size - at < FRAME_BLOCK_MAX ? size - at : FRAME_BLOCK_MAX);
}

static void read_cpu(struct trace *trace, size_t buffer, size_t cpu, struct frame_reader *reader, struct buf *scratch,
		     struct packing *packing)
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
		if (!r && packing)
			pack(packing, data, size);
	}
	if (r < 0)
		give_up(&fail);
}

static double read_all(const char *path, struct packing *packing)
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
			read_cpu(trace, i, cpu, reader, &scratch, packing);
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

static double least_of(double a, double b)
{
	return a < b ? a : b;
}

static void read_and_write(const char *path, unsigned long long bytes)
{
	double pages = 1e9, text = 1e9;

	for (int i = 0; i < TIMES; i++) {
		pages = least_of(pages, read_all(path, NULL));
		text = least_of(text, write_text(bytes));
	}
	printf("%.6f %.6f\n", pages, text);
}

static void copy_and_pack(const char *path)
{
	static struct packing packing;
	struct fail fail = FAIL_INIT;
	double copied = 1e9, packed = 1e9;

	packing.room = frame_bound(FRAME_BLOCK_MAX);
	packing.frame = malloc(packing.room);
	if (!packing.frame || frame_writer_new(FRAME_LEVEL_DEFAULT, &packing.writer, &fail))
		exit(1);
	frame_writer_pages(packing.writer);
	for (int i = 0; i < TIMES; i++) {
		packing.copied = packing.packed = 0;
		(void)read_all(path, &packing);
		copied = least_of(copied, packing.copied);
		packed = least_of(packed, packing.packed);
	}
	printf("%.6f %.6f\n", copied, packed);
	frame_writer_free(packing.writer);
	free(packing.frame);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (strcmp(argv[2], "pack"))
		read_and_write(argv[1], strtoull(argv[2], NULL, 10));
	else
		copy_and_pack(argv[1]);
	return 0;
}
