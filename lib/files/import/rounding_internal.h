/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_ROUNDING_INTERNAL_H
#define WEFT_FILES_IMPORT_ROUNDING_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct head;

/*
 * In the form of latency-format, an event has its time and the time until the next event: as a mark, or as a number
 * with the option verbose, which prints the time since the beginning of the buffer, too. Each was rounded to
 * microseconds by itself. These functions find nanoseconds, as near as possible to the times of the text, from which
 * the same text is printed again.
 */
struct rounding {
	int64_t wanted, since;        /* as the text has them; since: -1 without verbose */
	int64_t until_min, until_max; /* the time from this event to the next one */
	int64_t earliest, latest, ts; /* of rounding_solve() */
};

/* What the head of a line says. `old_marks`: marks have the meaning of kernels before 3.19. */
struct rounding rounding_of(const struct head *head, bool old_marks);

/* Something else follows: nothing is known of the time until the next event. */
void rounding_part(struct rounding *rounding);

/* Finds when the buffer began, which may be at 0. Returns false if the events do not tell. */
bool rounding_start(struct rounding *events, size_t nr, int64_t *ret);

/*
 * Writes the time of each event into `ts`. `before` is the event before the first one, with the time that it got;
 * or NULL.
 */
void rounding_solve(struct rounding *events, size_t nr, int64_t start, const struct rounding *before);

#endif
