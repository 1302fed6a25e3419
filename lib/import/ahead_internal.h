/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_IMPORT_AHEAD_INTERNAL_H
#define WEFT_IMPORT_AHEAD_INTERNAL_H

#include "lib/base/buf.h"
#include "lib/import/rounding_internal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct head;

/*
 * Lines in the form of latency-format wait here until the ones behind them are known, because the time of an event
 * depends on what was printed of the time until the next one (rounding.h). The memory is bounded.
 */
struct ahead_line {
	size_t at, len, start; /* in `bytes`; where the text begins, behind what was in front of it */
	uint64_t number;
	bool is_log, is_event;
	uint64_t ts; /* of an event, when it leaves */
};

struct ahead {
	struct buf bytes;
	struct ahead_line *lines;
	size_t nr;
	struct rounding *events; /* of those lines that are events, in order */
	size_t nr_events;
	struct rounding last; /* the event that left last */
	bool has_last, has_start;
	int64_t start;
};

void ahead_release(struct ahead *ahead);

/* Whether the line of this head waits. */
bool ahead_wants(const struct head *head);

/* Adds a line; `head` is NULL if it is no event; `old_marks` as in rounding_of(). Returns false without memory. */
bool ahead_add(struct ahead *ahead, const struct ahead_line *line, const char *raw, const struct head *head,
	       bool old_marks);

/* The marks of the waiting lines turn out to have the meaning of kernels before 3.19. */
void ahead_has_old_marks(struct ahead *ahead);

/* The last event is followed by something else, which has a time. */
void ahead_part(struct ahead *ahead);

/* So many lines wait that the first ones have to leave. */
bool ahead_is_full(const struct ahead *ahead);

/* Returns how many lines leave, with their times: some of the first ones, or all. */
size_t ahead_leave(struct ahead *ahead, bool all);

/* Forgets the lines that left. */
void ahead_drop(struct ahead *ahead, size_t nr);

#endif
