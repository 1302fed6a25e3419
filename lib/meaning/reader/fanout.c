// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/fanout.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/pool.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/ring_internal.h"

/*
 * A thread begins to read when so many batches are free, and begins to consume beside a thread that reads when so many
 * are filled: else it would soon look for other work again.
 */
enum { FREE_TO_READ = 2, FILLED_TO_CONSUME = 2 };

/* The parts of the work: the consumers by index, and reading. */
enum { READING = FANOUT_CONSUMERS, NOTHING };

struct fanout {
	struct ring ring; /* of the thread that reads */
	const struct fanout_consumer *consumers;
	size_t nr;
	/* Protected by the lock: */
	pthread_mutex_t lock;
	pthread_cond_t work; /* there is work that nobody does, or all is done */
	unsigned waiting;    /* threads */
	bool taken[READING + 1];
	uint64_t filled, done[FANOUT_CONSUMERS]; /* numbers of batches */
	bool ended;
	int result; /* of reading */
	struct fail fail;
	struct fanout_thread {
		struct pool_job job; /* first: the job is cast to its thread */
		struct fanout *fanout;
	} threads[FANOUT_CONSUMERS];
};

/* The batches that all consumers have seen. */
static uint64_t all_done(const struct fanout *fanout)
{
	uint64_t done = fanout->filled;

	for (size_t i = 0; i < fanout->nr; i++)
		done = fanout->done[i] < done ? fanout->done[i] : done;
	return done;
}

/* Whether somebody has to read, and can. */
static bool can_read(struct fanout *fanout, bool goes_on)
{
	uint64_t done = all_done(fanout), waiting = fanout->filled - done;

	if (fanout->taken[READING] || fanout->ended)
		return false;
	ring_give_back(&fanout->ring, done);
	return ring_has_room(&fanout->ring, waiting) && (goes_on || RING_BATCHES - waiting >= FREE_TO_READ);
}

static uint64_t waits_for(const struct fanout *fanout, size_t consumer)
{
	return fanout->taken[consumer] ? 0 : fanout->filled - fanout->done[consumer];
}

/* What a thread does next, which has done `last` and put it down: the same while it can. The lock is held. */
static unsigned choose(struct fanout *fanout, unsigned last)
{
	unsigned most = NOTHING;

	if (last < READING && waits_for(fanout, last))
		return last;
	if (last == READING && can_read(fanout, true))
		return READING;
	for (unsigned i = 0; i < fanout->nr; i++)
		if (waits_for(fanout, i) >= (fanout->taken[READING] ? FILLED_TO_CONSUME : 1) &&
		    (most == NOTHING || waits_for(fanout, i) > waits_for(fanout, most)))
			most = i;
	return most == NOTHING && can_read(fanout, false) ? READING : most;
}

static bool is_done(const struct fanout *fanout)
{
	return fanout->ended && all_done(fanout) == fanout->filled;
}

/* Without the lock, which is held before and after. */
static void work(struct fanout *fanout, unsigned part)
{
	uint64_t number = part == READING ? fanout->filled : fanout->done[part];
	const struct ring_batch *batch = ring_at(&fanout->ring, number);
	int r = 1;

	pthread_mutex_unlock(&fanout->lock);
	if (part == READING)
		r = ring_fill(&fanout->ring, number, &fanout->fail);
	else
		fanout->consumers[part].see(fanout->consumers[part].arg, batch->events, (size_t)batch->len);
	pthread_mutex_lock(&fanout->lock);
	if (part != READING) {
		fanout->done[part]++;
		return;
	}
	fanout->filled++;
	fanout->ended = r <= 0;
	fanout->result = r < 0 ? r : 0;
}

static void take_part(struct fanout *fanout)
{
	unsigned part = NOTHING;

	pthread_mutex_lock(&fanout->lock);
	while (!is_done(fanout)) {
		part = choose(fanout, part);
		if (part == NOTHING) {
			fanout->waiting++;
			pthread_cond_wait(&fanout->work, &fanout->lock);
			fanout->waiting--;
			continue;
		}
		fanout->taken[part] = true;
		if (fanout->waiting && choose(fanout, NOTHING) != NOTHING)
			pthread_cond_signal(&fanout->work);
		work(fanout, part);
		fanout->taken[part] = false;
	}
	pthread_cond_broadcast(&fanout->work);
	pthread_mutex_unlock(&fanout->lock);
}

static void run(struct pool_job *job)
{
	take_part(((struct fanout_thread *)job)->fanout);
}

static int take_parts(struct fanout *fanout, unsigned threads, struct fail *fail)
{
	struct pool *pool = NULL;
	int r = pool_new(threads, &pool, fail);

	if (r)
		return r;
	for (unsigned i = 0; i < threads; i++) {
		fanout->threads[i] = (struct fanout_thread){ .job.run = run, .fanout = fanout };
		pool_submit_first(pool, &fanout->threads[i].job);
	}
	take_part(fanout);
	for (unsigned i = 0; i < threads; i++)
		pool_wait(pool, &fanout->threads[i].job);
	pool_free(pool);
	return fanout->result ? fail_set(fail, fanout->result, "%s", fanout->fail.text) : 0;
}

int fanout_run(struct reader *reader, const struct fanout_consumer *consumers, size_t nr, struct fail *fail)
{
	struct fanout fanout = { .consumers = consumers, .nr = nr };
	unsigned threads = reader->ahead < nr ? reader->ahead : (unsigned)nr;
	int r = ring_init(&fanout.ring, reader, fail);

	assert(reader->ahead && nr && nr <= FANOUT_CONSUMERS);
	pthread_mutex_init(&fanout.lock, NULL);
	pthread_cond_init(&fanout.work, NULL);
	if (!r)
		r = take_parts(&fanout, threads, fail);
	ring_give_back(&fanout.ring, fanout.filled);
	ring_release(&fanout.ring);
	pthread_cond_destroy(&fanout.work);
	pthread_mutex_destroy(&fanout.lock);
	return r;
}
