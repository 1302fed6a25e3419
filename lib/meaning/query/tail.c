// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/query/tail.h"

#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"

/* The first window, in units of event::ts: a millisecond for a clock that counts ns. */
enum { WINDOW_FIRST = 1000000, WINDOW_GROWTH = 8, GROWTH_MAX = 1 << 24, MANY_EVENTS = 1 << 16 };

static int count_events(const struct context *context, const struct events_options *options,
			bool (*keep)(void *arg, const struct event *event), void *arg, uint64_t *ret,
			uint64_t *ret_read, struct fail *fail)
{
	struct events *events = NULL;
	struct event event;
	uint64_t count = 0;
	int r = events_open(context, options, &events, fail);

	if (r < 0)
		return r;
	while ((r = events_next(events, &event, fail)) > 0)
		count += event.kind == EVENT_RECORD && (!keep || keep(arg, &event));
	*ret_read = events_count(events);
	events_free(events);
	*ret = count;
	return r;
}

int tail_find(const struct context *context, const struct events_options *options, uint64_t count,
	      bool (*keep)(void *arg, const struct event *event), void *arg, struct tail *ret, struct fail *fail)
{
	struct events_options window = *options;
	uint64_t end = 0, found = 0, growth = WINDOW_GROWTH, read = 0, before = 0;
	int r = events_end_time(context, options, &end, fail);

	if (r < 0)
		return r;
	window.keep_blocks = false;
	for (uint64_t length = WINDOW_FIRST;;) {
		uint64_t since = length < end ? end - length : 0;

		window.since = since > options->since ? since : options->since;
		r = count_events(context, &window, keep, arg, &found, &read, fail);
		if (r < 0)
			return r;
		/* The larger window has the same events again: the events are far apart, so the windows grow faster. */
		if (read > MANY_EVENTS && read < 2 * before && growth < GROWTH_MAX)
			growth *= growth;
		before = read;
		if (found >= count || window.since == options->since || __builtin_mul_overflow(length, growth, &length))
			break;
	}
	*ret = (struct tail){ .since = window.since,
			      .skip = found > count ? found - count : 0,
			      .left = found < count ? found : count };
	return 0;
}
