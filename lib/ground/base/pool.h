/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_POOL_H
#define WEFT_GROUND_BASE_POOL_H

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Threads that run jobs. The owner thread submits jobs and waits for them in any order; while it waits it runs jobs
 * itself, so a pool without threads also works. Jobs are independent of each other.
 * Ownership: a job is the caller's memory; the pool uses it from pool_submit() until pool_wait() returns.
 */
struct pool;

struct pool_job {
	void (*run)(struct pool_job *job);
	struct pool_job *next;
	int state; /* enum job_state of pool.c */
};

int must_check pool_new(unsigned threads, struct pool **ret, struct fail *fail);

/* Every job submitted must have been waited for. */
void pool_free(struct pool *pool);

/* The number of threads, not counting the owner. `pool` may be NULL: 0. */
unsigned pool_threads(const struct pool *pool);

/* The job may wait until more jobs come or pool_wait() is called. */
void pool_submit(struct pool *pool, struct pool_job *job);
/*
 * Puts the job in front of all others and wakes an idle thread for it: for a large job whose result the owner needs
 * first.
 */
void pool_submit_first(struct pool *pool, struct pool_job *job);
/* Waits for the job, and runs it here when no thread has begun it. */
void pool_wait(struct pool *pool, struct pool_job *job);

#endif
