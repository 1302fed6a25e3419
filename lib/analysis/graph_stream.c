// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/graph_stream_internal.h"

#include "lib/event/context.h"
#include "lib/event/graph_events.h"

const struct role_name graph_stream_roles[] = {
	GRAPH_EVENTS(GRAPH_ENTRY, GRAPH_EXIT),
	{ NULL, NULL, 0 },
};

void graph_stream_release(struct graph_stream *stream)
{
	calls_free(stream->calls);
	*stream = (struct graph_stream){ .calls = NULL };
}

void graph_stream_begin(struct graph_stream *stream, struct pass *pass, const struct event *event, bool is_exit)
{
	struct graph_retval *retval = &stream->retvals[stream->nr_retvals];

	if (!stream->calls) {
		stream->calls = calls_new();
		stream->buffer = event->buffer;
		stream->context = event->type->context;
		pass->failed |= !stream->calls;
	}
	if (!stream->calls || stream->buffer != event->buffer || !is_exit || stream->nr_retvals == GRAPH_RETVALS_MAX)
		return;
	retval->type = event->type->index;
	stream->nr_retvals += place_find(&retval->place, event->type, "retval") && retval->place.size;
}

uint8_t graph_stream_look(struct graph_stream *stream, struct pass *pass, struct roles *roles,
			  const struct event *event)
{
	bool fresh;
	uint8_t role = roles_of(roles, event, &fresh);

	if (role)
		graph_stream_begin(stream, pass, event, role == GRAPH_EXIT);
	return role;
}

void graph_stream_lose(struct graph_stream *stream, const struct event *event)
{
	struct call call;

	if (stream->calls && event->buffer == stream->buffer)
		(void)calls_see(stream->calls, event, &call);
}
