// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"

/*
 * For jobs at the end of the queue an idle thread is woken when this many wait, not for each job: a wakeup costs as
 * much as a small job, and the owner runs jobs itself when it waits for one that no thread has begun.
 */
enum { JOBS_TO_WAKE = 3 };

enum job_state { JOB_IDLE, JOB_QUEUED, JOB_RUNNING, JOB_DONE };

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work; /* a job was queued, or the pool ends */
	pthread_cond_t done; /* the awaited job is done */
	struct pool_job *queue, **tail;
	unsigned nr_queued;
	struct pool_job *awaited; /* the job that the owner sleeps for */
	bool ending;
	unsigned nr_threads;
	pthread_t threads[];
};

/* Runs the queued job that *link points to. The lock is held before and after. */
static void pool_run(struct pool *pool, struct pool_job **link)
{
	struct pool_job *job = *link;

	*link = job->next;
	pool->nr_queued--;
	if (pool->tail == &job->next)
		pool->tail = link;
	job->state = JOB_RUNNING;
	pthread_mutex_unlock(&pool->lock);
	job->run(job);
	pthread_mutex_lock(&pool->lock);
	job->state = JOB_DONE;
	if (pool->awaited == job)
		pthread_cond_signal(&pool->done);
}

static void *pool_thread(void *arg)
{
	struct pool *pool = arg;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		if (pool->queue)
			pool_run(pool, &pool->queue);
		else if (pool->ending)
			break;
		else
			pthread_cond_wait(&pool->work, &pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

int pool_new(unsigned threads, struct pool **ret, struct fail *fail)
{
	struct pool *pool = calloc(1, sizeof(*pool) + threads * sizeof(pthread_t));
	sigset_t all, before;

	if (!pool)
		return fail_memory(fail);
	pool->tail = &pool->queue;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->done, NULL);
	/* Signals are handled by the thread that owns the pool, but that of a closed pipe by the thread that writes. */
	sigfillset(&all);
	sigdelset(&all, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (pool->nr_threads < threads) {
		int err = pthread_create(&pool->threads[pool->nr_threads], NULL, pool_thread, pool);

		if (err) {
			pthread_sigmask(SIG_SETMASK, &before, NULL);
			pool_free(pool);
			return fail_set(fail, -err, "cannot start a thread: %s", strerror(err));
		}
		pool->nr_threads++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	*ret = pool;
	return 0;
}

void pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->ending = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->nr_threads; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->work);
	pthread_cond_destroy(&pool->done);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

unsigned pool_threads(const struct pool *pool)
{
	return pool ? pool->nr_threads : 0;
}

static void submit(struct pool *pool, struct pool_job *job, struct pool_job **link, unsigned jobs_to_wake)
{
	job->state = JOB_QUEUED;
	job->next = *link;
	*link = job;
	if (pool->tail == link)
		pool->tail = &job->next;
	if (++pool->nr_queued >= jobs_to_wake)
		pthread_cond_signal(&pool->work);
}

void pool_submit(struct pool *pool, struct pool_job *job)
{
	pthread_mutex_lock(&pool->lock);
	submit(pool, job, pool->tail, JOBS_TO_WAKE);
	pthread_mutex_unlock(&pool->lock);
}

void pool_submit_first(struct pool *pool, struct pool_job *job)
{
	pthread_mutex_lock(&pool->lock);
	submit(pool, job, &pool->queue, 1);
	pthread_mutex_unlock(&pool->lock);
}

/* Finds the link to a queued job. The queue is short. */
static struct pool_job **find_link(struct pool *pool, const struct pool_job *job)
{
	struct pool_job **link = &pool->queue;

	while (*link != job)
		link = &(*link)->next;
	return link;
}

void pool_wait(struct pool *pool, struct pool_job *job)
{
	pthread_mutex_lock(&pool->lock);
	while (job->state != JOB_DONE) {
		if (job->state == JOB_QUEUED) {
			pool_run(pool, find_link(pool, job));
		} else if (pool->queue) {
			pool_run(pool, &pool->queue);
		} else {
			pool->awaited = job;
			pthread_cond_wait(&pool->done, &pool->lock);
			pool->awaited = NULL;
		}
	}
	job->state = JOB_IDLE;
	pthread_mutex_unlock(&pool->lock);
}
