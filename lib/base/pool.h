/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_POOL_H
#define WEFT_BASE_POOL_H

#include "lib/base/cleanup.h"

struct fail;

/*
 * Threads that run jobs. The thread that owns the pool hands jobs in and waits for them in whatever order it likes; while
 * it waits it runs jobs itself, so a pool of no threads works, too. Jobs do not know each other.
 * Ownership: a job is the caller's; it belongs to the pool from pool_submit() until pool_wait() returned.
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

/* Threads besides the owner's. `pool` may be NULL: none. */
unsigned pool_threads(const struct pool *pool);

/* A job may lie until others come or it is waited for. */
void pool_submit(struct pool *pool, struct pool_job *job);
/* In front of all that wait: for what the owner will ask for first. */
void pool_submit_first(struct pool *pool, struct pool_job *job);
/* Runs the job itself when no thread has begun it. */
void pool_wait(struct pool *pool, struct pool_job *job);

#endif
