/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_RECORDER_H
#define WEFT_KERNEL_RECORD_RECORDER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/buffer/cpu_pipe.h"
#include "lib/kernel/buffer/ring_watch.h"
#include "lib/kernel/record/recorder_options.h"
#include "lib/kernel/record/spool.h"

struct chunk_history_cpu;
struct page_staging;
struct placing;

/*
 * A recorder is the thread that empties the ring buffer of one CPU into its spool. It sleeps in the kernel until the
 * buffer is filled to buffer_percent, takes whole sub-buffers, compresses them and appends them to the spool. It
 * decodes nothing. If there is no time to compress (lib/kernel/record/compress_or_store_internal.h), it moves the
 * sub-buffers into the spool unchanged, in frames of stored blocks.
 *
 * Invariant: after recorder_join(), either every page that the buffer held when tracing stopped is in the spool, or
 * `err` has the reason. A recorder that fails reports it at once (failed_fd) and does not touch the buffer again. It
 * owns its pipe and its spool. Fields after `thread` belong to the thread until recorder_join().
 */
struct recorder {
	uint32_t buffer, cpu;
	struct recorder_options options;
	struct cpu_pipe pipe;
	struct ring_watch watch; /* watches the CPU's buffer; used by the thread */
	bool started;
	struct placing *placing; /* how the start of the thread went; until recorder_await() */
	pthread_t thread;
	pid_t tid; /* valid after recorder_await() */
	struct spool spool;
	struct chunk_history_cpu *held; /* of options.held; borrowed */
	struct page_staging *staging;   /* of its pages, with options.held; it owns it */
	uint64_t overrun;               /* the kernel's count at the end of the last read that was asked for; atomic */
	int err;
	struct fail fail;
};

/* Starts the thread. Takes pipe and spool from the caller, also after an error. `recorder` must not move in memory. */
int must_check recorder_start(struct recorder *recorder, struct fail *fail);

/*
 * Waits until the thread that was started has its place. It is an error if it cannot run on the wanted CPUs or with the
 * wanted priority. 0 at once for a recorder that was awaited before, or never started.
 */
int must_check recorder_await(struct recorder *recorder, struct fail *fail);
void recorder_join(struct recorder *recorder);

/* Closes pipe and spool. */
void recorder_release(struct recorder *recorder);

/* Takes the present content of a buffer that a dead recorder left, without a thread. No pipe: only what has landed. */
int must_check recorder_drain(struct recorder *recorder, struct fail *fail);

#endif
