/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_CLOCK_WALL_H
#define WEFT_MEANING_CLOCK_WALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct trace;

/*
 * The time of day of a recording: samples that were taken beside it say which time of CLOCK_REALTIME belongs to a time
 * of the trace clock, each with its bounds. Between two samples the clock is taken to run evenly; where the time of day
 * was set, or the machine slept, a new piece begins. A time of day is in ns since 1970.
 */

/* The setting of each buffer that has its samples, a line for each (wall_sample_put()). */
#define SETTING_CLOCKS "weft/clocks"
/* The zone of the recording machine: "OFFSET-IN-SECONDS NAME". */
#define SETTING_ZONE "weft/zone"

/* How the clock of a buffer was read when this line was written: raw facts. */
enum wall_why {
	WALL_START,
	WALL_EVERY,
	WALL_STEP,   /* the time of day was set just before */
	WALL_SLEPT,  /* no sample: the machine slept when the trace clock showed lo to hi; WALL_RESUME follows */
	WALL_RESUME, /* the machine slept until just before */
	WALL_END,
	WALL_LOG, /* of a line of a text that names both times */
	WALL_WHY_NR,
};

struct wall_sample {
	char clock[16];           /* the trace clock's name */
	uint64_t lo, hi;          /* in its units: it showed a time from lo to hi */
	int64_t wall_lo, wall_hi; /* while CLOCK_REALTIME showed one from wall_lo to wall_hi */
	int64_t mono, boot;       /* CLOCK_MONOTONIC and CLOCK_BOOTTIME at wall_lo, in ns; 0: unknown */
	int32_t tai;              /* CLOCK_TAI - CLOCK_REALTIME in seconds */
	int64_t slew_ppb;         /* by which the kernel makes its clock run faster */
	int64_t error_us;         /* bound of the error of CLOCK_REALTIME itself; -1: it is not synchronised */
	enum wall_why why;
};

/* Appends its line. False: no memory. */
bool must_check wall_sample_put(const struct wall_sample *sample, struct buf *into);
/* False: the line is none. */
bool must_check wall_sample_parse(const char *line, size_t len, struct wall_sample *ret);

/*
 * The text of SETTING_CLOCKS with the trace clock's times moved by `by`, for a file whose times are moved, and with
 * bounds that are wider by `wider` ns.
 */
bool must_check wall_samples_shift(const char *text, size_t len, int64_t by, uint64_t wider, struct buf *into);

struct wall;

/* A part of the trace in which the time of day was not set. */
struct wall_piece {
	uint64_t since;   /* the time of the trace at which it begins; 0: the first one */
	uint64_t sampled; /* the time of its first sample */
	int64_t step_ns;  /* how far the time of day jumped at `since` against the trace clock */
	int64_t slept_ns; /* how long the machine slept until then; in step_ns if the trace clock stood still */
	int64_t set_ns;   /* by how much the time of day was set */
	bool is_exact;    /* a sample was taken when it jumped; else it jumped between the sample before and `since` */
};

/* The bound of a time is not known: only what another program wrote tells it. */
#define WALL_NO_BOUND UINT64_MAX

/* *ret NULL: the trace does not tell the time of day of this buffer. */
int must_check wall_new(const struct trace *trace, size_t buffer, struct wall **ret, struct fail *fail);
/* The same of the text of SETTING_CLOCKS alone, for times that readers give `shift` later than the trace clock. */
int must_check wall_new_of_text(const char *text, size_t len, uint64_t shift, struct wall **ret, struct fail *fail);
void wall_free(struct wall *wall);

/*
 * The time of day of a time that readers give (event::ts), and the half width of what it may be. False: it is unknown,
 * as `wall` NULL, or not from 1970 to 2262.
 */
bool wall_of(const struct wall *wall, uint64_t ts, int64_t *ret_ns, uint64_t *ret_bound);

/*
 * The times of the trace at which the time of day was `ns`: several where the clock went back. Returns how many there
 * are; those after the `max`th are not written. Where the clock jumped over `ns` it is the time of the jump.
 */
size_t wall_places(const struct wall *wall, int64_t ns, uint64_t *ret, size_t max);

/* The pieces; NULL: there is no such one. */
const struct wall_piece *wall_piece_at(const struct wall *wall, size_t index);

/* How much faster than the trace clock the time of day ran, in 1e-9. False: one sample cannot tell. */
bool wall_drift_ppb(const struct wall *wall, int64_t *ret);

/* The largest error of the machine's clock at a sample, in us. -1: it was not synchronised, or it is not known. */
int64_t wall_host_error_us(const struct wall *wall);
size_t wall_samples(const struct wall *wall);

#endif
