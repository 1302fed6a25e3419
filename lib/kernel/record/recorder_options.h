/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_RECORDER_OPTIONS_H
#define WEFT_KERNEL_RECORD_RECORDER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct cpus;
struct chunk_history;
struct landed;

/* How a recorder (recorder.h) takes the pages of its CPU, and what it does with them. */
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
	/* for recorder_drain(): pages that come before the rest, borrowed; NULL: none */
	const struct landed *landed;
	uint32_t nr_cpus; /* CPUs whose chunks a reader of the file holds in memory together; 0: all that could be */
	uint64_t buffer_size; /* bytes of the CPU's buffer; 0: unknown, then everything is compressed */
	uint64_t store_spare; /* bytes that it may store uncompressed because the buffer fills fast */
	unsigned percent;     /* buffer_percent: how full the buffer is when the kernel wakes readers */
	/* in ms: data older than this is in the spool, also from partly filled sub-buffers; 0: no flush */
	int flush_ms;
	/*
	 * Another process empties the spool (forward.h): the recorder waits while it has more bytes than this, until it
	 * shall end; meanwhile the kernel overwrites events, and counts them. 0: no limit.
	 */
	uint64_t room;
	bool copied_there; /* the output is on the filesystem of the parts */
	/*
	 * The spools lie in memory, and what they hold is listed there (chunk_history_internal.h), borrowed; NULL: they
	 * are files. Then stop_fd is not used: chunk_history_stop() ends the recorder. Events from the time `since` on
	 * are held.
	 */
	struct chunk_history *held;
	uint64_t since;
	/*
	 * Nothing is read before somebody asks for it (chunk_history_flush()): until then the kernel overwrites the
	 * oldest events, which is no loss.
	 */
	bool when_asked;
};

#endif
