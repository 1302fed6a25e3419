/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_TAP_H
#define WEFT_KERNEL_RECORD_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/setup/setup.h"

struct buf;
struct fail;
struct trace;

/*
 * A tap reads one or several buffers while they are written. The kernel is set up as for a recording; the owner of the
 * tap takes the pages, on one thread, without blocking. No file is made: the metadata of a file is a trace without
 * pages, with the same buffers in the same order.
 *
 * Invariant: every setting that tap_open() changed is restored and its instances are removed when tap_close() has
 * returned, or when tap_open() has failed; after a kill the journal of lib/kernel/undo/undo does that. From tap_open()
 * to tap_close() signals are handled as in a recording: lib/kernel/record/session.h.
 */
struct tap;
struct tap_buffer; /* tap_buffer.h */

struct tap_options {
	/*
	 * Each instance only once. Instances with different clocks are refused, because their events have no common
	 * order.
	 */
	const struct setup *setup;
	/* The command. NULL: read until stopped. The standard output of the command goes to standard error. */
	char **argv;
	const char *user;
	const char *path;     /* see struct workload_options */
	uint64_t duration_ns; /* 0: no limit */
	bool time_of_day;     /* tap_sample() is wanted */
	bool tasks;           /* the trace has a list of the tasks and control groups at the start */
};

/* The reason why tap_wait() returned. */
enum tap_news {
	/* the output can be written, there are pages to take, or timeout_ms have passed */
	TAP_READY,
	TAP_SIGNAL,  /* a signal to stop, not one for the command */
	TAP_TIME,    /* duration_ns have passed */
	TAP_COMMAND, /* the command has ended */
	TAP_CLOCK,   /* a minute has passed, or the time of day was set, and tap_sample() is due */
};

struct tap_result {
	bool has_status; /* there was a command, and `status` is its exit status as a shell gives it */
	int status;
	bool ran;            /* tracing was on */
	pid_t command;       /* the command that still runs and must be waited for; 0: none */
	uint64_t time_ns;    /* duration of tracing */
	bool made_tasks;     /* struct workload_times */
	uint64_t missed;     /* hits of weft's probes for which the kernel wrote no event */
	char *missed_probes; /* text of setup_probes_missed(); NULL: none; the caller frees it */
};

/* Sets everything up, with tracing off. `ret_result` is filled from here on, also after an error. */
int must_check tap_open(const struct tap_options *options, struct tap_result *ret_result, struct tap **ret,
			struct fail *fail);

/*
 * The metadata of the buffers, and the buffers: one for each instance, in the order of the setup. NULL after the last
 * one.
 */
struct trace *tap_trace(const struct tap *tap);
struct tap_buffer *tap_buffer(const struct tap *tap, size_t index);

/* Turns tracing on and starts the command. */
int must_check tap_start(struct tap *tap, struct fail *fail);

/*
 * Sleeps until there is something to do: `out_fd` (-1: none) can be written; a buffer is filled to buffer_percent
 * (checked only with `pages`); timeout_ms have passed; or tracing must end.
 */
int must_check tap_wait(struct tap *tap, int out_fd, bool pages, int timeout_ms, enum tap_news *ret, struct fail *fail);

/* Turns tracing off and counts the missed hits of probes. The buffers can still be read. */
int must_check tap_stop(struct tap *tap, struct fail *fail);

/* Append the present texts of the kernel: saved_cmdlines and saved_tgids; dynamic_events; /proc/kallsyms. */
int must_check tap_tasks(const struct tap *tap, struct buf *names, struct buf *tgids, struct fail *fail);
int must_check tap_dynamic_events(const struct tap *tap, struct buf *buf, struct fail *fail);
int must_check tap_symbols(const struct tap *tap, struct buf *buf, struct fail *fail);

/*
 * Appends a sample of the clock of a buffer (lib/meaning/clock/wall.h). False: there is none. The tap knows why
 * TAP_CLOCK came last.
 */
bool tap_sample(const struct tap *tap, size_t index, struct buf *into);

/* Restores everything and frees the tap, which may be NULL, and its trace. */
int tap_close(struct tap *tap, struct fail *fail);

#endif
