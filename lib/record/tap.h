/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_TAP_H
#define WEFT_RECORD_TAP_H

#include "lib/base/cleanup.h"
#include "lib/setup/setup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct fail;
struct trace;

/*
 * A tap is one buffer, or several, read while they are written: the kernel is set up as for a recording, and whoever owns the tap
 * takes the pages, on one thread, without blocking. No file is made: what a file would tell besides pages is there as a trace
 * without any, with the same buffers in the same order.
 * Invariant: whatever happens after tap_open() was called, every setting that it changed is put back and its instance is gone
 * once tap_close() returned, or tap_open() failed; the journal of lib/undo/undo does so after a kill.
 * From tap_open() to tap_close() signals are as in a recording: lib/record/session.h.
 */
struct tap;
struct tap_buffer; /* tap_buffer.h */

struct tap_options {
	const struct setup
		*setup; /* no instance twice; those of different clocks are refused: their events have no order */
	char **argv;    /* NULL: until told to stop; its standard output goes to standard error */
	const char *user;
	uint64_t duration_ns; /* 0: none */
};

/* Why tap_wait() returned. */
enum tap_news {
	TAP_READY,   /* the output can be written, there is enough to take, or timeout_ms are over */
	TAP_SIGNAL,  /* to stop; not one that is for the command */
	TAP_TIME,    /* duration_ns are over */
	TAP_COMMAND, /* the command has ended */
};

struct tap_result {
	bool has_status; /* there was a command, and this is its exit status as a shell gives it */
	int status;
	bool ran;            /* tracing was on */
	pid_t command;       /* it still runs: somebody must wait for it; 0: none */
	uint64_t time_ns;    /* of tracing */
	uint64_t missed;     /* hits of our probes that made no event */
	char *missed_probes; /* setup_probes_missed(); NULL: none; free() */
};

/* Sets up everything; tracing is off. `ret_result` is filled from here on, in failures, too. */
int must_check tap_open(const struct tap_options *options, struct tap_result *ret_result, struct tap **ret,
			struct fail *fail);

/* What is known of the buffers, and which there are: one for each instance, in the order of the setup. NULL behind the last. */
struct trace *tap_trace(const struct tap *tap);
struct tap_buffer *tap_buffer(const struct tap *tap, size_t index);

/* Switches tracing on and lets the command run. */
int must_check tap_start(struct tap *tap, struct fail *fail);

/*
 * Sleeps until there is something to do: `out_fd` (-1: none) can be written, some buffer is as full as buffer_percent says (asked
 * only when `pages`), timeout_ms are over, or tracing shall end.
 */
int must_check tap_wait(struct tap *tap, int out_fd, bool pages, int timeout_ms, enum tap_news *ret, struct fail *fail);

/* Switches tracing off and counts. What is in the buffers can still be read. */
int must_check tap_stop(struct tap *tap, struct fail *fail);

/* Append what the kernel knows now: saved_cmdlines and saved_tgids; dynamic_events; /proc/kallsyms. */
int must_check tap_tasks(const struct tap *tap, struct buf *names, struct buf *tgids, struct fail *fail);
int must_check tap_dynamic_events(const struct tap *tap, struct buf *buf, struct fail *fail);
int must_check tap_symbols(const struct tap *tap, struct buf *buf, struct fail *fail);

/* Puts everything back and frees the tap; the trace is gone, too. NULL is a no-op. */
int tap_close(struct tap *tap, struct fail *fail);

#endif
