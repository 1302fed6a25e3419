/* SPDX-License-Identifier: LGPL-2.1-or-later */
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
struct held;
struct held_cpu;

/*
 * A recorder is the thread that empties the ring buffer of one CPU into its spool. It sleeps in the kernel until the
 * buffer is filled to buffer_percent, takes whole sub-buffers, compresses them and appends them to the spool. It
 * decodes nothing. If there is no time to compress (lib/record/slack_internal.h), it moves the sub-buffers into the
 * spool unchanged, in frames of stored blocks.
 *
 * Invariant: after recorder_join(), either every page that the buffer held when tracing stopped is in the spool, or
 * `err` has the reason. A recorder that fails reports it at once (failed_fd) and does not touch the buffer again. It
 * owns its pipe and its spool. Fields after `thread` belong to the thread until recorder_join().
 */
struct recorder_options {
	/* becomes readable after tracing was turned off; the recorder then takes the rest and ends */
	int stop_fd;
	int failed_fd;             /* eventfd: gets 1 when the recorder fails */
	int level;                 /* compression level */
	const struct cpus *run_on; /* CPUs on which the thread may run, borrowed; NULL: any */
	int priority;              /* SCHED_FIFO priority; 0: ordinary scheduling */
	/* bytes that must stay free on the filesystem of the parts, besides a copy of the spool, to finish the file */
	uint64_t keep_free;
	/* for recorder_drain(): stop after this many bytes, because a live buffer never becomes empty; 0: no limit */
	uint64_t rest_max;
	uint64_t buffer_size; /* bytes of the CPU's buffer; 0: unknown, then everything is compressed */
	uint64_t store_spare; /* bytes that it may store uncompressed because the buffer fills fast */
	unsigned percent;     /* buffer_percent: how full the buffer is when the kernel wakes readers */
	/* in ms: data older than this is in the spool, also from partly filled sub-buffers; 0: no flush */
	int flush_ms;
	bool copied_there; /* the output is on the filesystem of the parts */
	/*
	 * The spools lie in memory, and what they hold is listed there (held_internal.h), borrowed; NULL: they are
	 * files. Then stop_fd is not used: held_stop() ends the recorder. Events from the time `since` on are held.
	 */
	struct held *held;
	uint64_t since;
	/*
	 * Nothing is read before somebody asks for it (held_flush()): until then the kernel overwrites the oldest
	 * events, which is no loss.
	 */
	bool when_asked;
};

struct recorder {
	uint32_t buffer, cpu;
	struct recorder_options options;
	struct cpu_pipe pipe;
	struct ring_watch watch; /* watches the CPU's buffer; used by the thread */
	bool started;
	pthread_t thread;
	pid_t tid; /* valid after recorder_start() */
	struct spool spool;
	struct held_cpu *held; /* of options.held; borrowed */
	uint64_t overrun;      /* the kernel's count at the end of the last read that was asked for; atomic */
	int err;
	struct fail fail;
};

/*
 * Starts the thread. Takes pipe and spool from the caller, also after an error. It is an error if the thread cannot run
 * on the wanted CPUs or with the wanted priority. `recorder` must not move in memory.
 */
int must_check recorder_start(struct recorder *recorder, struct fail *fail);
void recorder_join(struct recorder *recorder);

/* Closes pipe and spool. */
void recorder_release(struct recorder *recorder);

/* Takes the present content of a buffer that a dead recorder left, without a thread. */
int must_check recorder_drain(struct recorder *recorder, struct fail *fail);

#endif
