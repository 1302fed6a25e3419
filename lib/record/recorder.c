// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/record/recorder.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include "lib/base/cpus.h"
#include "lib/base/io.h"
#include "lib/base/now.h"
#include "lib/codec/frame.h"
#include "lib/record/held_internal.h"
#include "lib/record/slack_internal.h"
#include "lib/record/urgency.h"

enum {
	BATCH_SIZE = 256 * 1024,    /* bytes of compressed chunks that are collected before a write */
	CHECK_SIZE = 1024 * 1024,   /* bytes written between two checks of the free space */
	CHUNKS_TOGETHER = 16 << 20, /* bytes of the chunks of all CPUs together, one chunk of each */
	NAP_MS = 10,                /* for kernels that wake readers before there is a full sub-buffer */
};

/* The state of the recorder's thread. */
struct work {
	struct recorder *recorder;
	struct frame_writer *codec; /* NULL: pages are not compressed */
	char *pages;
	size_t pages_len, pages_size;
	char *batch;
	size_t batch_len, batch_size;
	uint32_t batch_chunks;
	struct slack slack;
	size_t stored_max; /* the most bytes of pages in one stored chunk */
	uint64_t batch_raw;
	char *ends; /* for a spool in memory: the first and the last page of a chunk */
	uint64_t unchecked;
};

static void work_release(struct work *work)
{
	frame_writer_free(work->codec);
	free(work->pages);
	free(work->batch);
	free(work->ends);
}

/*
 * The bytes of pages in a chunk. A reader of the file holds one chunk of each CPU in memory, so chunks are small if
 * there are many CPUs.
 */
static size_t chunk_size(uint32_t page_size)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	size_t pages = CHUNKS_TOGETHER / (cpus < 1 ? 1 : (size_t)cpus) / page_size;

	return page_size * (pages < 1 ? 1 : pages > SPOOL_CHUNK_PAGES ? SPOOL_CHUNK_PAGES : pages);
}

static int work_init(struct work *work, struct recorder *recorder, struct fail *fail)
{
	*work = (struct work){ .recorder = recorder };
	/* A full buffer is as it should be if it is read only when asked for. */
	work->slack = slack_of(recorder->options.when_asked ? 0 : recorder->options.buffer_size,
			       recorder->options.percent, recorder->options.store_spare, now_ns());
	work->pages_size = chunk_size(recorder->spool.options.shape.size);
	work->stored_max = spool_stored_max(&recorder->spool.options, work->pages_size);
	work->pages = malloc(work->pages_size);
	work->batch_size = BATCH_SIZE + SPOOL_CHUNK_HEAD + frame_bound(work->pages_size);
	work->batch = malloc(work->batch_size);
	if (recorder->held)
		work->ends = malloc(2 * (size_t)recorder->spool.options.shape.size);
	if (!work->pages || !work->batch || (recorder->held && !work->ends))
		return fail_memory(fail);
	return recorder->spool.options.compressed ? frame_writer_new(recorder->options.level, &work->codec, fail) : 0;
}

/* Ends the recording while there is still enough free space to finish its file. */
static int check_room(struct work *work, size_t written, struct fail *fail)
{
	const struct recorder *recorder = work->recorder;
	uint64_t need = spool_size(&recorder->spool) + recorder->options.keep_free;
	struct statvfs vfs;

	if (!recorder->options.copied_there)
		return 0;
	work->unchecked += written;
	if (work->unchecked < CHECK_SIZE || fstatvfs(recorder->spool.fd, &vfs))
		return 0;
	work->unchecked = 0;
	if ((uint64_t)vfs.f_bavail * vfs.f_frsize >= need)
		return 0;
	return fail_set(fail, -ENOSPC, "the only disk space left is what finishing the file needs");
}

/* Tells what a spool in memory holds about a chunk that did not pass through memory: its pages are read back. */
static int hold_stored(struct work *work, size_t size, size_t raw, struct fail *fail)
{
	const struct spool *spool = &work->recorder->spool;
	size_t page_size = spool->options.shape.size;
	uint64_t first = spool->end - size + SPOOL_CHUNK_HEAD + FRAME_HEAD + FRAME_BLOCK_HEAD;
	ssize_t got = io_pread(spool->fd, work->ends, page_size, first);

	if (got == (ssize_t)page_size)
		got = io_pread(spool->fd, work->ends + page_size, page_size, spool->end - page_size);
	if (got != (ssize_t)page_size)
		return fail_set(fail, got < 0 ? (int)got : -EIO, "cannot read back a spool");
	return held_cpu_add(work->recorder->held, spool->end - size, (uint32_t)size, (uint32_t)raw,
			    &spool->options.shape, work->ends, work->ends + page_size, fail);
}

/* Writes a batch of one chunk, whose pages are still there, to a spool in memory. */
static int append_held(struct work *work, struct fail *fail)
{
	struct spool *spool = &work->recorder->spool;
	size_t raw = (size_t)work->batch_raw;

	return held_cpu_append(work->recorder->held, spool, work->batch, (uint32_t)work->batch_len, (uint32_t)raw,
			       work->pages, work->pages + raw - spool->options.shape.size, fail);
}

static int flush_batch(struct work *work, struct fail *fail)
{
	size_t len = work->batch_len;
	int err;

	if (!len)
		return 0;
	err = work->recorder->held ?
		      append_held(work, fail) :
		      spool_append(&work->recorder->spool, work->batch, len, work->batch_chunks, work->batch_raw, fail);
	work->batch_len = 0;
	work->batch_chunks = 0;
	work->batch_raw = 0;
	return err ? err : check_room(work, len, fail);
}

/* Compresses the pages in memory to a chunk and adds it to the batch. */
static int add_chunk(struct work *work, struct fail *fail)
{
	const struct spool_options *options = &work->recorder->spool.options;
	char *at = work->batch + work->batch_len;
	size_t len = work->pages_len;
	int err;

	if (!len)
		return 0;
	work->pages_len = 0;
	if (work->codec) {
		size_t room = work->batch_size - work->batch_len - SPOOL_CHUNK_HEAD, size;

		err = frame_write(work->codec, work->pages, len, at + SPOOL_CHUNK_HEAD, room, &size, fail);
		if (err)
			return err;
		spool_chunk_head(options, (uint32_t)size, (uint32_t)len, at);
		work->batch_len += SPOOL_CHUNK_HEAD + size;
		work->batch_chunks++;
	} else {
		memcpy(at, work->pages, len);
		work->batch_len += len;
	}
	work->batch_raw += len;
	return work->recorder->held || work->batch_len >= BATCH_SIZE ? flush_batch(work, fail) : 0;
}

static int compress_chunk(struct work *work, size_t *ret_len, struct fail *fail)
{
	int err = cpu_pipe_take(&work->recorder->pipe, work->pages, work->pages_size, ret_len, fail);

	if (err)
		return err;
	work->pages_len = *ret_len;
	return add_chunk(work, fail);
}

/* Moves `len` bytes of pages from the pipe to a stored chunk, without copying them through memory. */
static int write_stored(struct work *work, size_t len, struct fail *fail)
{
	struct recorder *recorder = work->recorder;
	struct spool *spool = &recorder->spool;
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
			err = cpu_pipe_send(&recorder->pipe, spool->fd, block, fail);
		head_len = 0;
	}
	return err;
}

static int store_waiting(struct work *work, struct fail *fail)
{
	struct recorder *recorder = work->recorder;
	int err = flush_batch(work, fail);

	while (!err && recorder->pipe.waiting) {
		size_t waiting = recorder->pipe.waiting, len = waiting < work->stored_max ? waiting : work->stored_max;
		size_t size = SPOOL_CHUNK_HEAD + frame_stored_size(len);

		/* Pages in memory can wait until there is room for them. */
		if (recorder->held && !spool_reserve(&recorder->spool, size)) {
			err = compress_chunk(work, &len, fail);
			continue;
		}
		slack_stored(&work->slack, len);
		err = write_stored(work, len, fail);
		if (err)
			spool_cut(&recorder->spool);
		else
			err = spool_stored(&recorder->spool, size, len, fail);
		if (!err && recorder->held)
			err = hold_stored(work, size, len, fail);
		if (!err)
			err = check_room(work, size, fail);
	}
	return err;
}

/* Whether there is time to compress the pages in the pipe. */
static bool has_time(struct work *work, size_t fetched)
{
	struct slack *slack = &work->slack;
	uint64_t now = now_ns();
	bool has = slack_took(slack, fetched, now);

	if (has && slack_is_doubtful(slack) && cpu_pipe_is_ready(&work->recorder->pipe)) {
		slack_is_none(slack, now);
		has = false;
	}
	return has;
}

static int take_compressed(struct work *work, size_t *ret_taken, struct fail *fail)
{
	struct cpu_pipe *pipe = &work->recorder->pipe;
	size_t len, fetched;
	int err;

	for (;;) {
		err = cpu_pipe_fetch(pipe, &fetched, fail);
		if (err)
			return err;
		if (pipe->waiting && !has_time(work, fetched)) {
			len = pipe->waiting;
			err = store_waiting(work, fail);
		} else {
			err = compress_chunk(work, &len, fail);
		}
		*ret_taken += len;
		/*
		 * The pipe is empty now. Pages that arrive from now on wait: taken one by one they would become small
		 * chunks, which compress badly and cost more.
		 */
		if (err || len < work->pages_size)
			break;
	}
	slack_empty(&work->slack, now_ns());
	return err ? err : flush_batch(work, fail);
}

static int take_raw(struct work *work, size_t *ret_taken, struct fail *fail)
{
	struct recorder *recorder = work->recorder;
	size_t len;
	int err;

	for (;;) {
		err = cpu_pipe_move(&recorder->pipe, recorder->spool.fd, CHECK_SIZE, &len, fail);
		if (err || !len)
			return err;
		*ret_taken += len;
		err = spool_moved(&recorder->spool, len, fail);
		if (!err)
			err = check_room(work, len, fail);
		if (err || len < CHECK_SIZE)
			return err;
	}
}

/* Takes all sub-buffers that are full now. */
static int take_full(struct work *work, size_t *ret_taken, struct fail *fail)
{
	*ret_taken = 0;
	return work->codec ? take_compressed(work, ret_taken, fail) : take_raw(work, ret_taken, fail);
}

/* Takes the rest of the buffer, after tracing was turned off. */
static int take_rest(struct work *work, struct fail *fail)
{
	uint32_t page_size = work->recorder->spool.options.shape.size;
	uint64_t max = work->recorder->options.rest_max;
	size_t taken = 0;
	int r = 0, err;

	/* The buffer cannot become full any more. */
	work->slack.size = 0;
	err = max ? 0 : take_full(work, &taken, fail);
	if (err)
		return err;
	for (taken = 0; !max || taken < max; taken += page_size) {
		r = cpu_pipe_read(&work->recorder->pipe, work->pages + work->pages_len, fail);
		if (r <= 0)
			break;
		work->pages_len += page_size;
		if (work->pages_len < work->pages_size)
			continue;
		err = add_chunk(work, fail);
		if (err)
			return err;
	}
	if (r < 0)
		return r;
	err = add_chunk(work, fail);
	return err ? err : flush_batch(work, fail);
}

/*
 * Takes the full sub-buffers and the partly filled one. It reads that one only once, because reading it may cause
 * events.
 */
static int take_now(struct work *work, struct fail *fail)
{
	size_t taken;
	int r, err = take_full(work, &taken, fail);

	if (err)
		return err;
	r = cpu_pipe_read(&work->recorder->pipe, work->pages, fail);
	if (r <= 0)
		return r;
	work->pages_len = work->recorder->spool.options.shape.size;
	err = add_chunk(work, fail);
	return err ? err : flush_batch(work, fail);
}

/* Flushes the buffer if it is time to, and sets the time of the next flush. *timeout_ms: time until then. */
static int take_on(struct work *work, int *timeout_ms, uint64_t *due_ns, struct fail *fail)
{
	uint64_t flush_ms = (uint64_t)work->recorder->options.flush_ms, now = now_ns();
	int err = 0;

	if (now >= *due_ns) {
		err = take_now(work, fail);
		*due_ns = now + flush_ms * 1000000;
	}
	*timeout_ms = (int)((*due_ns - now) / 1000000) + 1;
	return err;
}

/* Does what the recorder was woken for. 1: it shall end; 0: it goes on; -errno. */
static int heed(struct work *work, struct fail *fail)
{
	struct recorder *recorder = work->recorder;
	struct held_cpu *held = recorder->held;
	enum held_request request = held ? held_cpu_heed(held) : HELD_STOP;
	int err = 0;

	if (request == HELD_FLUSH) {
		err = take_now(work, fail);
		ring_watch_look(&recorder->watch, 0);
		__atomic_store_n(&recorder->overrun, recorder->watch.last.overrun, __ATOMIC_RELAXED);
		held_cpu_flushed(held);
	}
	return err ? err : request == HELD_STOP;
}

static int record_until_stop(struct work *work, struct fail *fail)
{
	struct recorder *recorder = work->recorder;
	struct pollfd stop = { .fd = recorder->held ? held_cpu_fd(recorder->held) : recorder->options.stop_fd,
			       .events = POLLIN };
	int r, err = 0, timeout_ms = -1;
	uint64_t due_ns = 0;
	size_t taken;

	for (;;) {
		if (recorder->options.flush_ms)
			err = take_on(work, &timeout_ms, &due_ns, fail);
		if (err)
			return err;
		r = cpu_pipe_wait(&recorder->pipe, stop.fd, timeout_ms, fail);
		if (r < 0)
			return r;
		err = r ? take_full(work, &taken, fail) : 0;
		if (err)
			return err;
		if (r && taken)
			continue;
		if (poll(&stop, 1, r ? NAP_MS : 0) > 0)
			err = heed(work, fail);
		if (err)
			return err < 0 ? err : 0;
	}
}

static int wait_until_stop(struct work *work, struct fail *fail)
{
	struct pollfd asked = { .fd = held_cpu_fd(work->recorder->held), .events = POLLIN };
	int r = 0;

	while (!r) {
		if (poll(&asked, 1, -1) < 0 && errno != EINTR)
			return fail_set(fail, -errno, "cannot wait to be asked: %s", strerror(errno));
		r = heed(work, fail);
	}
	return r < 0 ? r : 0;
}

static int record(struct recorder *recorder, bool only_rest, struct fail *fail)
{
	struct work work;
	int err = work_init(&work, recorder, fail);

	if (!err && !only_rest)
		err = recorder->options.when_asked ? wait_until_stop(&work, fail) : record_until_stop(&work, fail);
	/* What is held was written to a file before. */
	if (!err && !recorder->held)
		err = take_rest(&work, fail);
	work_release(&work);
	return err;
}

static int run_on(const struct cpus *cpus, struct fail *fail)
{
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	int err = 0;

	if (!set)
		return fail_memory(fail);
	CPU_ZERO_S(size, set);
	for (int cpu = cpus_next(cpus, 0); cpu >= 0; cpu = cpus_next(cpus, cpu + 1))
		CPU_SET_S((size_t)cpu, size, set);
	if (sched_setaffinity(0, size, set))
		err = fail_set(fail, -errno, "a recorder cannot run on these CPUs: %s",
			       errno == EINVAL ? "none of these CPUs is online" : strerror(errno));
	CPU_FREE(set);
	return err;
}

static int place(const struct recorder_options *options, struct fail *fail)
{
	const struct sched_param param = { .sched_priority = options->priority };
	int err = options->run_on ? run_on(options->run_on, fail) : 0;

	urgency_raise(URGENCY_RECORDER);
	if (!err && options->priority && sched_setscheduler(0, SCHED_FIFO, &param))
		err = fail_set(fail, -errno, "a recorder cannot have the priority %d: %s", options->priority,
			       strerror(errno));
	return err;
}

struct start {
	struct recorder *recorder;
	sem_t started;
	int err;
	struct fail fail;
};

static void *recorder_main(void *data)
{
	struct start *start = data;
	struct recorder *recorder = start->recorder;
	int err;

	recorder->tid = (pid_t)syscall(SYS_gettid);
	err = start->err = place(&recorder->options, &start->fail);
	sem_post(&start->started); /* `start` is invalid from here on */
	if (err)
		return NULL;
	recorder->err = record(recorder, false, &recorder->fail);
	if (recorder->err) {
		fail_in(&recorder->fail, recorder->err, "CPU %u", recorder->cpu);
		io_nudge(recorder->options.failed_fd);
	}
	return NULL;
}

int recorder_start(struct recorder *recorder, struct fail *fail)
{
	struct start start = { .recorder = recorder };
	int err;

	sem_init(&start.started, 0, 0);
	err = pthread_create(&recorder->thread, NULL, recorder_main, &start);
	if (err) {
		err = fail_set(fail, -err, "cannot start a thread: %s", strerror(err));
		recorder_release(recorder);
	} else {
		recorder->started = true;
		(void)io_again(sem_wait(&start.started));
		err = start.err;
		if (err)
			fail_set(fail, err, "%s", start.fail.text);
	}
	sem_destroy(&start.started);
	return err;
}

void recorder_join(struct recorder *recorder)
{
	if (!recorder->started)
		return;
	pthread_join(recorder->thread, NULL);
	recorder->started = false;
}

void recorder_release(struct recorder *recorder)
{
	cpu_pipe_close(&recorder->pipe);
	ring_watch_close(&recorder->watch);
	spool_release(&recorder->spool);
}

int recorder_drain(struct recorder *recorder, struct fail *fail)
{
	return record(recorder, true, fail);
}
