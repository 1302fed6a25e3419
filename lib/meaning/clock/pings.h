/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_CLOCK_PINGS_H
#define WEFT_MEANING_CLOCK_PINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct trace;

/*
 * The trace clock of a recorded machine beside CLOCK_MONOTONIC of the one that the recording was made from (the near
 * one). Each ping says between which times of the near clock the far one showed which time: that is certain, however
 * long a message took on its way. While both clocks run evenly, what the near clock is ahead is a line over the far
 * clock's time. All lines that agree with every ping are a polygon of (ahead, drift); what none of them says is wrong.
 * Where no line agrees with the next ping, one of the clocks jumped, and a new piece begins. A jump by less than about
 * three of the shortest round trips can look like a line.
 */

/* The setting of the first buffer of a recording: a line with the near machine, then a line for each ping. */
#define SETTING_PINGS "weft/pings"

struct ping {
	char clock[16];  /* the trace clock's name */
	uint64_t lo, hi; /* the near clock was between these */
	uint64_t far;    /* when the trace clock showed this */
};

/* Append the lines. False: no memory. A line ends the name of the machine that is recorded. */
bool must_check pings_put_near(const char *boot_id, const char *host, struct buf *into);
bool must_check ping_put(const struct ping *ping, struct buf *into);
/* False: the line is none. */
bool ping_parse(const char *line, size_t len, struct ping *ret);

struct pings;

/*
 * Of the text of SETTING_PINGS, for times that readers give `shift` later than the trace clock. *ret NULL: it tells
 * nothing.
 */
int must_check pings_new(const char *text, size_t len, uint64_t shift, struct pings **ret, struct fail *fail);
/* The same of a buffer of a file. */
int must_check pings_of(const struct trace *trace, size_t buffer, struct pings **ret, struct fail *fail);
void pings_free(struct pings *pings);

const char *pings_boot_id(const struct pings *pings); /* of the near machine: times of the same one can be compared */
const char *pings_host(const struct pings *pings);    /* the recorded one, as the user named it */

/* How far the near clock is ahead of the trace's time `ts`, and the half width of what it may be. */
int64_t pings_ahead(const struct pings *pings, uint64_t ts, uint64_t *ret_half);
/* The trace's time at which the near clock showed `near`; the half width is that of pings_ahead() there. */
uint64_t pings_back(const struct pings *pings, uint64_t near);

/* A part of the trace in which no clock jumped. */
struct pings_piece {
	uint64_t first, last; /* the trace's times of its pings */
	int64_t step_ns;      /* how far the near clock is more ahead than in the piece before; 0: the first */
	int64_t drift_lo_ppb, drift_hi_ppb; /* how much faster the near clock runs */
};
/* False: there is no such one. */
bool pings_piece(const struct pings *pings, size_t index, struct pings_piece *ret);

size_t pings_count(const struct pings *pings);
uint64_t pings_shortest(const struct pings *pings); /* the shortest round trip, without what the far side needed */

#endif
