// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/stream/file_source.h"

#include "lib/base/fail.h"
#include "lib/codec/frame.h"
#include "lib/stream/file_source_internal.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Raw pages are read in runs of this many bytes, or one page at a time where a page is larger. */
enum { RUN_SIZE = 64 << 10 };

/*
 * How many bytes one job reads ahead for one CPU, and for all CPUs. One job for each chunk would cost more than it
 * saves.
 */
enum { AHEAD_SIZE = 256 << 10, AHEAD_SIZES = 8 << 20 };

/* With more CPUs than this nothing is read ahead: the second block for each CPU would take too much memory. */
enum { AHEAD_CPUS_MAX = 64 };

/*
 * The memory that the blocks of all CPUs may take; each CPU has an equal share. Only a part of a chunk that is larger
 * than the share is kept, and the chunk is decompressed again for the next part. PARTS_MAX bounds how often.
 */
enum { BLOCKS_MAX = 32 << 20, BLOCKS_HARD_MAX = 64 << 20, PARTS_MAX = 16 };

/*
 * The bytes of events that are accepted for each byte of the file, and a free amount. Recordings reach a ratio of 5 to
 * 25, 600 where one long marker repeats, and 5700 where the same event fills 64 KB sub-buffers under a coarse clock
 * (uptime). The bound keeps a small hostile file from occupying its reader for hours.
 */
enum { EVENTS_RATIO_MAX = 8192, EVENTS_FREE = 16 << 20 };

/* A buffer for compressed bytes that is larger than this is freed after use. */
enum { SCRATCH_MAX = 1 << 20 };

size_t file_source_run_size(const struct file_source *file)
{
	uint32_t page = file->source.shape.size;
	size_t run = page >= RUN_SIZE ? page : RUN_SIZE / page * page;

	return run < file->share ? run : file->share;
}

struct decoder *file_source_decoder_take(struct file_source *file)
{
	struct decoder *decoder;

	pthread_mutex_lock(&file->lock);
	decoder = file->idle;
	file->idle = decoder->next;
	pthread_mutex_unlock(&file->lock);
	return decoder;
}

void file_source_decoder_put(struct file_source *file, struct decoder *decoder)
{
	if (decoder->scratch.size > SCRATCH_MAX)
		buf_release(&decoder->scratch);
	pthread_mutex_lock(&file->lock);
	decoder->next = file->idle;
	file->idle = decoder;
	pthread_mutex_unlock(&file->lock);
}

/* Adds the events of a chunk that was read to the count that is checked against the bound. */
static int count_events(struct ahead *ahead, const uint8_t *data, size_t len, struct fail *fail)
{
	const struct page_shape *shape = &ahead->file->source.shape;
	uint64_t events = ahead->events, time;
	uint32_t commit;

	for (size_t at = 0; at < len && len - at >= page_head_size(shape); at += shape->size)
		if (!page_head(shape, data + at, page_head_size(shape), &time, &commit, NULL))
			events += commit;
	if (events > ahead->events_max && !ahead->file->trusted)
		return fail_set(fail, -EBADMSG,
				"there are more than %" PRIu64 " bytes of events in %" PRIu64
				" of the file, more than any real recording has; --trust-size reads them",
				ahead->events_max, ahead->pages->cpu->size);
	ahead->events = events;
	return 0;
}

/* Reads the next piece, of `size` bytes. */
static int read_piece(struct ahead *ahead, struct decoder *decoder, uint8_t *data, size_t size, struct fail *fail)
{
	int r = trace_pages_read(ahead->pages, decoder->reader, &decoder->scratch, data, size, fail);

	return r || !ahead->pages->buffer->compressed ? r : count_events(ahead, data, size, fail);
}

/* Appends chunks while there is room. A damaged chunk is reported later, when it is the first one to be read. */
static void ahead_more(struct ahead *ahead, struct decoder *decoder)
{
	struct block *block = ahead->block;
	uint32_t page = ahead->file->source.shape.size;
	size_t size = 0;

	while (block->len % page == 0 && trace_pages_size(ahead->pages, page, &size, NULL) > 0) {
		struct trace_pages before = *ahead->pages;

		if (size > block->size - block->len)
			break;
		if (read_piece(ahead, decoder, block->data + block->len, size, NULL) < 0) {
			*ahead->pages = before;
			break;
		}
		block->len += size;
	}
}

/* Reads a part of a chunk that is too large to be kept whole. */
static int read_part(struct ahead *ahead, struct decoder *decoder, struct fail *fail)
{
	struct file_source *file = ahead->file;
	struct trace_pages start = *ahead->pages;
	struct block *block = ahead->block;
	uint64_t events = ahead->events;
	int r;

	buf_clear(&file->whole);
	if (!buf_reserve(&file->whole, ahead->chunk))
		return fail_memory(fail);
	r = read_piece(ahead, decoder, (uint8_t *)file->whole.data, ahead->chunk, fail);
	if (r < 0)
		return r;
	memcpy(block->data, file->whole.data + ahead->done, block->len);
	ahead->done += block->len;
	if (ahead->done < ahead->chunk) {
		*ahead->pages = start;
		ahead->events = events;
	} else {
		ahead->done = ahead->chunk = 0;
	}
	return 0;
}

static void ahead_run(struct pool_job *job)
{
	struct ahead *ahead = (struct ahead *)job;
	struct decoder *decoder = file_source_decoder_take(ahead->file);

	if (ahead->chunk)
		ahead->result = read_part(ahead, decoder, &ahead->fail);
	else
		ahead->result = read_piece(ahead, decoder, ahead->block->data, ahead->block->len, &ahead->fail);
	if (ahead->result == -ENOMEM)
		trace_lacks_memory(ahead->pages->trace);
	if (!ahead->result && ahead->file->pool && !ahead->chunk)
		ahead_more(ahead, decoder);
	file_source_decoder_put(ahead->file, decoder);
}

/* Returns how many bytes of a chunk of *ret_size bytes to read next. */
static int ahead_part(const struct file_source *file, struct ahead *ahead, size_t *ret_size, struct fail *fail)
{
	size_t left = *ret_size - ahead->done;

	if (*ret_size / file->share >= PARTS_MAX && !file->trusted)
		return fail_set(fail, -EBADMSG,
				"a chunk of %zu bytes and %zu CPUs take more memory than recordings need; --trust-size "
				"reads it",
				*ret_size, file->source.nr_cpus);
	ahead->chunk = *ret_size;
	*ret_size = left < file->share ? left : file->share;
	return 0;
}

/* Raw pages may be read in other runs by another reader, chunks are the same for all. */
static void note_place(struct ahead *ahead)
{
	const struct trace_pages *pages = ahead->pages;
	struct block *block = ahead->block;

	block->piece = pages->buffer->compressed ? pages->next : 0;
	block->offset = pages->buffer->compressed ? ahead->done : pages->next;
	block->later = pages->next != ahead->first || ahead->done;
}

/* Prepares to read the next block of a CPU: 1, or 0 at the end of that CPU. */
static int ahead_ask(struct file_source *file, struct ahead *ahead, struct fail *fail)
{
	size_t size = 0;
	int r = trace_pages_size(ahead->pages, file_source_run_size(file), &size, fail);

	if (r <= 0)
		return r;
	if (size > file->share) {
		r = ahead_part(file, ahead, &size, fail);
		if (r < 0)
			return r;
	}
	ahead->block = source_block(&file->source, size < file->ahead_size ? file->ahead_size : size);
	if (!ahead->block) {
		/* A CPU that ends here looks damaged; the note of lacking memory tells the caller the true reason. */
		trace_lacks_memory(ahead->pages->trace);
		return fail_memory(fail);
	}
	ahead->block->len = size;
	note_place(ahead);
	return 1;
}

void file_source_unload(struct file_source *file, size_t cpu_index)
{
	struct ahead *ahead = &file->ahead[cpu_index];

	if (ahead->loaded)
		source_release(&file->source, take(ahead->block));
	ahead->loaded = false;
	ahead->events = 0;
}

bool file_source_load(struct file_source *file, size_t cpu_index, uint64_t *ret_time)
{
	struct ahead *ahead = &file->ahead[cpu_index];
	const struct page_shape *shape = &file->source.shape;
	struct trace_pages start = *ahead->pages;
	uint32_t commit;

	if (ahead_ask(file, ahead, NULL) <= 0)
		return false;
	ahead->loaded = true;
	if (!ahead->chunk) {
		ahead_run(&ahead->job);
		if (!ahead->result && ahead->block->len >= page_head_size(shape) &&
		    !page_head(shape, ahead->block->data, page_head_size(shape), ret_time, &commit, NULL))
			return true;
	}
	file_source_unload(file, cpu_index);
	ahead->chunk = 0;
	ahead->result = 0;
	*ahead->pages = start;
	return false;
}

static int file_source_next(struct source *source, size_t cpu_index, struct block **ret, struct fail *fail)
{
	struct file_source *file = file_source(source);
	struct ahead *ahead = &file->ahead[cpu_index];
	struct block *block;
	int r;

	if (ahead->loaded) {
		ahead->loaded = false;
	} else if (ahead->block) {
		pool_wait(file->pool, &ahead->job);
	} else {
		r = ahead_ask(file, ahead, fail);
		if (r <= 0)
			return r;
		ahead_run(&ahead->job);
	}
	block = take(ahead->block);
	if (ahead->result < 0) {
		source_release(source, block);
		return fail_set(fail, ahead->result, "%s", ahead->fail.text);
	}
	/* An error in this block is reported when its turn comes. */
	if (file->pool && !ahead->done && ahead_ask(file, ahead, NULL) > 0) {
		if (ahead->chunk)
			source_release(source, take(ahead->block));
		else
			pool_submit_first(file->pool, &ahead->job);
	}
	*ret = block;
	return 1;
}

static bool file_source_is_much(const struct source *source, uint64_t parts)
{
	const struct file_source *file = (const struct file_source *)source;

	for (size_t i = 0; i < source->nr_cpus; i++)
		if (file->ahead[i].events > file->ahead[i].events_max / 2 / parts)
			return true;
	return false;
}

static void file_source_free(struct source *source)
{
	struct file_source *file = file_source(source);

	for (size_t i = 0; file->ahead && i < file->source.nr_cpus; i++) {
		struct block *block = file->ahead[i].block;

		if (!block)
			continue;
		if (!file->ahead[i].loaded)
			pool_wait(file->pool, &file->ahead[i].job);
		free(block->copies);
		free(block->data);
		free(block);
	}
	for (unsigned i = 0; i < file->nr_decoders; i++) {
		frame_reader_free(file->decoders[i].reader);
		buf_release(&file->decoders[i].scratch);
	}
	pthread_mutex_destroy(&file->lock);
	buf_release(&file->whole);
	free(file->decoders);
	free(file->ahead);
	free(file->pages);
	free(file->found);
	free(file->cpus);
	free(file);
}

static void file_source_lacks_memory(struct source *source)
{
	const struct file_source *file = (const struct file_source *)source;

	trace_lacks_memory(file->pages->trace);
}

static const struct source_ops file_source_ops = {
	.next = file_source_next,
	.seek = file_source_seek,
	.restart = file_source_restart,
	.time_at = file_source_time_at,
	.is_much = file_source_is_much,
	.lacks_memory = file_source_lacks_memory,
	.free = file_source_free,
};

static int decoders_init(struct file_source *file, struct fail *fail)
{
	file->nr_decoders = 1 + pool_threads(file->pool);
	file->decoders = calloc(file->nr_decoders, sizeof(*file->decoders));
	if (!file->decoders) {
		file->nr_decoders = 0;
		return fail_memory(fail);
	}
	for (unsigned i = 0; i < file->nr_decoders; i++) {
		int r = frame_reader_new(&file->decoders[i].reader, fail);

		if (r < 0)
			return r;
		file_source_decoder_put(file, &file->decoders[i]);
	}
	return 0;
}

/* Each CPU has one block, or two when there is a pool. */
static int share_init(struct file_source *file, const struct trace_buffer *buffer, struct fail *fail)
{
	size_t page = buffer->page_size, nr = buffer->nr_cpus <= AHEAD_CPUS_MAX ? 2 * buffer->nr_cpus : buffer->nr_cpus;

	file->share = nr ? BLOCKS_MAX / nr / page * page : BLOCKS_MAX;
	if (file->share < page)
		file->share = page;
	if (file->share * buffer->nr_cpus > BLOCKS_HARD_MAX && !file->trusted)
		return fail_set(fail, -E2BIG,
				"the pages of %zu CPUs take more than %d MB, a page of each; --trust-size reads them",
				buffer->nr_cpus, BLOCKS_HARD_MAX >> 20);
	if (file->trusted)
		file->share = TRACE_CHUNK_MAX;
	return 0;
}

static int file_source_init(struct file_source *file, struct trace *trace, size_t index, struct pool *pool,
			    struct fail *fail)
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
	file->ahead = calloc(buffer->nr_cpus + 1, sizeof(*file->ahead));
	if (!file->cpus || !file->pages || !file->ahead)
		return fail_memory(fail);
	file->source.cpus = file->cpus;
	file->index = index;
	file->trusted = trace_trusted(trace);
	r = share_init(file, buffer, fail);
	if (r < 0)
		return r;
	/* Raw pages only have to be copied: a job for that would cost more than it saves. */
	if (pool && buffer->compressed && buffer->nr_cpus && buffer->nr_cpus <= AHEAD_CPUS_MAX) {
		file->pool = pool;
		file->ahead_size =
			AHEAD_SIZES / buffer->nr_cpus < AHEAD_SIZE ? AHEAD_SIZES / buffer->nr_cpus : AHEAD_SIZE;
	}
	r = decoders_init(file, fail);
	if (r < 0)
		return r;
	for (size_t i = 0; i < buffer->nr_cpus; i++) {
		file->cpus[i] = buffer->cpus[i].cpu;
		file->ahead[i] = (struct ahead){ .job.run = ahead_run, .file = file, .pages = &file->pages[i] };
		file->ahead[i].events_max =
			EVENTS_FREE / buffer->nr_cpus / trace_buffers(trace) + EVENTS_RATIO_MAX * buffer->cpus[i].size;
		r = trace_pages_init(&file->pages[i], trace, index, i, fail);
		if (r < 0)
			return r;
		file->ahead[i].first = file->pages[i].next;
	}
	return 0;
}

int file_source_new(struct trace *trace, size_t buffer, struct pool *pool, struct source **ret, struct fail *fail)
{
	struct file_source *file = calloc(1, sizeof(*file));
	int r;

	if (!file)
		return fail_memory(fail);
	pthread_mutex_init(&file->lock, NULL);
	r = file_source_init(file, trace, buffer, pool, fail);
	if (r < 0) {
		file_source_free(&file->source);
		return r;
	}
	*ret = &file->source;
	return 0;
}
