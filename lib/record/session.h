/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_SESSION_H
#define WEFT_RECORD_SESSION_H

#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/record/options.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A recording from beginning to end: sets the kernel up, runs the command or waits, stops, puts everything back, and
 * finishes the file.
 * Invariant: whatever happens after session_run() was called, every setting that it changed is put back and its instances
 * are gone before it returns; the journal of lib/kernel/undo does so after a kill. A file of the output's name is
 * replaced only by a finished one; what was recorded but could not be finished stays in the parts directory.
 * While it runs, SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked in the calling thread and mean: stop; SIGPIPE is blocked. With a command, a
 * SIGINT of the terminal is the command's affair; any other signal is passed on to it.
 * Not supported: two sessions at once in one process.
 */
struct record_cpu {
	uint32_t buffer, cpu;
	uint64_t events;                /* saved: by the kernel's count, less what was dropped; by the pages where it was cleared */
	uint64_t lost;                  /* overrun + commit overrun + dropped; at least, where it was cleared */
	uint64_t overrun;
	unsigned cleared;               /* times that somebody emptied the buffer, which sets the kernel's counts to zero */
	uint64_t dropped_bytes;         /* of pages, given up for the maximal size */
	uint64_t dropped_events;        /* that were in them */
};

struct record_result {
	bool has_status;                /* there was a command, and this is its exit status as a shell gives it */
	int status;
	pid_t command;                  /* it still runs: somebody must wait for it; 0: none */
	bool ran;                       /* tracing was on */
	bool finished;                  /* the file is whole */
	char *parts;                    /* what remains when it is not; NULL: nothing */
	bool symbols_hidden;
	bool at_most;                   /* a recorder failed: events counts what it took, not all of which it could save */
	uint64_t time_ns;               /* of tracing */
	uint64_t events, lost, raw, packed, file_size;
	unsigned cleared;               /* of the CPU where it was most often */
	uint64_t missed;                /* hits of our probes that made no event */
	char *missed_probes;            /* setup_probes_missed(); NULL: none */
	uint64_t finish_ns;             /* from the stop to the finished file */
	struct record_cpu *cpus;        /* with events, or that lost some */
	size_t nr_cpus;
};

/*
 * 0: recorded, finished, and nothing failed on the way; -errno: something did, although `ret` may say that what was saved
 * could be finished. `ret` is filled in both cases and must be released.
 */
int must_check session_run(const struct record_options *options, struct record_result *ret, struct fail *fail);
void record_result_release(struct record_result *result);

#endif
