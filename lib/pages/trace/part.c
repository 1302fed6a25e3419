// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/trace/part.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/body_internal.h"
#include "lib/pages/trace/input.h"
#include "lib/pages/trace/internal.h"
#include "lib/pages/trace/output.h"
#include "lib/pages/trace/trace.h"
#include "lib/pages/trace/writer.h"

enum {
	PAGES_PER_CHUNK = 10, /* as other writers of trace.dat do */
	READ_SIZE = 1 << 20,
};

struct part {
	struct frame_writer *writer; /* NULL when pages are written uncompressed */
	struct frame_reader *reader;
	const struct temporaries *temporaries;
	struct output output;
	struct buf packed, scratch, pages;
	bool swap;
	uint32_t chunks;
	uint64_t pages_size;
};

static int begin(struct part *part, struct fail *fail)
{
	int fd = part->output.temporary, r = fd < 0 ? input_temporary_from(part->temporaries, &fd, fail) : 0;

	if (r)
		return r;
	/* The file of the CPU before is used again: what is behind the new bytes is not read. */
	part->output = (struct output){ .fd = fd, .temporary = fd, .final = -1, .readable = fd, .reopened = -1 };
	part->chunks = 0;
	part->pages_size = 0;
	return 0;
}

int part_new(const struct writer_options *options, struct part **ret, struct fail *fail)
{
	struct part *part = calloc(1, sizeof(*part));
	int r;

	if (!part)
		return fail_memory(fail);
	part->temporaries = options->temporaries;
	part->output.temporary = part->output.reopened = -1;
	part->swap = options->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	r = begin(part, fail);
	if (!r)
		r = frame_reader_new(&part->reader, fail);
	if (!r && options->compress)
		r = frame_writer_new(options->level ? options->level : FRAME_LEVEL_DEFAULT, &part->writer, fail);
	if (r) {
		part_free(part);
		return r;
	}
	*ret = part;
	return 0;
}

void part_free(struct part *part)
{
	if (!part)
		return;
	input_temporary_back(part->temporaries, part->output.temporary);
	frame_writer_free(part->writer);
	frame_reader_free(part->reader);
	buf_release(&part->packed);
	buf_release(&part->scratch);
	buf_release(&part->pages);
	free(part);
}

static int add_chunk(struct part *part, const char *pages, size_t size, struct fail *fail)
{
	size_t bound = frame_bound(size), len;
	int r;

	buf_clear(&part->packed);
	if (!buf_reserve(&part->packed, 8 + bound))
		return fail_memory(fail);
	r = frame_write(part->writer, pages, size, part->packed.data + 8, bound, &len, fail);
	if (r)
		return r;
	if (!put_u32(&part->packed, (uint32_t)len, part->swap) || !put_u32(&part->packed, (uint32_t)size, part->swap))
		return fail_memory(fail);
	part->chunks++;
	return output_add(&part->output, part->packed.data, 8 + len, fail);
}

int part_add(struct part *part, const void *pages, size_t size, uint32_t page_size, struct fail *fail)
{
	size_t chunk = (size_t)page_size * PAGES_PER_CHUNK;

	if (size % page_size)
		return fail_set(fail, -EINVAL, "%zu bytes are no whole pages of %" PRIu32, size, page_size);
	part->pages_size += size;
	if (!part->writer)
		return output_add(&part->output, pages, size, fail);
	for (size_t done = 0; done < size; done += chunk) {
		size_t left = size - done;
		int r = add_chunk(part, (const char *)pages + done, left < chunk ? left : chunk, fail);

		if (r)
			return r;
	}
	return 0;
}

int part_add_run(struct part *part, const void *pages, size_t size, uint32_t page_size, struct writer_run *ret,
		 struct fail *fail)
{
	uint64_t at = part->output.at;
	uint32_t chunks = part->chunks;
	int r = part_add(part, pages, size, page_size, fail);

	if (!r)
		*ret = (struct writer_run){ part->output.fd, at, part->output.at - at, part->chunks - chunks };
	return r;
}

int part_read_run(struct part *part, const struct writer_run *run, void *into, size_t size, struct fail *fail)
{
	uint32_t head = part->writer ? 2 * sizeof(uint32_t) : 0;
	void *to = into;
	ssize_t got;

	if (part->writer) {
		buf_clear(&part->scratch);
		if (!buf_reserve(&part->scratch, (size_t)run->size))
			return fail_memory(fail);
		to = part->scratch.data;
	}
	got = io_pread(run->fd, to, (size_t)run->size, run->offset);
	if (got != (ssize_t)run->size)
		return fail_set(fail, got < 0 ? (int)got : -EIO, "cannot read pages of the temporary file");
	return part->writer ?
		       frame_read(part->reader, part->scratch.data + head, (size_t)run->size - head, into, size, fail) :
		       0;
}

/* Walks over the records of copied pages: who reads only the copy could not tell whose damage it has. */
static void look_into(struct part *part, const struct trace_pages *pages, uint64_t offset, size_t size)
{
	const struct page_shape shape = { .size = pages->buffer->page_size,
					  .long_size = trace_info(pages->trace)->long_size,
					  .swap = trace_info(pages->trace)->swap };
	struct record record;
	struct fail what;
	struct page page;

	for (size_t at = 0, len; at < size; at += len) {
		len = size - at < shape.size ? size - at : shape.size;
		int r = page_init(&page, &shape, part->pages.data + at, len, &what);

		while (!r && (r = page_next(&page, &record, &what)) > 0)
			r = 0;
		if (r < 0)
			trace_note_damage(pages->trace, offset, "CPU %" PRIu32 ": %s", pages->cpu->cpu, what.text);
	}
}

int part_add_changed(struct part *part, struct trace_pages *pages, part_change *change, void *arg, struct fail *fail)
{
	uint32_t page_size = pages->buffer->page_size;
	const void *changed;
	size_t size, padded;
	uint64_t offset;
	int r;

	while ((r = trace_pages_size(pages, READ_SIZE, &size, fail)) > 0) {
		padded = (size + page_size - 1) / page_size * page_size;
		buf_clear(&part->pages);
		if (!buf_reserve(&part->pages, padded))
			return fail_memory(fail);
		offset = pages->next;
		r = trace_pages_read(pages, part->reader, &part->scratch, part->pages.data, size, fail);
		if (r)
			return r;
		look_into(part, pages, offset, size);
		memset(part->pages.data + size, 0, padded - size);
		changed = part->pages.data;
		r = change ? change(arg, part->pages.data, size, padded, &changed, fail) : 0;
		if (!r)
			r = part_add(part, changed, padded, page_size, fail);
		if (r)
			return r;
	}
	return r;
}

int part_add_pages(struct part *part, struct trace_pages *pages, struct fail *fail)
{
	return part_add_changed(part, pages, NULL, NULL, fail);
}

int part_add_file(struct part *part, int fd, uint32_t page_size, struct fail *fail)
{
	size_t room = READ_SIZE / page_size * page_size;

	buf_clear(&part->pages);
	if (!buf_reserve(&part->pages, room))
		return fail_memory(fail);
	for (;;) {
		ssize_t got = io_read(fd, part->pages.data + part->pages.len, room - part->pages.len);
		size_t whole;
		int r;

		if (got < 0)
			return fail_set(fail, (int)got, "cannot read pages: %s", strerror((int)-got));
		part->pages.len += (size_t)got;
		if (!got && part->pages.len % page_size)
			return fail_set(fail, -EBADMSG, "ends inside a page: the last one has %zu of %" PRIu32 " bytes",
					part->pages.len % page_size, page_size);
		whole = part->pages.len - part->pages.len % page_size;
		if (got && part->pages.len < room)
			continue;
		r = part_add(part, part->pages.data, whole, page_size, fail);
		if (r || !got)
			return r;
		buf_clear(&part->pages);
	}
}

uint64_t part_pages_size(const struct part *part)
{
	return part->pages_size;
}

int part_write(struct part *part, struct writer *writer, uint32_t cpu, struct fail *fail)
{
	const struct writer_run run = { part->output.fd, 0, part->output.at, part->chunks };
	int r = writer_cpu(writer, cpu, &run, 1, fail);

	return r ? r : begin(part, fail);
}
