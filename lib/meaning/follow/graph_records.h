/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_GRAPH_RECORDS_H
#define WEFT_MEANING_FOLLOW_GRAPH_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/meaning/event/event.h"
#include "lib/meaning/event/graph_events.h"
#include "lib/meaning/event/place.h"

/*
 * What the records of the function graph say (struct ftrace_graph_ent_entry and ftrace_graph_ret_entry of the kernel's
 * trace_entries.h). All zero knows no type yet.
 */
struct graph_records {
	struct graph_record_type {
		enum graph_event role;
		/*
		 * All that a kernel of this byte order and 64 bits has: a record of `least` bytes is read without a
		 * look at each place.
		 */
		bool plain;
		uint32_t least;
		struct place func, depth, calltime, rettime;
	} * types; /* only those seen */
	size_t nr_types;
	bool starved;
	uint32_t known[EVENT_TYPES_MAX]; /* by event_type::index: 0: not looked at, 1: of no use, n + 2: types[n] */
};

struct graph_record {
	enum graph_event role;
	bool timed; /* an exit that has its call's own times, in the clock of the trace, which the kernel prints */
	int32_t depth;
	uint64_t func, calltime, rettime;
};

/* A kernel stack has no room for more functions: records with a greater depth are ignored. */
enum { GRAPH_DEPTH_MAX = 1024 };

static inline bool graph_record_is_deep(const struct graph_record *record)
{
	return record->depth < 0 || record->depth > GRAPH_DEPTH_MAX;
}

/*
 * Whether the exit is that of a later call than the open one, from which the first inner call returned at `inner_first`
 * (0: none has): its call began only after that, so its entry and the open call's exit are not in the trace.
 */
static inline bool graph_record_is_later(const struct graph_record *exit, uint64_t inner_first)
{
	return exit->timed && inner_first && exit->calltime >= inner_first;
}

void graph_records_release(struct graph_records *records);

/* Looks at a type for the first time. Private to the function below. */
uint32_t graph_records_know(struct graph_records *records, const struct event_type *type);

static inline uint64_t graph_records_plain(const struct place *place, const struct event *event)
{
	uint64_t value;

	memcpy(&value, event->data + place->offset, sizeof(value));
	return value;
}

/* Returns false when the event is no record of the function graph. */
static inline bool graph_records_read(struct graph_records *records, const struct event *event,
				      struct graph_record *ret)
{
	uint32_t known = records->known[event->type->index];
	const struct graph_record_type *type;
	bool plain;

	if (__builtin_expect(!known, 0))
		known = graph_records_know(records, event->type);
	if (known == 1)
		return false;
	type = &records->types[known - 2];
	plain = type->plain && event->len >= type->least;
	ret->role = type->role;
	ret->timed = type->rettime.size;
	if (__builtin_expect(plain, 1)) {
		ret->func = graph_records_plain(&type->func, event);
		memcpy(&ret->depth, event->data + type->depth.offset, sizeof(ret->depth));
		ret->calltime = ret->timed ? graph_records_plain(&type->calltime, event) : 0;
		ret->rettime = ret->timed ? graph_records_plain(&type->rettime, event) : 0;
	} else {
		ret->func = place_u64(&type->func, event);
		ret->depth = (int32_t)place_u64(&type->depth, event);
		ret->calltime = place_u64(&type->calltime, event);
		ret->rettime = place_u64(&type->rettime, event);
	}
	return true;
}

#endif
