// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/graph/graph_stream_internal.h"

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/graph_events.h"

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

/* Keeps a task with open calls, and returns how long it has been off the CPU so far. */
static uint64_t hold(void *arg, int32_t pid)
{
	struct pass *pass = arg;
	uint32_t task = pid ? state_task_of(&pass->state, pid) : STATE_NO_TASK;

	if (task == STATE_NO_TASK)
		return 0;
	state_hold(&pass->state, task);
	return graph_off_now(pass, &pass->state.tasks[task]);
}

void graph_stream_divide(struct graph_stream *stream, struct pass *pass)
{
	if (stream->calls)
		calls_rebase(stream->calls, hold, pass);
}

/* A task that ends leaves calls open, and not every recording tells that it has ended. */
enum { CARRIED_MAX = 1 << 13 };

void graph_stream_carry(struct graph_stream *stream, struct graph_stream *before)
{
	if (!before->calls || !calls_trim(before->calls, CARRIED_MAX))
		return;
	*stream = (struct graph_stream){ .calls = before->calls, .buffer = before->buffer, .context = before->context };
	before->calls = NULL;
}
