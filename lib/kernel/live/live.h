/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_LIVE_LIVE_H
#define WEFT_KERNEL_LIVE_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/live/counts.h"
#include "lib/kernel/live/flow.h"
#include "lib/kernel/record/tap.h"
#include "lib/meaning/clock/face.h"

struct buf;
struct fail;
struct out;
struct reader;
struct trace;

/*
 * The events of running buffers, given to a consumer until a command or the user ends. A tap (lib/kernel/record/tap.h)
 * takes pages, which go through a live source and the merge (lane_internal.h: one for each instance) to the consumer,
 * whose text is written to a file descriptor. One thread does everything and sleeps in one place. While the reader of
 * the output takes nothing, nothing is taken from the kernel either: the kernel's buffer overwrites the oldest events,
 * and the gap is printed when the reader continues.
 * Use: live_new(); then what the caller wants to add to the buffers of the reader; live_start(); live_run();
 * live_free().
 */
struct live;

struct live_options {
	struct tap_options tap;
	uint64_t latency_ns; /* an event is printed at most so long after it happened */
	uint64_t limit;      /* number of events from all instances */
	int fd;              /* for the text */
	/*
	 * Instead of the consumer's text, which must be empty, pages and what describes them are written, as frames of
	 * lib/pages/stream/relay.h.
	 */
	bool relays;
	bool escapes; /* the text is escaped (lib/ground/base/outlet.h) */
};

struct live_result {
	struct tap_result tap;
	struct live_sum all;
	struct live_sum *sums; /* one for each instance; the caller frees them */
	size_t nr_sums;
	bool gone; /* the reader of the output has closed it */
};

/*
 * Sets up the kernel. Borrows the options and the result, which is filled in any case. After a failure *ret is NULL,
 * and all settings are restored.
 */
int must_check live_new(const struct live_options *options, struct live_result *result, struct live **ret,
			struct fail *fail);
/* Restores all settings; its error is one of the restoring. `live` may be NULL. */
int must_check live_free(struct live *live, struct fail *fail);

/* It has a buffer for each instance, and starts with live_start(). */
struct reader *live_reader(struct live *live);
/* The metadata of its buffers: tap_trace() of lib/kernel/record/tap.h. */
struct trace *live_trace(const struct live *live);
/* Append the present texts of saved_cmdlines and /proc/kallsyms: those of that trace are as old as the stream. */
int must_check live_texts(const struct live *live, struct buf *cmdlines, struct buf *kallsyms, struct fail *fail);

/* Leaves out the events of weft's own tasks in a buffer, before live_start(). *ret counts them. */
int must_check live_leave_out_self(struct live *live, size_t buffer, const uint64_t **ret, struct fail *fail);

int must_check live_start(struct live *live, struct fail *fail);

/*
 * How times of day are shown, of the day on which the reading begins (lib/meaning/clock/face.h), for the
 * reader of a live stream. It needs tap_options::time_of_day. -ENODATA: the time of day of this clock cannot be told.
 */
int must_check live_face(const struct reader *reader, enum face_kind kind, struct face *face, struct fail *fail);

/* The text of the consumer. */
struct out *live_out(struct live *live);

/* Returns 0, also when the reader closed the output (live_result::gone); or -errno. */
int must_check live_run(struct live *live, const struct flow_consumer *consumer, struct fail *fail);
/* The consumer for live_options::relays. */
struct flow_consumer live_no_text(struct live *live);

#endif
