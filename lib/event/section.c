// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/event/section_internal.h"

#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/events.h"
#include "lib/trace/trace.h"

#include <stdint.h>

/* Counts the events of the buffer; reads at most `max`. *ret_ts: the time of the last of these. */
static int count(const struct context *context, uint64_t max, uint64_t *ret, uint64_t *ret_ts, struct fail *fail)
{
	const struct events_options options = { .until = UINT64_MAX };
	struct events *events;
	struct event event;
	int r = events_open(context, &options, &events, fail);

	*ret = 0;
	if (r < 0)
		return r;
	while (*ret < max && (r = events_next(events, &event, fail)) > 0) {
		if (event.kind != EVENT_RECORD)
			continue;
		++*ret;
		*ret_ts = event.ts;
	}
	events_free(events);
	return r < 0 ? r : 0;
}

int section_find(struct context *context, struct fail *fail)
{
	uint64_t nr, ts = 0;
	int r;

	/* A file that was made of these events has no others, and no such count. */
	if (!context->section || !trace_setting(context->trace, context->buffer, "weft/entries").text)
		return 0;
	/*
	 * tracing_iter_reset() of kernel/trace/trace.c skips what is older than the section, so the events that it
	 * prints are the last ones in time.
	 */
	r = count(context, UINT64_MAX, &nr, &ts, fail);
	if (!r && nr > context->entries)
		r = count(context, nr - context->entries + 1, &nr, &ts, fail);
	else
		ts = 0;
	context->section_since = ts;
	return r;
}
