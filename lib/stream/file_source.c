// SPDX-License-Identifier: GPL-2.0-only
#include "lib/stream/file_source.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/codec/frame.h"
#include "lib/stream/source.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdlib.h>

/* Raw pages are read in runs of this many bytes, or of one page where that is larger. */
enum { RUN_SIZE = 64 << 10 };

struct file_source {
	struct source source;
	struct frame_reader *reader;
	struct buf scratch;
	struct trace_pages *pages;      /* one for each CPU */
	uint32_t *cpus;
};

static struct file_source *file_source(struct source *source)
{
	return (struct file_source *)source;
}

static size_t run_size(const struct file_source *file)
{
	uint32_t page = file->source.shape.size;

	return page >= RUN_SIZE ? page : RUN_SIZE / page * page;
}

static int file_source_next(struct source *source, size_t cpu_index, struct block **ret, struct fail *fail)
{
	struct file_source *file = file_source(source);
	struct trace_pages *pages = &file->pages[cpu_index];
	struct block *block;
	size_t size = 0;
	int r;

	r = trace_pages_size(pages, run_size(file), &size, fail);
	if (r <= 0)
		return r;
	block = source_block(source, size);
	if (!block)
		return fail_memory(fail);
	r = trace_pages_read(pages, file->reader, &file->scratch, block->data, size, fail);
	if (r < 0) {
		source_release(source, block);
		return r;
	}
	block->len = size;
	*ret = block;
	return 1;
}

/* The time of the page that stands first in what would be read next. */
static int first_time(struct file_source *file, struct trace_pages *pages, uint64_t *ret, struct fail *fail)
{
	uint8_t head[16];
	uint32_t commit;
	int r = trace_pages_peek(pages, file->reader, &file->scratch, head, page_head_size(&file->source.shape), fail);

	if (r < 0)
		return r;
	return page_head(&file->source.shape, head, page_head_size(&file->source.shape), ret, &commit, fail);
}

/* Raw pages: a binary search for the last page that begins at or before ts. */
static int seek_raw(struct file_source *file, struct trace_pages *pages, uint64_t ts, struct fail *fail)
{
	uint32_t size = file->source.shape.size;
	uint64_t start = pages->next, low = 0, high = (pages->end - start) / size;

	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2, time = 0;
		int r;

		pages->next = start + middle * size;
		r = first_time(file, pages, &time, fail);
		if (r < 0)
			return r;
		if (time <= ts)
			low = middle;
		else
			high = middle;
	}
	pages->next = start + low * size;
	return 0;
}

/* Chunks have no index: their heads are walked, and each first page decompressed, until one begins behind ts. */
static int seek_chunks(struct file_source *file, struct trace_pages *pages, uint64_t ts, struct fail *fail)
{
	struct trace_pages before = *pages;
	size_t size = 0;
	int r;

	while ((r = trace_pages_size(pages, run_size(file), &size, fail)) > 0) {
		uint64_t time = 0;

		r = first_time(file, pages, &time, fail);
		if (r < 0)
			return r;
		if (time > ts)
			break;
		before = *pages;
		r = trace_pages_skip(pages, size, fail);
		if (r < 0)
			return r;
	}
	*pages = before;
	return r < 0 ? r : 0;
}

static int file_source_seek(struct source *source, size_t cpu_index, uint64_t ts, struct fail *fail)
{
	struct file_source *file = file_source(source);
	struct trace_pages *pages = &file->pages[cpu_index], start = *pages;
	int r;

	r = pages->buffer->compressed ? seek_chunks(file, pages, ts, fail) : seek_raw(file, pages, ts, fail);
	/* A page that cannot be read must be met in its turn, behind those that can. */
	if (r == -EBADMSG) {
		*pages = start;
		return 0;
	}
	return r;
}

static void file_source_free(struct source *source)
{
	struct file_source *file = file_source(source);

	frame_reader_free(file->reader);
	buf_release(&file->scratch);
	free(file->pages);
	free(file->cpus);
	free(file);
}

static const struct source_ops file_source_ops = {
	.next = file_source_next,
	.seek = file_source_seek,
	.free = file_source_free,
};

static int file_source_init(struct file_source *file, struct trace *trace, size_t index, struct fail *fail)
{
	const struct trace_buffer *buffer = trace_buffer(trace, index);
	const struct trace_info *info = trace_info(trace);
	int r;

	file->source = (struct source){
		.ops = &file_source_ops,
		.shape = { .size = buffer->page_size, .long_size = info->long_size, .swap = info->swap },
		.nr_cpus = buffer->nr_cpus,
	};
	file->cpus = calloc(buffer->nr_cpus + 1, sizeof(*file->cpus));
	file->pages = calloc(buffer->nr_cpus + 1, sizeof(*file->pages));
	if (!file->cpus || !file->pages)
		return fail_memory(fail);
	file->source.cpus = file->cpus;
	r = frame_reader_new(&file->reader, fail);
	if (r < 0)
		return r;
	for (size_t i = 0; i < buffer->nr_cpus; i++) {
		file->cpus[i] = buffer->cpus[i].cpu;
		r = trace_pages_init(&file->pages[i], trace, index, i, fail);
		if (r < 0)
			return r;
	}
	return 0;
}

int file_source_new(struct trace *trace, size_t buffer, struct source **ret, struct fail *fail)
{
	struct file_source *file = calloc(1, sizeof(*file));
	int r;

	if (!file)
		return fail_memory(fail);
	r = file_source_init(file, trace, buffer, fail);
	if (r < 0) {
		file_source_free(&file->source);
		return r;
	}
	*ret = &file->source;
	return 0;
}
