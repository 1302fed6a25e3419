/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_DISPATCH_H
#define WEFT_ANSWERS_FRAME_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/analysis.h"
#include "lib/meaning/event/event.h"

struct state;

/*
 * Shows each event to the analyses that want events of its type. Each analysis is asked once for each type, so an event
 * that nobody wants costs one look at its type.
 * Use: dispatch_add() each analysis; then dispatch_to() with the dispatch_type() of each event, or dispatch_gap().
 */
struct dispatch {
	struct dispatch_item {
		const struct analysis_ops *ops;
		void *analysis; /* borrowed */
	} * items;
	size_t nr_items;
	struct dispatch_buffer {
		struct dispatch_type *types; /* by event_type::index */
		size_t nr;
	} * buffers;
	size_t nr_buffers;
	struct state *state; /* borrowed: it is also asked about each type; NULL: it is not */
	bool failed;         /* no memory: events were left out */
};

struct dispatch_type {
	struct dispatch_to {
		void (*see)(void *analysis, const struct event *event, uint8_t role);
		void *analysis;
		uint8_t role;
	} * to;
	uint32_t nr;
	uint8_t state_role;
	bool known;
};

void dispatch_release(struct dispatch *dispatch);
bool must_check dispatch_add(struct dispatch *dispatch, const struct analysis_ops *ops, void *analysis);
/* Forgets the analyses and what they wanted. */
void dispatch_clear(struct dispatch *dispatch);

/* Asks the analyses about the type of an EVENT_RECORD, the first of its type in its buffer. NULL: no memory. */
const struct dispatch_type *dispatch_ask(struct dispatch *dispatch, const struct event *event);
/* Shows a gap, which every analysis sees. */
void dispatch_gap(const struct dispatch *dispatch, const struct event *event);
/* Shows one to those that pair the events of several CPUs (analysis_ops::across). */
void dispatch_rest(const struct dispatch *dispatch, const struct event *event);

static inline const struct dispatch_type *dispatch_type(struct dispatch *dispatch, const struct event *event)
{
	uint16_t index = event->type->index;

	if (__builtin_expect(event->buffer < dispatch->nr_buffers && index < dispatch->buffers[event->buffer].nr, 1)) {
		const struct dispatch_type *type = &dispatch->buffers[event->buffer].types[index];

		if (__builtin_expect(type->known, 1))
			return type;
	}
	return dispatch_ask(dispatch, event);
}

static inline void dispatch_to(const struct dispatch_type *type, const struct event *event)
{
	const struct dispatch_to *end = type->to + type->nr;

	for (const struct dispatch_to *to = type->to; to < end; to++)
		to->see(to->analysis, event, to->role);
}

#endif
