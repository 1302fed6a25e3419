// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/extent.h"

#include <errno.h>
#include <string.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/pages/trace/trace.h"

static int first_event(const struct context *context, struct extent *extent, struct fail *fail)
{
	const struct events_options all = { .until = UINT64_MAX };
	struct events *events = NULL;
	struct event event;
	int r = events_open(context, &all, &events, fail);

	if (r < 0)
		return r;
	do
		r = events_next(events, &event, fail);
	while (r > 0 && event.kind != EVENT_RECORD);
	if (r > 0 && (!extent->found || event.ts < extent->first))
		extent->first = event.ts;
	extent->found |= r > 0;
	events_free(events);
	return r;
}

static int add_buffer(const struct context *context, struct extent *extent, struct fail *fail)
{
	const struct events_options all = { .until = UINT64_MAX };
	uint64_t last = 0;
	int r = first_event(context, extent, fail);

	/* If r is 0, the buffer has no events. */
	if (r <= 0)
		return r;
	r = events_end_time(context, &all, &last, fail);
	if (!r && last > extent->last)
		extent->last = last;
	return r;
}

int extent_find(const struct context *context, struct extent *extent, struct fail *fail)
{
	struct trace *trace = context->trace;
	int r = 0;

	if (extent->known)
		return 0;
	extent->found = false;
	for (size_t i = 0; !r && i < trace_buffers(trace); i++) {
		struct context *other = NULL;

		if (i == context->buffer) {
			r = add_buffer(context, extent, fail);
			continue;
		}
		r = context_new(trace, i, &other, fail);
		if (!r && !strcmp(other->clock, context->clock))
			r = add_buffer(other, extent, fail);
		context_free(other);
		/* An error of a buffer is reported when the buffer is printed. */
		r = r == -ENOMEM ? r : 0;
	}
	if (!r && extent->found && extent->last < extent->first)
		extent->last = extent->first;
	extent->known = !r;
	return r;
}
