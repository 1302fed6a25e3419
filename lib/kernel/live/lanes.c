// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/live/lanes.h"

#include "formats/kernel/prefix.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"

/* The out for a sink's text, which gets its prefix later. */
static struct out *out_of(const struct lanes *lanes, const struct lane *lane)
{
	return lane->prefix ? lanes->scratch : lanes->out;
}

/* Moves the text that a sink has just written, with the prefix before each line. */
static void put(const struct lanes *lanes, const struct lane *lane)
{
	if (lane->prefix)
		prefix_put(lane->prefix, lanes->scratch, lanes->out);
}

static void frame(struct lanes *lanes, bool is_begin)
{
	for (size_t i = 0; i < lanes->nr; i++) {
		struct lane *lane = &lanes->at[i];
		struct sink *sink = lane->sink;
		void (*part)(struct sink * sink, struct out * out) = is_begin ? sink->ops->begin : sink->ops->end;

		if (part)
			part(sink, out_of(lanes, lane));
		put(lanes, lane);
	}
}

static void begin(void *arg)
{
	frame(arg, true);
}

static void end(void *arg)
{
	frame(arg, false);
}

static bool settle(void *arg, struct event *event)
{
	struct lanes *lanes = arg;
	struct sink *sink = lanes->at[event->buffer].sink;

	return sink->ops->settle(sink, lanes->reader->buffers[event->buffer].events, event);
}

static void print(void *arg, const struct event *event)
{
	struct lanes *lanes = arg;
	const struct lane *lane = &lanes->at[event->buffer];

	lane->sink->ops->format(lane->sink, event, out_of(lanes, lane));
	put(lanes, lane);
}

struct flow_consumer lanes_consumer(struct lanes *lanes)
{
	return (struct flow_consumer){
		.arg = lanes, .event = &lanes->event.event, .begin = begin, .end = end, .settle = settle, .print = print
	};
}
