/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_RECORDER_H
#define WEFT_RECORD_RECORDER_H

#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/buffer/cpu_pipe.h"
#include "lib/buffer/ring_watch.h"
#include "lib/record/spool.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cpus;

/*
 * The thread that empties the ring buffer of one CPU into its spool. It sleeps in the kernel until the buffer is as full
 * as buffer_percent wants it, takes whole sub-buffers, compresses and appends them; it decodes nothing. Where the buffer leaves no time for
 * compressing (lib/record/slack.h) it moves the sub-buffers into the spool as they are, in frames that store them.
 * Invariant: after recorder_join() either every page that the buffer held when tracing stopped is in the spool, or `err` says
 * why not. A recorder that fails says so at once (failed_fd) and touches the buffer no more.
 * It owns its pipe and its spool. Fields behind `thread` belong to the thread until recorder_join().
 */
struct recorder_options {
	int stop_fd;               /* readable once tracing is off: drain and end */
	int failed_fd;             /* eventfd: gets 1 when it fails */
	int level;                 /* of compression */
	const struct cpus *run_on; /* CPUs that the thread may run on, borrowed; NULL: any */
	int priority;              /* SCHED_FIFO; 0: as other threads */
	uint64_t keep_free;        /* bytes of the parts' filesystem that finishing needs besides a copy of the spool */
	uint64_t
		rest_max; /* recorder_drain(): bytes, then it is enough: a buffer that is written to has no end; 0: all */
	uint64_t buffer_size; /* bytes of its buffer; 0: unknown, all is compressed */
	uint64_t store_spare; /* bytes that it may store without being late */
	unsigned percent;     /* of it that are full when readers are woken */
	int flush_ms;         /* what is older is in the spool, sub-buffers that are not full, too; 0: no such thing */
	bool copied_there;    /* the output is on the parts' filesystem */
};

struct recorder {
	uint32_t buffer, cpu;
	struct recorder_options options;
	struct cpu_pipe pipe;
	struct ring_watch watch; /* of its buffer: the thread looks */
	bool started;
	pthread_t thread;
	pid_t tid; /* known when recorder_start() returns */
	struct spool spool;
	int err;
	struct fail fail;
};

/*
 * Takes pipe and spool out of the caller's hands, also when it fails, as it does when the thread cannot run as it should.
 * `recorder` must stay where it is.
 */
int must_check recorder_start(struct recorder *recorder, struct fail *fail);
void recorder_join(struct recorder *recorder);

/* Closes pipe and spool. */
void recorder_release(struct recorder *recorder);

/* The same without a thread, for a buffer that a dead recorder left: what is in it now. */
int must_check recorder_drain(struct recorder *recorder, struct fail *fail);

#endif
