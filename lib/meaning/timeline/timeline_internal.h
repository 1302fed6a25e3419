/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_TIMELINE_TIMELINE_INTERNAL_H
#define WEFT_MEANING_TIMELINE_TIMELINE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/labels.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/mark.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/marks.h"
#include "lib/meaning/follow/pairs.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/timeline/timeline.h"

struct context;
struct event;
struct state;

/*
 * The system calls of tasks, from the events of raw_syscalls or syscalls: when a call returns, when it began. Where
 * both systems were recorded each call is found once. After lost events a call that was open is known only if
 * lib/meaning/state knows what its task did since then; so the calls are those of weft syscalls.
 */
struct open_calls {
	const struct context *context;
	const struct state *state; /* has seen the event; borrowed */
	struct u64_map calls;      /* by PID */
	bool raw;                  /* raw_syscalls has been seen */
};

/* What open_calls needs of a type of event. */
struct open_calls_type {
	struct place number; /* of the call: the first field after the common ones, whatever its name */
	bool raw;
};

void open_calls_init(struct open_calls *calls, const struct context *context, const struct state *state);
void open_calls_release(struct open_calls *calls);

void open_calls_bind(const struct open_calls *calls, const struct format *format, struct open_calls_type *ret);

void open_calls_enter(struct open_calls *calls, const struct open_calls_type *type, const struct event *event);
/* Returns whether the beginning of the call that returns is known. */
bool open_calls_exit(struct open_calls *calls, const struct open_calls_type *type, const struct event *event,
		     uint64_t *ret_start, int64_t *ret_number);

/* After the last event: whether the task is still in the call that it began last. */
bool open_calls_lasts(const struct open_calls *calls, int32_t pid);

/* Private to timeline*.c. */

enum deed {
	DOES_UNKNOWN, /* the type's first event is still to come, or it is of the function graph */
	DOES_NOTHING,
	DOES_SWITCH,
	DOES_ENTER,
	DOES_EXIT,
	DOES_BEGIN,
	DOES_END,
	DOES_COUNTER,
	DOES_MARK
};

/* NUMBER: of a call, an interrupt, or the owner of a counter. MORE: the handler's name, or which of several numbers. */
enum { NUMBER, MORE, VALUE, NR_PLACES };

enum { HANDLER = 64 };

struct type {
	enum deed role;
	enum timeline_part what;
	enum timeline_kind kind; /* of a pair */
	struct pair_end pair;
	enum timeline_counter counter;
	struct place places[NR_PLACES];
	struct open_calls_type call;
	struct mark_source mark;
};

struct handler {
	char text[HANDLER]; /* "irq 24 eth0" */
};

/* What belongs to one buffer. */
struct part {
	struct timeline *timeline;
	const struct context *context;
	struct selection *chosen; /* borrowed; NULL: all tasks are */
	uint16_t buffer;
	struct frames *frames;
	struct open_calls calls;
	struct type **types; /* by event_type::index, of roles above DOES_SWITCH */
	size_t nr_types;
	bool starved;
	struct pairs pairs;
	struct u64_map handlers; /* by number: struct handler */
	struct marks marks;
	struct counted_field {
		uint16_t type;
		struct place place;
		const char *name;
	} * fields;
	size_t nr_fields;
	uint8_t roles[EVENT_TYPES_MAX]; /* by event_type::index */
};

struct timeline {
	struct timeline_calls calls;
	struct state own;
	const struct state *state; /* `own`, or one that is followed */
	struct runs runs;
	struct part **parts; /* by buffer; NULL: not added */
	size_t nr_parts;
	const struct context *first; /* of the buffer that was added first */
	uint16_t first_buffer;
	bool passes;               /* the event that is seen is not chosen */
	struct out scratch;        /* the text of a mark */
	struct mark mark;          /* of the event that was seen last, if it is one */
	const char *const *fields; /* timeline_count_fields() */
	size_t nr_fields;
	struct labels tracks;                         /* names of counters and tracks of marks */
	struct timeline_slice slices[TIMELINE_KINDS]; /* the last one of its kind */
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
