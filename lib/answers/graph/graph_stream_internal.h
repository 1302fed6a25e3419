/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_GRAPH_GRAPH_STREAM_INTERNAL_H
#define WEFT_ANSWERS_GRAPH_GRAPH_STREAM_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answers/graph/graph_facts.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/calls.h"
#include "lib/meaning/follow/roles.h"

enum { GRAPH_RETVALS_MAX = 4 };

/*
 * The calls of the function graph as analyses see them, of the first buffer that has any. All members are zero before
 * its first event.
 */
struct graph_stream {
	struct calls *calls; /* NULL: no event was seen */
	uint16_t buffer;
	const struct context *context; /* of that buffer */
	/* The types of exits that have a return value: one of a recording, some of an imported text. */
	struct graph_retval {
		uint16_t type; /* event_type::index */
		struct place place;
	} retvals[GRAPH_RETVALS_MAX];
	size_t nr_retvals;
};

/* The roles of the events of the function graph, for roles_init(). */
enum graph_role { GRAPH_ENTRY = 1, GRAPH_EXIT };
extern const struct role_name graph_stream_roles[];

void graph_stream_release(struct graph_stream *stream);

/* Returns the event's role; 0: none. For analyses that see only the function graph. */
uint8_t graph_stream_look(struct graph_stream *stream, struct pass *pass, struct roles *roles,
			  const struct event *event);

/* Call it before the first event of each type. Without memory sets pass::failed. */
void graph_stream_begin(struct graph_stream *stream, struct pass *pass, const struct event *event, bool is_exit);

/*
 * Handles an entry or an exit. Returns 1 when the event ended a call, which
 * is then in *ret; 0 when it ended none; -1 when it does not belong to this stream, or when memory runs out
 * (pass::failed).
 */
static inline int graph_stream_see(struct graph_stream *stream, struct pass *pass, const struct event *event,
				   bool is_entry, struct call *ret)
{
	if (__builtin_expect(!stream->calls || stream->buffer != event->buffer, 0))
		return -1;
	if (is_entry)
		calls_mark(stream->calls, graph_off_now(pass, graph_task(pass, event)));
	return calls_see(stream->calls, event, ret);
}
/* Events of a buffer were lost. */
void graph_stream_lose(struct graph_stream *stream, const struct event *event);

/* For analysis_ops::divide and ::carry: a call counts, with all its time, in the interval in which it ends. */
void graph_stream_divide(struct graph_stream *stream, struct pass *pass);
void graph_stream_carry(struct graph_stream *stream, struct graph_stream *before);

/* Reads the return value of the call that this exit ends. Returns false, and *ret is 0, if the event has none. */
static inline bool graph_stream_retval(const struct graph_stream *stream, const struct event *event, uint64_t *ret)
{
	for (size_t i = 0; i < stream->nr_retvals; i++)
		if (stream->retvals[i].type == event->type->index) {
			*ret = place_u64(&stream->retvals[i].place, event);
			return true;
		}
	*ret = 0;
	return false;
}

#endif
