/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_CLOCK_SAMPLER_H
#define WEFT_KERNEL_RECORD_CLOCK_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/clock/wall.h"

struct buf;
struct ledger;
struct target;
struct tracing;
struct undo;

/*
 * Reads the trace clock of each target beside CLOCK_REALTIME, for a file that knows its time of day. A clock that
 * programs can read is read. Of another one the time of a marker is taken, between two reads of CLOCK_REALTIME; the
 * marker goes to an instance of weft's own with the same clock, so nothing of it is in a recorded buffer.
 * Of a clock that stands still in a suspend, the kernel's event power:suspend_resume in such an instance tells when.
 * A recording never fails because of it: where the kernel or a container refuses something, there is no sample.
 * Used by one thread at a time, unless programs can read all clocks.
 */
struct clock_sampler;

/* Makes the instances that it needs. NULL: none of the clocks can be sampled, or there is no memory. */
struct clock_sampler *clock_sampler_new(const struct tracing *tracing, struct undo *undo, const struct target *targets,
					size_t nr);
/* Removes them; rig_restore() does it for that of the rig. */
void clock_sampler_free(struct clock_sampler *sampler);

/* Takes a sample of each target's clock, as an item LEDGER_SAMPLE of its buffer. `sampler` may be NULL. */
void clock_sampler_take(const struct clock_sampler *sampler, struct ledger *ledger, enum wall_why why);

/* The same as a line that is appended to `into`, for the target of this index. False: there is no sample. */
bool clock_sampler_line(const struct clock_sampler *sampler, size_t target, enum wall_why why, struct buf *into);

/*
 * Another process of this weft asks over a socket when the trace clock of the first target shows what: it sends a
 * message of any bytes, and gets it back with the answer. `since` and `until` are times of CLOCK_MONOTONIC between
 * which the trace clock was read.
 */
struct clock_answer {
	uint64_t id, received; /* the message: its sender knows what they mean */
	uint64_t since, until, trace;
	char clock[16]; /* "": it cannot be read */
};
/* Reads a message and sends the answer. Returns the socket, or -1: nobody asks any more. */
int clock_sampler_answer(const struct clock_sampler *sampler, int fd);
/*
 * The same for some messages before tracing begins: who asks does so again as soon as there is an answer. 0 is no
 * socket, and nobody asks.
 */
int clock_sampler_answer_first(const struct clock_sampler *sampler, int fd);

/* Adds the setting SETTING_ZONE. */
void clock_sampler_zone(struct ledger *ledger);

/*
 * A timer that wakes a poll() every minute, and as soon as the time of day was set or the machine slept (wake.h). A
 * descriptor of -1: there is none. clock_timer_taken() must follow each time it is readable: it starts it anew, and
 * says which it was.
 */
struct clock_timer {
	int fd;
	uint64_t since; /* now_ns() when it was started, */
	int64_t asleep; /* and how long the machine had slept until then */
};
struct clock_timer clock_timer_new(void);
enum wall_why clock_timer_taken(struct clock_timer *timer);

#endif
