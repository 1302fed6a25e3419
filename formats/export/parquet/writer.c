// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/parquet/writer_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/export/parquet/thrift_internal.h"
#include "lib/pages/codec/frame.h"

enum { GROUP = 8, PAGE_SIZE_FIRST = 1 << 16 };

int parquet_writer_new(struct parquet_writer **ret, struct fail *fail)
{
	struct parquet_writer *writer = calloc(1, sizeof(*writer));
	int r;

	if (!writer || !out_init(&writer->page, PAGE_SIZE_FIRST) || !out_init(&writer->group, PAGE_SIZE_FIRST))
		r = fail_memory(fail);
	else
		r = frame_writer_new(FRAME_LEVEL_DEFAULT, &writer->frames, fail);
	/* Every reader of zstd checks it, so no page is read in which a byte has changed. */
	if (!r)
		frame_writer_checksum(writer->frames);
	if (r)
		parquet_writer_free(writer);
	else
		*ret = writer;
	return r;
}

void parquet_writer_free(struct parquet_writer *writer)
{
	if (!writer)
		return;
	frame_writer_free(writer->frames);
	if (writer->page.start)
		out_release(&writer->page);
	if (writer->group.start)
		out_release(&writer->group);
	free(writer);
}

/* parquet.thrift: PageHeader, with a DataPageHeader or a DictionaryPageHeader in it. */
static void put_header(struct out *out, enum parquet_page what, enum parquet_encoding encoding, size_t nr, size_t plain,
		       size_t packed)
{
	struct thrift header = { .out = out }, inner;

	thrift_i32(&header, 1, (int32_t)what);
	thrift_i32(&header, 2, (int32_t)plain);
	thrift_i32(&header, 3, (int32_t)packed);
	inner = thrift_struct(&header, what == PARQUET_PAGE_DATA ? 5 : 7);
	thrift_i32(&inner, 1, (int32_t)nr);
	thrift_i32(&inner, 2, (int32_t)encoding);
	if (what == PARQUET_PAGE_DATA) {
		thrift_i32(&inner, 3, PARQUET_RLE);
		thrift_i32(&inner, 4, PARQUET_RLE);
	}
	thrift_end(&inner);
	thrift_end(&header);
}

size_t parquet_writer_page(struct parquet_writer *writer, enum parquet_page what, enum parquet_encoding encoding,
			   size_t nr)
{
	struct fail fail = FAIL_INIT;
	size_t plain = out_len(&writer->page), packed = 0, size = frame_bound(plain), before = out_len(&writer->group);
	cleanup_free char *frame = malloc(size);
	int r = frame && !writer->page.failed ?
			frame_write(writer->frames, writer->page.start, plain, frame, size, &packed, &fail) :
			fail_memory(&fail);

	if (r && !writer->error) {
		writer->error = r;
		writer->failure = fail;
	}
	put_header(&writer->group, what, encoding, nr, plain, packed);
	plain += out_len(&writer->group) - before;
	if (packed)
		out_mem(&writer->group, frame, packed);
	out_clear(&writer->page);
	return plain;
}

static size_t run_at(const uint32_t *numbers, size_t nr, size_t most)
{
	size_t run = 1;

	while (run < nr && run < most && numbers[run] == numbers[0])
		run++;
	return run;
}

/* Writes a run: its length, and the number in as many bytes as it needs. */
static void put_run(struct out *out, uint32_t number, size_t len, unsigned width)
{
	proto_varint(out, (uint64_t)len << 1);
	for (unsigned bit = 0; bit < width; bit += 8)
		out_char(out, (char)(number >> bit));
}

/* Writes groups of eight, the lowest bit first; zeros follow the last number. */
static void put_packed(struct out *out, const uint32_t *numbers, size_t nr, unsigned width)
{
	size_t groups = (nr + GROUP - 1) / GROUP;
	unsigned filled = 0;
	uint64_t bits = 0;

	proto_varint(out, (uint64_t)groups << 1 | 1);
	for (size_t i = 0; i < groups * GROUP; i++) {
		bits |= (uint64_t)(i < nr ? numbers[i] : 0) << filled;
		for (filled += width; filled >= 8; filled -= 8, bits >>= 8)
			out_char(out, (char)bits);
	}
}

void parquet_writer_numbers(struct parquet_writer *writer, const uint32_t *numbers, size_t nr, unsigned width)
{
	for (size_t at = 0; at < nr;) {
		size_t run = run_at(numbers + at, nr - at, nr), end = at;

		if (run >= GROUP) {
			put_run(&writer->page, numbers[at], run, width);
			at += run;
			continue;
		}
		while (end < nr && run_at(numbers + end, nr - end, GROUP) < GROUP)
			end = nr - end < GROUP ? nr : end + GROUP;
		put_packed(&writer->page, numbers + at, end - at, width);
		at = end;
	}
}
