/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_EVENT_EVENTS_INTERNAL_H
#define WEFT_EVENT_EVENTS_INTERNAL_H

#include "lib/base/fail.h"
#include "lib/base/scale.h"
#include "lib/event/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct context;
struct merge;

/* Shared by events.c and events_enter.c. */
struct events {
	const struct context *context;
	struct merge *merge;
	struct events_options options;
	struct event_type **types; /* by id; NULL until the type occurs */
	int32_t *seen;             /* ids in the order in which they occurred */
	size_t nr_seen;
	bool swap;
	bool scale; /* time stamps are TSC ticks with a known rate */
	uint32_t mult, shift;
	int64_t ts_offset; /* added to each time stamp */
	uint64_t last;     /* later events are not handed out now: options.until, or earlier (events_pause()) */
	uint64_t count;
	uint64_t before;    /* count when reading began, or began again: older events than the window's are passed */
	bool hidden;        /* the event handed out last is no longer at the top of the merge */
	struct fail damage; /* the first damage */
	struct fail broken; /* the last damage */
};

static inline uint64_t events_time(const struct events *events, uint64_t raw)
{
	if (events->scale)
		raw = scale_mul_shift(raw, events->mult, events->shift);
	return raw + (uint64_t)events->ts_offset;
}

/* Converts `ts` to a raw time that is not later. */
uint64_t events_raw_time(const struct events *events, uint64_t ts);

#endif
