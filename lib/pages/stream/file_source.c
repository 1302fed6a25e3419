// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pages/stream/file_source.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/pool.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/stream/source.h"
#include "lib/pages/trace/trace.h"

/* A decompression context and its buffer. A thread takes one and puts it back. */
struct decoder {
	struct decoder *next;
	struct frame_reader *reader;
	struct buf scratch;
};

/* The block of one CPU that is read while the block before it is in use. */
struct ahead {
	struct pool_job job; /* must be the first member: a job is cast to its ahead */
	struct file_source *file;
	struct trace_pages *pages;
	struct block *block;         /* NULL: no job is running for it */
	bool loaded;                 /* the block has been read: file_source_load() */
	uint64_t events, events_max; /* bytes of events so far, and the number that is accepted */
	uint64_t first;              /* offset in the file of the CPU's first piece */
	uint64_t stride;             /* bytes between the places of the last two seeks; 0: unknown */
	uint64_t time, lasted;       /* of a seek by rate: the raw time of its place, and the time of that stride */
	uint64_t packed;             /* bytes in the file of the chunk there */
	/* when only a part of a chunk fits: the chunk's bytes and the bytes handed out so far; else 0 */
	size_t chunk, done;
	int result;
	struct fail fail;
};

struct file_source {
	struct source source;
	struct trace_pages *pages; /* one for each CPU */
	struct trace_pages *found; /* where the last seek after a restart, to `sought`, has led: one for each CPU */
	uint64_t sought;           /* raw time; 0: there was none */
	uint32_t *cpus;
	struct pool *pool;   /* borrowed; NULL: nothing is read ahead */
	struct ahead *ahead; /* one for each CPU */
	size_t ahead_size;   /* bytes of a block that has room for several chunks; 0 without a pool */
	size_t share;        /* bytes that one block may have; a multiple of the page size */
	size_t index;        /* of the buffer in the trace */
	struct buf whole;    /* a chunk that is handed out in parts */
	bool trusted;
	pthread_mutex_t lock; /* protects `idle` */
	struct decoder *idle;
	struct decoder *decoders; /* one for the owner's thread and one for each of the pool's threads */
	unsigned nr_decoders;
};

static inline struct file_source *file_source(struct source *source)
{
	return (struct file_source *)source;
}

static size_t file_source_run_size(const struct file_source *file);
static struct decoder *file_source_decoder_take(struct file_source *file);
static void file_source_decoder_put(struct file_source *file, struct decoder *decoder);
static bool must_check file_source_load(struct file_source *file, size_t cpu_index, uint64_t *ret_time);
static void file_source_unload(struct file_source *file, size_t cpu_index);

/* So many chunks are passed one by one, where a place is looked for that is not far. */
enum { ONWARD_FEW = 3 };

/* How often the rate at which bytes came may lead to a wrong place before the place is looked for without it. */
enum { RATE_TRIES = 4 };

/* The time stamp of the page that would be read next. */
static int first_time(struct file_source *file, struct trace_pages *pages, uint64_t *ret, struct fail *fail)
{
	struct decoder *decoder = file_source_decoder_take(file);
	uint32_t commit;
	uint8_t head[16];
	int r = trace_pages_peek(pages, decoder->reader, &decoder->scratch, head, page_head_size(&file->source.shape),
				 fail);

	file_source_decoder_put(file, decoder);
	if (r < 0)
		return r;
	return page_head(&file->source.shape, head, page_head_size(&file->source.shape), ret, &commit, fail);
}

/* Moves to the first piece between two offsets: 1, or 0 when there is none. */
static int jump(struct file_source *file, struct trace_pages *pages, uint64_t offset, uint64_t limit, struct fail *fail)
{
	struct decoder *decoder = file_source_decoder_take(file);
	int r = trace_pages_jump(pages, offset, limit, &decoder->scratch, fail);

	file_source_decoder_put(file, decoder);
	return r;
}

/* The same, and returns its time. */
static int jump_time(struct file_source *file, struct trace_pages *pages, uint64_t offset, uint64_t limit,
		     uint64_t *ret, struct fail *fail)
{
	int r = jump(file, pages, offset, limit, fail);

	if (r <= 0)
		return r;
	return first_time(file, pages, ret, fail) < 0 ? -EBADMSG : 1;
}

/*
 * The place is behind the last one, and probably as far as that was behind the one before. Takes longer and longer
 * steps from there until one leads behind it, to *high.
 */
static int seek_onward(struct file_source *file, struct trace_pages *pages, uint64_t ts, uint64_t few, uint64_t *high,
		       struct fail *fail)
{
	uint64_t stride = file->ahead[pages - file->pages].stride, step = stride / 16 > few ? stride / 16 : few;
	uint64_t by = stride > step ? stride - step / 2 : step;

	while (by < *high - pages->next) {
		struct trace_pages onward = *pages;
		uint64_t offset = pages->next + by, time = 0;
		int r = jump_time(file, &onward, offset, *high, &time, fail);

		if (r < 0)
			return r;
		if (!r || time > ts) {
			*high = offset;
			return 0;
		}
		*pages = onward;
		by = step;
		step *= 2;
	}
	return 0;
}

/*
 * Jumps near the position where reading can begin, without an index of the pieces: halves the range until few pieces
 * are left. Raw pages have known offsets, so only one piece is left there.
 */
static int seek_near(struct file_source *file, struct trace_pages *pages, uint64_t ts, struct fail *fail)
{
	uint64_t high = pages->end, page = file->source.shape.size, few = page;
	int r;

	/* To look for a chunk costs as much as to pass a few. */
	if (pages->buffer->compressed && file->sought)
		few = 1 + ONWARD_FEW * trace_pages_packed(pages, file->source.shape.size);
	else if (pages->buffer->compressed)
		few = 4 * (uint64_t)file_source_run_size(file);
	r = file->sought ? seek_onward(file, pages, ts, few, &high, fail) : 0;

	if (r < 0)
		return r;
	while (high - pages->next > few) {
		struct trace_pages middle = *pages;
		uint64_t half = pages->next + (high - pages->next + 1) / 2, time = 0;

		r = jump_time(file, &middle, half, high, &time, fail);
		if (r < 0)
			return r;
		if (r && time <= ts)
			*pages = middle;
		else
			high = half;
	}
	return 0;
}

/* Walks to the last piece that begins at or before ts. */
static int seek_exactly(struct file_source *file, struct trace_pages *pages, uint64_t ts, struct fail *fail)
{
	uint32_t page = file->source.shape.size;
	struct trace_pages before = *pages;
	/* Where a seek goes on from the place of another one, the first piece is known to be early enough. */
	bool early = file->sought;
	size_t size = 0;
	int r;

	while ((r = trace_pages_size(pages, page, &size, fail)) > 0) {
		uint64_t time = 0;

		r = early ? 0 : first_time(file, pages, &time, fail);
		if (r < 0)
			return r;
		if (!early && time > ts)
			break;
		early = false;
		before = *pages;
		r = trace_pages_skip(pages, size, fail);
		if (r < 0)
			return r;
	}
	*pages = before;
	return r < 0 ? r : 0;
}

/* How many bytes of a CPU are probably as long as this, in ns; as many as may be. */
static uint64_t bytes_for(const struct ahead *ahead, uint64_t ns)
{
	double bytes = (double)ahead->stride * (double)ns / (double)ahead->lasted;

	return bytes < (double)(UINT64_MAX / 4) ? (uint64_t)bytes : UINT64_MAX / 4;
}

/* The bytes and the time of all pieces of a CPU but the last ones, as a first rate. */
static bool rate_of_all(struct file_source *file, struct ahead *ahead, uint64_t chunk)
{
	struct trace_pages first = *ahead->pages, last = first;
	uint64_t begin, end, from = first.next;

	if (first.end - from < 8 * chunk || first_time(file, &first, &begin, NULL) < 0 ||
	    jump_time(file, &last, last.end - 4 * chunk, last.end, &end, NULL) <= 0 || end <= begin)
		return false;
	ahead->time = begin;
	ahead->stride = last.next - from;
	ahead->lasted = end - begin;
	return true;
}

/* Where a time is by the rate, seen from a place of another time; not before `low`, nor behind `high`. */
static uint64_t place_by_rate(const struct ahead *ahead, uint64_t at, uint64_t time, uint64_t ts, uint64_t low,
			      uint64_t high)
{
	uint64_t by = bytes_for(ahead, ts > time ? ts - time : time - ts);

	if (ts > time)
		return by < high - at ? at + by : high;
	return by < at - low ? at - by : low;
}

/* The block that was loaded is where reading begins. */
static void found_by_rate(struct file_source *file, size_t cpu_index, const struct trace_pages *place, uint64_t time)
{
	struct ahead *ahead = &file->ahead[cpu_index];
	struct trace_pages *found = &file->found[cpu_index];

	if (time > ahead->time && place->next > found->next) {
		ahead->stride = place->next - found->next;
		ahead->lasted = time - ahead->time;
	}
	ahead->time = time;
	ahead->packed = ahead->pages->next - place->next;
	*found = *place;
}

/*
 * Finds the block where reading can begin by the rate at which bytes came so far, and loads it: so what is looked at to
 * find the place is not decompressed twice. It may be a block early. False: it is not found so; nothing has changed.
 */
static bool seek_by_rate(struct file_source *file, size_t cpu_index, uint64_t ts)
{
	struct ahead *ahead = &file->ahead[cpu_index];
	struct trace_pages *pages = ahead->pages, start = *pages, place = start;
	uint64_t chunk = trace_pages_packed(pages, file->source.shape.size), low = start.next, high = start.end;
	uint64_t time;

	/* The chunk where the last seek led may be a small one. */
	if (chunk < ahead->packed)
		chunk = ahead->packed;
	if (!chunk || (!ahead->lasted && !rate_of_all(file, ahead, chunk)))
		return false;
	time = ahead->time;
	for (unsigned i = 0; i < RATE_TRIES && low < high; i++) {
		uint64_t offset = place_by_rate(ahead, place.next, time, ts, low, high);

		/* A chunk earlier, and a little more: the place is in a chunk or where one begins. */
		offset = offset - low > chunk + chunk / 4 ? offset - chunk - chunk / 4 : low;
		place = start;
		if (offset > low && jump(file, &place, offset, high, NULL) <= 0)
			break;
		*pages = place;
		if (!file_source_load(file, cpu_index, &time))
			break;
		if (time <= ts ? bytes_for(ahead, ts - time) <= 3 * chunk : place.next == start.next) {
			found_by_rate(file, cpu_index, &place, time);
			return true;
		}
		file_source_unload(file, cpu_index);
		if (time <= ts)
			low = place.next;
		else
			high = offset;
	}
	*pages = start;
	return false;
}

/* The functions of struct source_ops. */
static int file_source_seek(struct source *source, size_t cpu_index, uint64_t ts, struct fail *fail)
{
	struct file_source *file = file_source(source);
	struct trace_pages *pages = &file->pages[cpu_index], start = *pages;
	int r;

	/* Records of time ts may also end the page before the first one that begins at ts. */
	ts -= ts > 0;
	if (pages->buffer->compressed && file->sought && !file->pool && seek_by_rate(file, cpu_index, ts))
		return 0;
	r = seek_near(file, pages, ts, fail);
	if (!r)
		r = seek_exactly(file, pages, ts, fail);
	/* The page that cannot be read is reported in its turn, after the pages that can be read. */
	if (r == -EBADMSG) {
		*pages = start;
		return 0;
	}
	if (!r && file->found) {
		file->ahead[cpu_index].stride = pages->next - file->found[cpu_index].next;
		file->ahead[cpu_index].lasted = 0;
		file->found[cpu_index] = *pages;
	}
	return r;
}

static int file_source_restart(struct source *source, uint64_t ts, struct fail *fail)
{
	struct file_source *file = file_source(source);
	bool onward = file->sought && ts >= file->sought;

	if (file->pool)
		return fail_set(fail, -EINVAL, "what is read ahead cannot be read again");
	if (!file->found)
		file->found = calloc(source->nr_cpus + 1, sizeof(*file->found));
	if (!file->found)
		return fail_memory(fail);
	for (size_t i = 0; i < source->nr_cpus; i++) {
		struct ahead *ahead = &file->ahead[i];
		struct trace_pages *pages = &file->pages[i];

		file_source_unload(file, i);
		ahead->events = ahead->chunk = ahead->done = 0;
		if (onward) {
			*pages = file->found[i];
		} else {
			ahead->lasted = 0;
			int r = trace_pages_init(pages, pages->trace, file->index, i, fail);

			if (r < 0)
				return r;
		}
		file->found[i] = *pages;
	}
	file->sought = ts;
	return 0;
}

static int file_source_time_at(struct source *source, size_t cpu_index, uint64_t part, uint64_t parts, uint64_t *ret,
			       struct fail *fail)
{
	struct file_source *file = file_source(source);
	struct trace_pages pages;
	uint64_t size;
	int r = trace_pages_init(&pages, file->pages[cpu_index].trace, file->index, cpu_index, fail);

	if (r < 0)
		return r;
	size = pages.end - pages.next;
	return jump_time(file, &pages, pages.next + size / parts * part + size % parts * part / parts, pages.end, ret,
			 fail);
}

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

static size_t file_source_run_size(const struct file_source *file)
{
	uint32_t page = file->source.shape.size;
	size_t run = page >= RUN_SIZE ? page : RUN_SIZE / page * page;

	return run < file->share ? run : file->share;
}

static struct decoder *file_source_decoder_take(struct file_source *file)
{
	struct decoder *decoder;

	pthread_mutex_lock(&file->lock);
	decoder = file->idle;
	file->idle = decoder->next;
	pthread_mutex_unlock(&file->lock);
	return decoder;
}

static void file_source_decoder_put(struct file_source *file, struct decoder *decoder)
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

static void file_source_unload(struct file_source *file, size_t cpu_index)
{
	struct ahead *ahead = &file->ahead[cpu_index];

	if (ahead->loaded)
		source_release(&file->source, take(ahead->block));
	ahead->loaded = false;
	ahead->events = 0;
}

/*
 * Reads the first block of a CPU after a restart, which next() will hand out without reading it again. Without a pool.
 * False: it cannot be read here, and nothing has changed. file_source_unload() gives up a block that was loaded and not
 * handed out, as if it had not been read; the pages stay behind it.
 */
static bool file_source_load(struct file_source *file, size_t cpu_index, uint64_t *ret_time)
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
