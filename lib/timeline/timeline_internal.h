/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_TIMELINE_TIMELINE_INTERNAL_H
#define WEFT_TIMELINE_TIMELINE_INTERNAL_H

#include "lib/base/u64_map.h"
#include "lib/event/event.h"
#include "lib/event/place.h"
#include "lib/state/state.h"
#include "lib/timeline/open_calls_internal.h"
#include "lib/timeline/timeline.h"

/* Private to timeline*.c. */

enum deed { DOES_UNKNOWN, DOES_NOTHING, DOES_SWITCH, DOES_ENTER, DOES_EXIT, DOES_BEGIN, DOES_END, DOES_COUNTER };

/* NUMBER: of a call, an interrupt, or the owner of a counter. MORE: the handler's name, or which of several numbers. */
enum { NUMBER, MORE, VALUE, NR_PLACES };

enum { HANDLER = 64 };

struct type {
	enum deed role;
	enum timeline_kind kind; /* of a pair */
	uint16_t pair;           /* index of its stem */
	enum timeline_counter counter;
	struct place places[NR_PLACES];
	struct open_calls_type call;
};

struct stem {
	const char *text; /* without a NUL; borrowed from the format */
	size_t len;
};

/* When an interrupt began on a CPU. */
struct start {
	uint64_t ts;
	bool known;
};

struct handler {
	char text[HANDLER]; /* "irq 24 eth0" */
};

/* What belongs to one buffer. */
struct part {
	struct timeline *timeline;
	const struct context *context;
	uint16_t buffer;
	struct frames *frames;
	struct open_calls calls;
	struct u64_map types; /* by event_type::index: struct type */
	struct stem *stems;
	size_t nr_stems;
	struct u64_map starts;   /* by start_key(): struct start */
	struct u64_map handlers; /* by number: struct handler */
	bool starved;
	uint8_t roles[EVENT_TYPES_MAX]; /* by event_type::index */
};

struct timeline {
	struct timeline_calls calls;
	struct state own;
	const struct state *state; /* `own`, or one that is followed */
	struct turns turns;
	struct part **parts; /* by buffer; NULL: not added */
	size_t nr_parts;
	const struct context *first; /* of the buffer that was added first */
	uint16_t first_buffer;
};

static inline bool is_wanted(const struct timeline *timeline, enum timeline_kind kind)
{
	return timeline->calls.wanted >> kind & 1;
}

struct timeline_counted {
	const char *system, *name, *owner, *part, *value;
};

extern const struct timeline_counted timeline_counters[TIMELINE_COUNTERS];

/* timeline_bind.c: looks at a type for the first time. */
enum deed timeline_bind(struct part *part, const struct event_type *event_type);

#endif
