// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/reader/relay.h"

#include "lib/base/fail.h"
#include "lib/base/pool.h"
#include "lib/reader/reader.h"
#include "lib/reader/ring_internal.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

/*
 * A thread begins to read when so many batches are free, and begins to consume beside a thread that reads when so many
 * are filled: else it would soon look for other work again.
 */
enum { FREE_TO_READ = 2, FILLED_TO_CONSUME = 2 };

/* The parts of the work: the consumers by index, and reading. */
enum { READING = RELAY_CONSUMERS, NOTHING };

struct relay {
	struct ring ring; /* of the thread that reads */
	const struct relay_consumer *consumers;
	size_t nr;
	/* Protected by the lock: */
	pthread_mutex_t lock;
	pthread_cond_t work; /* there is work that nobody does, or all is done */
	unsigned waiting;    /* threads */
	bool taken[READING + 1];
	uint64_t filled, done[RELAY_CONSUMERS]; /* numbers of batches */
	bool ended;
	int result; /* of reading */
	struct fail fail;
	struct relay_thread {
		struct pool_job job; /* first: the job is cast to its thread */
		struct relay *relay;
	} threads[RELAY_CONSUMERS];
};

/* The batches that all consumers have seen. */
static uint64_t all_done(const struct relay *relay)
{
	uint64_t done = relay->filled;

	for (size_t i = 0; i < relay->nr; i++)
		done = relay->done[i] < done ? relay->done[i] : done;
	return done;
}

/* Whether somebody has to read, and can. */
static bool can_read(struct relay *relay, bool goes_on)
{
	uint64_t done = all_done(relay), waiting = relay->filled - done;

	if (relay->taken[READING] || relay->ended)
		return false;
	ring_give_back(&relay->ring, done);
	return ring_has_room(&relay->ring, waiting) && (goes_on || RING_BATCHES - waiting >= FREE_TO_READ);
}

static uint64_t waits_for(const struct relay *relay, size_t consumer)
{
	return relay->taken[consumer] ? 0 : relay->filled - relay->done[consumer];
}

/* What a thread does next, which has done `last` and put it down: the same while it can. The lock is held. */
static unsigned choose(struct relay *relay, unsigned last)
{
	unsigned most = NOTHING;

	if (last < READING && waits_for(relay, last))
		return last;
	if (last == READING && can_read(relay, true))
		return READING;
	for (unsigned i = 0; i < relay->nr; i++)
		if (waits_for(relay, i) >= (relay->taken[READING] ? FILLED_TO_CONSUME : 1) &&
		    (most == NOTHING || waits_for(relay, i) > waits_for(relay, most)))
			most = i;
	return most == NOTHING && can_read(relay, false) ? READING : most;
}

static bool is_done(const struct relay *relay)
{
	return relay->ended && all_done(relay) == relay->filled;
}

/* Without the lock, which is held before and after. */
static void work(struct relay *relay, unsigned part)
{
	uint64_t number = part == READING ? relay->filled : relay->done[part];
	const struct ring_batch *batch = ring_at(&relay->ring, number);
	int r = 1;

	pthread_mutex_unlock(&relay->lock);
	if (part == READING)
		r = ring_fill(&relay->ring, number, &relay->fail);
	else
		relay->consumers[part].see(relay->consumers[part].arg, batch->events, (size_t)batch->len);
	pthread_mutex_lock(&relay->lock);
	if (part != READING) {
		relay->done[part]++;
		return;
	}
	relay->filled++;
	relay->ended = r <= 0;
	relay->result = r < 0 ? r : 0;
}

static void take_part(struct relay *relay)
{
	unsigned part = NOTHING;

	pthread_mutex_lock(&relay->lock);
	while (!is_done(relay)) {
		part = choose(relay, part);
		if (part == NOTHING) {
			relay->waiting++;
			pthread_cond_wait(&relay->work, &relay->lock);
			relay->waiting--;
			continue;
		}
		relay->taken[part] = true;
		if (relay->waiting && choose(relay, NOTHING) != NOTHING)
			pthread_cond_signal(&relay->work);
		work(relay, part);
		relay->taken[part] = false;
	}
	pthread_cond_broadcast(&relay->work);
	pthread_mutex_unlock(&relay->lock);
}

static void run(struct pool_job *job)
{
	take_part(((struct relay_thread *)job)->relay);
}

static int take_parts(struct relay *relay, unsigned threads, struct fail *fail)
{
	struct pool *pool = NULL;
	int r = pool_new(threads, &pool, fail);

	if (r)
		return r;
	for (unsigned i = 0; i < threads; i++) {
		relay->threads[i] = (struct relay_thread){ .job.run = run, .relay = relay };
		pool_submit_first(pool, &relay->threads[i].job);
	}
	take_part(relay);
	for (unsigned i = 0; i < threads; i++)
		pool_wait(pool, &relay->threads[i].job);
	pool_free(pool);
	return relay->result ? fail_set(fail, relay->result, "%s", relay->fail.text) : 0;
}

int relay_run(struct reader *reader, const struct relay_consumer *consumers, size_t nr, struct fail *fail)
{
	struct relay relay = { .consumers = consumers, .nr = nr };
	unsigned threads = reader->ahead < nr ? reader->ahead : (unsigned)nr;
	int r = ring_init(&relay.ring, reader, fail);

	assert(reader->ahead && nr && nr <= RELAY_CONSUMERS);
	pthread_mutex_init(&relay.lock, NULL);
	pthread_cond_init(&relay.work, NULL);
	if (!r)
		r = take_parts(&relay, threads, fail);
	ring_give_back(&relay.ring, relay.filled);
	ring_release(&relay.ring);
	pthread_cond_destroy(&relay.work);
	pthread_mutex_destroy(&relay.lock);
	return r;
}
