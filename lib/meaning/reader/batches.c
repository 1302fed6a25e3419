// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/batches.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/pool.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/ring_internal.h"

/* Without a thread: the events of a batch stay in the first-level cache. */
enum { EVENTS_ALONE = 64 };

/*
 * A thread that waits is woken when there is work for a while: the reading thread when half of the batches are free,
 * the caller when this many are filled.
 */
enum { FILLED_TO_WAKE = 2 };

/* The thread looks where it runs once for this many batches. */
enum { LOOK_EVERY = 4 };

struct batches {
	struct pool_job job; /* first: the job of the thread is cast to its batches */
	struct reader *reader;
	struct pool *pool; /* of one thread; NULL: the caller reads */
	/* The thread's own while it runs; a batch belongs to it until it is filled, and from done on. */
	struct ring ring;
	/* Protected by the lock: */
	pthread_mutex_t lock;
	pthread_cond_t room;   /* batches are done, or the thread has to end */
	pthread_cond_t events; /* batches are filled, or the stream has ended */
	uint64_t filled, done; /* numbers of batches */
	bool waits_for_room, waits_for_events, ending, ended;
	int caller_cpu; /* where the caller was when it asked last; -1: unknown */
	int result;     /* valid when ended: 0 or -errno */
	struct fail fail;
	/* The caller's: */
	bool in_use; /* the caller works on batch `done` */
	struct event alone[EVENTS_ALONE];
};

/* Waits until a batch can be filled; false when the thread has to end. The lock is held. */
static bool wait_for_room(struct batches *batches)
{
	ring_give_back(&batches->ring, batches->done);
	while (!batches->ending && !ring_has_room(&batches->ring, batches->filled - batches->done)) {
		if (batches->waits_for_events)
			pthread_cond_signal(&batches->events);
		batches->waits_for_room = true;
		pthread_cond_wait(&batches->room, &batches->lock);
		batches->waits_for_room = false;
		ring_give_back(&batches->ring, batches->done);
	}
	return !batches->ending;
}

/*
 * The kernel puts two threads that wake each other again and again on one CPU (wake_affine() of kernel/sched/fair.c),
 * where they take turns although another CPU idles. Then the thread goes to another CPU; the kernel may move it again.
 */
static void leave_caller(int caller_cpu)
{
	cpu_set_t usable, others;

	if (caller_cpu < 0 || caller_cpu >= CPU_SETSIZE || sched_getcpu() != caller_cpu ||
	    sched_getaffinity(0, sizeof(usable), &usable))
		return;
	others = usable;
	CPU_CLR((size_t)caller_cpu, &others);
	if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof(others), &others))
		(void)sched_setaffinity(0, sizeof(usable), &usable);
}

static void read_ahead(struct pool_job *job)
{
	struct batches *batches = (struct batches *)job;
	int r = 1;

	pthread_mutex_lock(&batches->lock);
	while (r > 0 && wait_for_room(batches)) {
		int caller_cpu = batches->filled % LOOK_EVERY ? -1 : batches->caller_cpu;

		pthread_mutex_unlock(&batches->lock);
		leave_caller(caller_cpu);
		r = ring_fill(&batches->ring, batches->filled, &batches->fail);
		pthread_mutex_lock(&batches->lock);
		batches->filled++;
		if (batches->waits_for_events && batches->filled - batches->done >= FILLED_TO_WAKE)
			pthread_cond_signal(&batches->events);
	}
	batches->result = r < 0 ? r : 0;
	batches->ended = true;
	pthread_cond_signal(&batches->events);
	pthread_mutex_unlock(&batches->lock);
}

static int start(struct batches *batches, struct fail *fail)
{
	int r = ring_init(&batches->ring, batches->reader, fail);

	if (!r)
		r = pool_new(1, &batches->pool, fail);
	if (!r)
		pool_submit_first(batches->pool, &batches->job);
	return r;
}

int batches_new(struct reader *reader, struct batches **ret, struct fail *fail)
{
	struct batches *batches = calloc(1, sizeof(*batches));
	int r = 0;

	if (!batches)
		return fail_memory(fail);
	batches->job.run = read_ahead;
	batches->reader = reader;
	batches->caller_cpu = sched_getcpu();
	pthread_mutex_init(&batches->lock, NULL);
	pthread_cond_init(&batches->room, NULL);
	pthread_cond_init(&batches->events, NULL);
	if (reader->ahead)
		r = start(batches, fail);
	if (r)
		batches_free(batches);
	else
		*ret = batches;
	return r;
}

static void stop(struct batches *batches)
{
	pthread_mutex_lock(&batches->lock);
	batches->ending = true;
	pthread_cond_signal(&batches->room);
	pthread_mutex_unlock(&batches->lock);
	pool_wait(batches->pool, &batches->job);
	ring_give_back(&batches->ring, batches->filled);
}

void batches_free(struct batches *batches)
{
	if (!batches)
		return;
	if (batches->pool)
		stop(batches);
	pool_free(batches->pool);
	ring_release(&batches->ring);
	pthread_cond_destroy(&batches->events);
	pthread_cond_destroy(&batches->room);
	pthread_mutex_destroy(&batches->lock);
	free(batches);
}

/* The batch that the caller has worked on can be filled again. The lock is held. */
static void leave(struct batches *batches)
{
	batches->done += batches->in_use;
	batches->in_use = false;
	if (batches->waits_for_room && batches->filled - batches->done <= RING_BATCHES / 2)
		pthread_cond_signal(&batches->room);
}

/* The next batch that the thread has filled; NULL at the end. */
static struct ring_batch *wait_for_events(struct batches *batches)
{
	struct ring_batch *batch = NULL;

	pthread_mutex_lock(&batches->lock);
	batches->caller_cpu = sched_getcpu();
	leave(batches);
	while (batches->filled == batches->done && !batches->ended) {
		batches->waits_for_events = true;
		pthread_cond_wait(&batches->events, &batches->lock);
		batches->waits_for_events = false;
	}
	if (batches->filled != batches->done) {
		batch = ring_at(&batches->ring, batches->done);
		batches->in_use = true;
	}
	pthread_mutex_unlock(&batches->lock);
	return batch;
}

int batches_next(struct batches *batches, const struct event **ret, struct fail *fail)
{
	struct ring_batch *batch;

	if (!batches->pool) {
		*ret = batches->alone;
		return reader_batch(batches->reader, batches->alone, EVENTS_ALONE, fail);
	}
	do
		batch = wait_for_events(batches);
	while (batch && !batch->len);
	if (!batch)
		return batches->result ? fail_set(fail, batches->result, "%s", batches->fail.text) : 0;
	*ret = batch->events;
	return batch->len;
}

int batches_run(struct reader *reader, const struct reader_consumer *consumer, struct fail *fail)
{
	struct batches *batches = NULL;
	const struct event *events = NULL;
	int r = batches_new(reader, &batches, fail);

	while (!r && (r = batches_next(batches, &events, fail)) > 0) {
		for (const struct event *event = events; event < events + r; event++)
			consumer->see(consumer->arg, event);
		r = 0;
	}
	batches_free(batches);
	return r;
}
