// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/intake_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/kernel/buffer/cpu_pipe.h"
#include "lib/kernel/record/chunk_history_internal.h"
#include "lib/kernel/record/page_staging_internal.h"
#include "lib/kernel/record/recorder_options.h"
#include "lib/kernel/record/spool.h"
#include "lib/pages/codec/frame.h"
#include "lib/pages/ring/page.h"

enum {
	BATCH_SIZE = 256 * 1024,    /* bytes of compressed chunks that are collected before a write */
	CHECK_SIZE = 1024 * 1024,   /* bytes written between two checks of the free space */
	CHUNKS_TOGETHER = 16 << 20, /* bytes of the chunks of all CPUs together, one chunk of each */
	LANDED_CHUNKS = 4,          /* in a staging */
	ROOM_MS = 10,               /* between two looks whether a spool was emptied */
};

void intake_release(struct intake *intake)
{
	frame_writer_free(intake->codec);
	free(intake->own_pages);
	free(intake->batch);
	free(intake->ends);
}

size_t intake_chunk_size(uint32_t page_size, uint32_t nr_cpus)
{
	long cpus = nr_cpus ? (long)nr_cpus : sysconf(_SC_NPROCESSORS_CONF);
	size_t pages = CHUNKS_TOGETHER / (cpus < 1 ? 1 : (size_t)cpus) / page_size;

	return page_size * (pages < 1 ? 1 : pages > SPOOL_CHUNK_PAGES ? SPOOL_CHUNK_PAGES : pages);
}

size_t intake_landing_size(uint32_t page_size, uint32_t nr_cpus)
{
	return LANDED_CHUNKS * intake_chunk_size(page_size, nr_cpus);
}

int intake_init(struct intake *intake, struct fail *fail)
{
	int err;

	/* A full buffer is as it should be if it is read only when asked for. */
	intake->slack = compress_or_store_of(intake->options->when_asked ? 0 : intake->options->buffer_size,
					     intake->options->percent, intake->options->store_spare, now_ns());
	intake->pages_size =
		spool_chunk_max(&intake->spool->options,
				intake_chunk_size(intake->spool->options.shape.size, intake->options->nr_cpus));
	intake->own_pages = intake->staging ? NULL : malloc(intake->pages_size);
	intake->pages = intake->staging ? intake->staging->pages : intake->own_pages;
	if (intake->staging && intake->pipe->room > intake->staging->size)
		intake->pipe->room = intake->staging->size;
	intake->batch_size = BATCH_SIZE + SPOOL_CHUNK_HEAD + frame_bound(intake->pages_size);
	intake->batch = malloc(intake->batch_size);
	if (intake->held)
		intake->ends = malloc(2 * (size_t)intake->spool->options.shape.size);
	if (!intake->pages || !intake->batch || (intake->held && !intake->ends))
		return fail_memory(fail);
	if (!intake->spool->options.compressed)
		return 0;
	err = frame_writer_new(intake->options->level, &intake->codec, fail);
	if (!err)
		frame_writer_pages(intake->codec);
	return err;
}

/* Waits until somebody has emptied the spool, or the recorder shall end: then the rest of the buffer follows. */
static void wait_for_room(const struct intake *intake)
{
	struct pollfd stop = { .fd = intake->options->stop_fd, .events = POLLIN };

	while (spool_backlog(intake->spool) > intake->options->room && poll(&stop, 1, ROOM_MS) <= 0)
		continue;
}

/* Ends the recording while there is still enough free space to finish its file. */
static int check_room(struct intake *intake, size_t written, struct fail *fail)
{
	uint64_t need = spool_size(intake->spool) + intake->options->keep_free;
	struct statvfs vfs;

	if (intake->options->room)
		wait_for_room(intake);
	if (!intake->options->copied_there)
		return 0;
	intake->unchecked += written;
	if (intake->unchecked < CHECK_SIZE || fstatvfs(intake->spool->fd, &vfs))
		return 0;
	intake->unchecked = 0;
	if ((uint64_t)vfs.f_bavail * vfs.f_frsize >= need)
		return 0;
	return fail_set(fail, -ENOSPC, "the only disk space left is what finishing the file needs");
}

/* Tells what a spool in memory holds about a chunk that did not pass through memory: its pages are read back. */
static int hold_stored(struct intake *intake, size_t size, size_t raw, struct fail *fail)
{
	const struct spool *spool = intake->spool;
	size_t page_size = spool->options.shape.size;
	uint64_t first = spool->end - size + SPOOL_CHUNK_HEAD + FRAME_HEAD + FRAME_BLOCK_HEAD;
	ssize_t got = io_pread(spool->fd, intake->ends, page_size, first);

	if (got == (ssize_t)page_size)
		got = io_pread(spool->fd, intake->ends + page_size, page_size, spool->end - page_size);
	if (got != (ssize_t)page_size)
		return fail_set(fail, got < 0 ? (int)got : -EIO, "cannot read back a spool");
	return chunk_history_cpu_add(intake->held, spool->end - size, (uint32_t)size, (uint32_t)raw,
				     &spool->options.shape, intake->ends, intake->ends + page_size, fail);
}

/* Writes a batch of one chunk, whose pages are still there, to a spool in memory. */
static int append_held(struct intake *intake, struct fail *fail)
{
	size_t raw = (size_t)intake->batch_raw;

	return chunk_history_cpu_append(intake->held, intake->spool, intake->batch, (uint32_t)intake->batch_len,
					(uint32_t)raw, intake->pages,
					intake->pages + raw - intake->spool->options.shape.size, fail);
}

static int flush_batch(struct intake *intake, struct fail *fail)
{
	size_t len = intake->batch_len;
	int err;

	if (!len)
		return 0;
	err = intake->held ?
		      append_held(intake, fail) :
		      spool_append(intake->spool, intake->batch, len, intake->batch_chunks, intake->batch_raw, fail);
	intake->batch_len = 0;
	intake->batch_chunks = 0;
	intake->batch_raw = 0;
	return err ? err : check_room(intake, len, fail);
}

/* Compresses the pages in memory to a chunk and adds it to the batch. */
static int add_chunk(struct intake *intake, struct fail *fail)
{
	const struct spool_options *options = &intake->spool->options;
	char *at = intake->batch + intake->batch_len;
	size_t len = intake->pages_len;
	int err;

	if (!len)
		return 0;
	if (intake->lost)
		page_set_lost(&options->shape, intake->pages);
	intake->lost = false;
	intake->pages_len = 0;
	if (intake->codec) {
		size_t room = intake->batch_size - intake->batch_len - SPOOL_CHUNK_HEAD, size;

		err = frame_write(intake->codec, intake->pages, len, at + SPOOL_CHUNK_HEAD, room, &size, fail);
		if (err)
			return err;
		spool_chunk_head(options, (uint32_t)size, (uint32_t)len, at);
		intake->batch_len += SPOOL_CHUNK_HEAD + size;
		intake->batch_chunks++;
	} else {
		memcpy(at, intake->pages, len);
		intake->batch_len += len;
	}
	intake->batch_raw += len;
	return intake->held || intake->batch_len >= BATCH_SIZE ? flush_batch(intake, fail) : 0;
}

/* Compresses the pages that have landed. They stay where they are until all are in the spool. */
static int compress_landed(struct intake *intake, size_t len, struct fail *fail)
{
	struct page_staging *staging = intake->staging;
	int err = 0;

	staging->used = len;
	for (size_t at = 0; !err && at < len; at += intake->pages_size) {
		intake->pages = staging->pages + at;
		intake->pages_len = len - at < intake->pages_size ? len - at : intake->pages_size;
		err = add_chunk(intake, fail);
	}
	intake->pages = staging->pages;
	if (!err)
		page_staging_clear(staging);
	return err;
}

static int compress_chunk(struct intake *intake, size_t *ret_len, struct fail *fail)
{
	struct page_staging *staging = intake->staging;
	int err =
		cpu_pipe_take(intake->pipe, intake->pages, staging ? staging->size : intake->pages_size, ret_len, fail);

	if (err)
		return err;
	if (staging) {
		page_staging_fetching(staging, false);
		return compress_landed(intake, *ret_len, fail);
	}
	intake->pages_len = *ret_len;
	return add_chunk(intake, fail);
}

/* Moves `len` bytes of pages from the pipe to a stored chunk, without copying them through memory. */
static int write_stored(struct intake *intake, size_t len, struct fail *fail)
{
	struct spool *spool = intake->spool;
	char head[SPOOL_CHUNK_HEAD + FRAME_HEAD + FRAME_BLOCK_HEAD];
	size_t head_len = SPOOL_CHUNK_HEAD + FRAME_HEAD;
	int err = 0;

	spool_chunk_head(&spool->options, (uint32_t)frame_stored_size(len), (uint32_t)len, head);
	frame_stored_head(head + SPOOL_CHUNK_HEAD);
	for (size_t left = len, block; !err && left; left -= block) {
		block = left < FRAME_BLOCK_MAX ? left : FRAME_BLOCK_MAX;
		frame_stored_block(block, block == left, head + head_len);
		err = spool_put(spool, head, head_len + FRAME_BLOCK_HEAD, fail);
		if (!err)
			err = cpu_pipe_send(intake->pipe, spool->fd, block, fail);
		head_len = 0;
	}
	return err;
}

static int store_waiting(struct intake *intake, struct fail *fail)
{
	int err = flush_batch(intake, fail);

	while (!err && intake->pipe->waiting) {
		size_t waiting = intake->pipe->waiting,
		       len = waiting < intake->pages_size ? waiting : intake->pages_size;
		size_t size = SPOOL_CHUNK_HEAD + frame_stored_size(len);

		/* Pages in memory can wait until there is room for them. */
		if (intake->held && !spool_reserve(intake->spool, size)) {
			err = compress_chunk(intake, &len, fail);
			continue;
		}
		compress_or_store_stored(&intake->slack, len);
		err = write_stored(intake, len, fail);
		if (err)
			spool_cut(intake->spool);
		else
			err = spool_stored(intake->spool, size, len, fail);
		if (!err && intake->held)
			err = hold_stored(intake, size, len, fail);
		if (!err)
			err = check_room(intake, size, fail);
	}
	return err;
}

/* Whether there is time to compress the pages in the pipe. */
static bool has_time(struct intake *intake, size_t fetched)
{
	struct compress_or_store *slack = &intake->slack;
	uint64_t now = now_ns();
	bool has = compress_or_store_took(slack, fetched, now);

	if (has && compress_or_store_is_doubtful(slack) && cpu_pipe_is_ready(intake->pipe)) {
		compress_or_store_is_none(slack, now);
		has = false;
	}
	return has;
}

static int fetch(struct intake *intake, size_t *ret_fetched, struct fail *fail)
{
	int err;

	if (intake->staging)
		page_staging_fetching(intake->staging, true);
	err = cpu_pipe_fetch(intake->pipe, ret_fetched, fail);
	if (intake->staging && (err || !intake->pipe->waiting))
		page_staging_fetching(intake->staging, false);
	return err;
}

static int take_compressed(struct intake *intake, size_t *ret_taken, struct fail *fail)
{
	struct cpu_pipe *pipe = intake->pipe;
	size_t len, fetched;
	int err;

	for (;;) {
		err = fetch(intake, &fetched, fail);
		if (err)
			return err;
		if (pipe->waiting && !has_time(intake, fetched)) {
			len = pipe->waiting;
			err = store_waiting(intake, fail);
			if (!err && intake->staging)
				page_staging_fetching(intake->staging, false);
		} else {
			err = compress_chunk(intake, &len, fail);
		}
		*ret_taken += len;
		/*
		 * The pipe is empty now. Pages that arrive from now on wait: taken one by one they would become small
		 * chunks, which compress badly and cost more.
		 */
		if (err || len < intake->pages_size)
			break;
	}
	compress_or_store_empty(&intake->slack, now_ns());
	return err ? err : flush_batch(intake, fail);
}

static int take_raw(struct intake *intake, size_t *ret_taken, struct fail *fail)
{
	size_t len;
	int err;

	for (;;) {
		err = cpu_pipe_move(intake->pipe, intake->spool->fd, CHECK_SIZE, &len, fail);
		if (err || !len)
			return err;
		*ret_taken += len;
		err = spool_moved(intake->spool, len, fail);
		if (!err)
			err = check_room(intake, len, fail);
		if (err || len < CHECK_SIZE)
			return err;
	}
}

int intake_full(struct intake *intake, size_t *ret_taken, struct fail *fail)
{
	*ret_taken = 0;
	return intake->codec ? take_compressed(intake, ret_taken, fail) : take_raw(intake, ret_taken, fail);
}

int intake_rest(struct intake *intake, struct fail *fail)
{
	uint32_t page_size = intake->spool->options.shape.size;
	uint64_t max = intake->options->rest_max;
	size_t taken = 0;
	int r = 0, err;

	/* The buffer cannot become full any more. */
	intake->slack.size = 0;
	err = max ? 0 : intake_full(intake, &taken, fail);
	if (err)
		return err;
	for (taken = 0; !max || taken < max; taken += page_size) {
		r = cpu_pipe_read(intake->pipe, intake->pages + intake->pages_len, fail);
		if (r <= 0)
			break;
		intake->pages_len += page_size;
		if (intake->pages_len < intake->pages_size)
			continue;
		err = add_chunk(intake, fail);
		if (err)
			return err;
	}
	if (r < 0)
		return r;
	err = add_chunk(intake, fail);
	return err ? err : flush_batch(intake, fail);
}

int intake_now(struct intake *intake, struct fail *fail)
{
	size_t taken;
	int r, err = intake_full(intake, &taken, fail);

	if (err)
		return err;
	r = cpu_pipe_read(intake->pipe, intake->pages, fail);
	if (r <= 0)
		return r;
	taken = intake->spool->options.shape.size;
	if (intake->staging)
		return compress_landed(intake, taken, fail);
	intake->pages_len = taken;
	err = add_chunk(intake, fail);
	return err ? err : flush_batch(intake, fail);
}

int intake_landed(struct intake *intake, const struct landed *landed, struct fail *fail)
{
	int err = 0;

	for (size_t at = 0; !err && at < landed->len; at += intake->pages_len) {
		size_t left = landed->len - at, len = left < intake->pages_size ? left : intake->pages_size;

		memcpy(intake->pages, landed->pages + at, len);
		intake->pages_len = len;
		err = add_chunk(intake, fail);
		intake->pages_len = len;
	}
	intake->pages_len = 0;
	intake->lost = landed->fetching;
	return err ? err : flush_batch(intake, fail);
}
