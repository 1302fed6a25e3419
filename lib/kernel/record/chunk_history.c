// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/chunk_history_internal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/spool.h"
#include "lib/pages/ring/page.h"

enum {
	PUNCH_STEP = 64 << 10, /* bytes that are given back at once */
};

struct chunk {
	uint64_t offset, first, last;
	uint32_t size, raw;
};

struct chunk_history_cpu {
	struct chunk_history *held;
	uint32_t buffer, cpu;
	int fd, wake_fd;
	bool asked;
	struct chunk *chunks; /* those from `begin` on are held */
	size_t begin, nr;
	uint64_t bytes, raw;
	uint64_t dropped; /* bytes of pages */
	uint64_t punched; /* the spool has nothing before the block of this offset */
	uint64_t end;     /* of the last chunk */
	/* the chunks from this offset on are being written; UINT64_MAX: none */
	uint64_t written_from;
	uint64_t since;
};

struct chunk_history {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t span, max;
	uint64_t bytes, newest, keep_from;
	struct chunk_history_cpu **cpus;
	size_t nr_cpus;
	size_t unanswered; /* recorders that were asked to flush and have not done so */
	bool overwrites;   /* the kernel drops what is old before it is read */
	uint64_t crowded;  /* of struct chunk_history_piece */
	bool stopping;
};

int chunk_history_new(uint64_t span, uint64_t max, bool overwrites, struct chunk_history **ret, struct fail *fail)
{
	struct chunk_history *held = calloc(1, sizeof(*held));
	pthread_condattr_t attr;

	if (!held)
		return fail_memory(fail);
	*held = (struct chunk_history){ .span = span, .max = max, .overwrites = overwrites, .keep_from = UINT64_MAX };
	pthread_mutex_init(&held->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&held->changed, &attr);
	pthread_condattr_destroy(&attr);
	*ret = held;
	return 0;
}

void chunk_history_free(struct chunk_history *held)
{
	if (!held)
		return;
	for (size_t i = 0; i < held->nr_cpus; i++) {
		cleanup_fd_close(&held->cpus[i]->wake_fd);
		free(held->cpus[i]->chunks);
		free(held->cpus[i]);
	}
	free(held->cpus);
	pthread_cond_destroy(&held->changed);
	pthread_mutex_destroy(&held->lock);
	free(held);
}

int chunk_history_add_cpu(struct chunk_history *held, uint32_t buffer, uint32_t number, int fd, uint64_t since,
			  struct chunk_history_cpu **ret, struct fail *fail)
{
	struct chunk_history_cpu *cpu = calloc(1, sizeof(*cpu)), **added;

	if (!cpu)
		return fail_memory(fail);
	*cpu = (struct chunk_history_cpu){ .held = held,
					   .buffer = buffer,
					   .cpu = number,
					   .fd = fd,
					   .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
					   .written_from = UINT64_MAX,
					   .since = since };
	if (cpu->wake_fd < 0) {
		free(cpu);
		return fail_set(fail, -errno, "cannot make an eventfd: %s", strerror(errno));
	}
	pthread_mutex_lock(&held->lock);
	added = vec_push(held->cpus, held->nr_cpus);
	if (added)
		*added = cpu;
	pthread_mutex_unlock(&held->lock);
	if (!added) {
		close(cpu->wake_fd);
		free(cpu);
		return fail_memory(fail);
	}
	*ret = cpu;
	return 0;
}

int chunk_history_cpu_fd(const struct chunk_history_cpu *cpu)
{
	return cpu->wake_fd;
}

enum chunk_history_request chunk_history_cpu_heed(struct chunk_history_cpu *cpu)
{
	enum chunk_history_request request;
	uint64_t count;

	if (read(cpu->wake_fd, &count, sizeof(count)) < 0)
		return CHUNK_HISTORY_NOTHING;
	pthread_mutex_lock(&cpu->held->lock);
	request = cpu->held->stopping ? CHUNK_HISTORY_STOP : cpu->asked ? CHUNK_HISTORY_FLUSH : CHUNK_HISTORY_NOTHING;
	pthread_mutex_unlock(&cpu->held->lock);
	return request;
}

void chunk_history_cpu_flushed(struct chunk_history_cpu *cpu)
{
	struct chunk_history *held = cpu->held;

	pthread_mutex_lock(&held->lock);
	if (cpu->asked) {
		cpu->asked = false;
		held->unanswered--;
		pthread_cond_broadcast(&held->changed);
	}
	pthread_mutex_unlock(&held->lock);
}

/* Gives the memory before the first chunk that is held back to the kernel, in steps. */
static void punch(struct chunk_history_cpu *cpu, uint64_t step)
{
	uint64_t begin = cpu->begin == cpu->nr ? cpu->end : cpu->chunks[cpu->begin].offset;
	if (begin < cpu->punched + step)
		return;
	/* A failure costs memory and nothing else. */
	if (!spool_give_up(cpu->fd, cpu->punched, begin, cpu->dropped, NULL))
		cpu->punched = begin;
}

static bool can_drop(const struct chunk_history_cpu *cpu)
{
	return cpu->begin < cpu->nr && cpu->chunks[cpu->begin].offset < cpu->written_from;
}

/* Drops the oldest chunk. */
static void drop(struct chunk_history_cpu *cpu)
{
	const struct chunk *chunk = &cpu->chunks[cpu->begin++];

	cpu->since = chunk->last > cpu->since ? chunk->last : cpu->since;
	cpu->bytes -= chunk->size;
	cpu->raw -= chunk->raw;
	cpu->dropped += chunk->raw;
	cpu->held->bytes -= chunk->size;
}

/* Drops what is older than the span. */
static void drop_old(struct chunk_history *held)
{
	uint64_t floor = held->newest > held->span ? held->newest - held->span : 0;

	floor = floor < held->keep_from ? floor : held->keep_from;
	for (size_t i = 0; i < held->nr_cpus; i++)
		while (can_drop(held->cpus[i]) && held->cpus[i]->chunks[held->cpus[i]->begin].last < floor)
			drop(held->cpus[i]);
}

/* Drops the oldest chunks of all until the rest is small enough. */
static void drop_much(struct chunk_history *held, uint64_t max)
{
	while (held->bytes > max) {
		struct chunk_history_cpu *oldest = NULL;

		for (size_t i = 0; i < held->nr_cpus; i++) {
			struct chunk_history_cpu *cpu = held->cpus[i];

			if (can_drop(cpu) &&
			    (!oldest || cpu->chunks[cpu->begin].last < oldest->chunks[oldest->begin].last))
				oldest = cpu;
		}
		if (!oldest)
			return;
		drop(oldest);
	}
}

static void drop_all(struct chunk_history *held)
{
	drop_old(held);
	drop_much(held, held->max);
	for (size_t i = 0; i < held->nr_cpus; i++)
		punch(held->cpus[i], PUNCH_STEP);
}

/* Moves the list to the front of its memory when most of it is dropped chunks. */
static void compact(struct chunk_history_cpu *cpu)
{
	size_t left = cpu->nr - cpu->begin;

	if (cpu->begin < 64 || cpu->begin < left)
		return;
	memmove(cpu->chunks, cpu->chunks + cpu->begin, left * sizeof(*cpu->chunks));
	cpu->nr = left;
	cpu->begin = 0;
}

/* The times of the first and the last event, and whether events were lost before them. */
static int page_times(const struct page_shape *shape, const void *data, uint64_t *ret_first, uint64_t *ret_last,
		      bool *ret_lost, struct fail *fail)
{
	struct record record;
	struct page page;
	int r = page_init(&page, shape, data, shape->size, fail);

	if (r)
		return r;
	*ret_first = *ret_last = page.ts;
	*ret_lost = page.lost != PAGE_LOST_NONE;
	for (bool first = true; (r = page_next(&page, &record, fail)) > 0; first = false) {
		*ret_first = first ? record.ts : *ret_first;
		*ret_last = record.ts;
	}
	return r;
}

int chunk_history_cpu_add(struct chunk_history_cpu *cpu, uint64_t offset, uint32_t size, uint32_t raw,
			  const struct page_shape *shape, const void *first, const void *last, struct fail *fail)
{
	struct chunk_history *held = cpu->held;
	uint64_t begin = 0, end = 0, ignored;
	struct chunk *added = NULL;
	bool lost, ignored_too;
	int err = page_times(shape, first, &begin, &ignored, &lost, fail);

	if (!err)
		err = page_times(shape, last, &ignored, &end, &ignored_too, fail);
	if (err)
		return err;
	pthread_mutex_lock(&held->lock);
	compact(cpu);
	added = vec_push(cpu->chunks, cpu->nr);
	if (added) {
		*added = (struct chunk){ offset, begin, end, size, raw };
		cpu->bytes += size;
		cpu->raw += raw;
		cpu->end = offset + size;
		held->bytes += size;
		held->newest = end > held->newest ? end : held->newest;
		if (lost && held->overwrites && begin > cpu->since)
			cpu->since = begin;
		drop_all(held);
		/* Chunks that are being written cannot be dropped. The kernel marks what it loses meanwhile. */
		while (held->bytes > CHUNK_HISTORY_OVER * held->max && !held->stopping && !cpu->asked)
			pthread_cond_wait(&held->changed, &held->lock);
	}
	pthread_mutex_unlock(&held->lock);
	return added ? 0 : fail_memory(fail);
}

static bool is_written(const struct chunk_history *held)
{
	for (size_t i = 0; i < held->nr_cpus; i++)
		if (held->cpus[i]->written_from != UINT64_MAX)
			return true;
	return false;
}

/* Drops the oldest chunks, of at least `need` bytes if there are so many. False: there was none. */
static bool make_room(struct chunk_history_cpu *cpu, uint64_t need)
{
	struct chunk_history *held = cpu->held;
	uint64_t before, left;

	pthread_mutex_lock(&held->lock);
	/* Blocks are given back as a whole. */
	need += held->nr_cpus * SPOOL_BLOCK;
	while (is_written(held) && !held->stopping && !cpu->asked)
		pthread_cond_wait(&held->changed, &held->lock);
	before = held->bytes;
	drop_much(held, before > need ? before - need : 0);
	left = held->bytes;
	held->crowded += before - left;
	for (size_t i = 0; left < before && i < held->nr_cpus; i++)
		punch(held->cpus[i], SPOOL_BLOCK);
	pthread_mutex_unlock(&held->lock);
	return left < before;
}

/* What is held of the CPU begins after this page. */
static int lose(struct chunk_history_cpu *cpu, uint32_t raw, const struct page_shape *shape, const void *last,
		struct fail *fail)
{
	uint64_t begin, end = 0;
	bool lost;
	int err = page_times(shape, last, &begin, &end, &lost, fail);

	if (err)
		return err;
	pthread_mutex_lock(&cpu->held->lock);
	while (can_drop(cpu))
		drop(cpu);
	cpu->since = end > cpu->since ? end : cpu->since;
	cpu->held->crowded += raw;
	pthread_mutex_unlock(&cpu->held->lock);
	return 0;
}

int chunk_history_cpu_append(struct chunk_history_cpu *cpu, struct spool *spool, const void *chunk, uint32_t size,
			     uint32_t raw, const void *first, const void *last, struct fail *fail)
{
	const struct page_shape *shape = &spool->options.shape;
	int err;

	do
		err = spool_append(spool, chunk, size, 1, raw, fail);
	while ((err == -ENOSPC || err == -ENOMEM) && make_room(cpu, size));
	if (err == -ENOSPC || err == -ENOMEM)
		return lose(cpu, raw, shape, last, fail);
	return err ? err : chunk_history_cpu_add(cpu, spool->end - size, size, raw, shape, first, last, fail);
}

static void wake_all(const struct chunk_history *held)
{
	for (size_t i = 0; i < held->nr_cpus; i++)
		io_nudge(held->cpus[i]->wake_fd);
}

bool chunk_history_flush(struct chunk_history *held, unsigned timeout_ms)
{
	struct timespec until;
	bool all;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= NS_PER_S) {
		until.tv_sec++;
		until.tv_nsec -= NS_PER_S;
	}
	pthread_mutex_lock(&held->lock);
	for (size_t i = 0; i < held->nr_cpus; i++) {
		held->unanswered += !held->cpus[i]->asked;
		held->cpus[i]->asked = true;
	}
	pthread_cond_broadcast(&held->changed);
	wake_all(held);
	while (held->unanswered && !held->stopping)
		if (pthread_cond_timedwait(&held->changed, &held->lock, &until) == ETIMEDOUT)
			break;
	all = !held->unanswered;
	pthread_mutex_unlock(&held->lock);
	return all;
}

void chunk_history_stop(struct chunk_history *held)
{
	pthread_mutex_lock(&held->lock);
	held->stopping = true;
	pthread_cond_broadcast(&held->changed);
	wake_all(held);
	pthread_mutex_unlock(&held->lock);
}

void chunk_history_keep_from(struct chunk_history *held, uint64_t from)
{
	pthread_mutex_lock(&held->lock);
	held->keep_from = from;
	pthread_mutex_unlock(&held->lock);
}

static struct chunk_history_piece piece_of(const struct chunk_history_cpu *cpu, uint64_t from, uint64_t to)
{
	struct chunk_history_piece piece = { .buffer = cpu->buffer,
					     .cpu = cpu->cpu,
					     .fd = cpu->fd,
					     .since = cpu->since,
					     .crowded = cpu->held->crowded };

	for (size_t i = cpu->begin; i < cpu->nr; i++) {
		const struct chunk *chunk = &cpu->chunks[i];

		if (chunk->last < from || chunk->first > to)
			continue;
		if (!piece.chunks++) {
			piece.offset = chunk->offset;
			piece.first = chunk->first;
		}
		piece.last = chunk->last;
		piece.last_offset = chunk->offset;
		piece.raw += chunk->raw;
		piece.size = chunk->offset + chunk->size - piece.offset;
	}
	return piece;
}

static int list_pieces(const struct chunk_history *held, uint64_t from, uint64_t to, struct chunk_history_piece **ret,
		       size_t *ret_nr, struct fail *fail)
{
	struct chunk_history_piece *pieces = calloc(held->nr_cpus + 1, sizeof(*pieces));

	if (!pieces)
		return fail_memory(fail);
	for (size_t i = 0; i < held->nr_cpus; i++)
		pieces[i] = piece_of(held->cpus[i], from, to);
	*ret = pieces;
	*ret_nr = held->nr_cpus;
	return 0;
}

int chunk_history_take(struct chunk_history *held, uint64_t *from, uint64_t to, bool ragged,
		       struct chunk_history_piece **ret, size_t *ret_nr, struct fail *fail)
{
	uint64_t whole = *from;
	int err;

	pthread_mutex_lock(&held->lock);
	for (size_t i = 0; i < held->nr_cpus; i++)
		whole = held->cpus[i]->since > whole ? held->cpus[i]->since : whole;
	/* What was dropped after `to` leaves nothing that all CPUs have. */
	whole = whole < to ? whole : to;
	err = list_pieces(held, ragged ? *from : whole, to, ret, ret_nr, fail);
	for (size_t i = 0; !err && i < held->nr_cpus; i++)
		if ((*ret)[i].chunks)
			held->cpus[i]->written_from = (*ret)[i].offset;
	pthread_mutex_unlock(&held->lock);
	*from = whole;
	return err;
}

int chunk_history_look(struct chunk_history *held, struct chunk_history_piece **ret, size_t *ret_nr, struct fail *fail)
{
	int err;

	pthread_mutex_lock(&held->lock);
	err = list_pieces(held, 0, UINT64_MAX, ret, ret_nr, fail);
	pthread_mutex_unlock(&held->lock);
	return err;
}

void chunk_history_written(struct chunk_history *held)
{
	pthread_mutex_lock(&held->lock);
	for (size_t i = 0; i < held->nr_cpus; i++)
		held->cpus[i]->written_from = UINT64_MAX;
	drop_all(held);
	pthread_cond_broadcast(&held->changed);
	pthread_mutex_unlock(&held->lock);
}
