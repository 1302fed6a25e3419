// SPDX-License-Identifier: GPL-2.0-only
#include "formats/flow.h"

#include "formats/kernel/prefix.h"
#include "formats/sink.h"
#include "lib/base/out.h"
#include "lib/event/event.h"
#include "lib/reader/reader.h"

/* The out for a sink's text, which gets its prefix later. */
static struct out *out_of(const struct flow *flow, const struct flow_lane *lane)
{
	return lane->prefix ? flow->scratch : flow->out;
}

/* Moves the text that a sink has just written, with the prefix before each line. */
static void put(struct flow *flow, const struct flow_lane *lane)
{
	if (lane->prefix)
		prefix_put(lane->prefix, flow->scratch, flow->out);
}

static void frame(struct flow *flow, bool is_begin)
{
	for (size_t i = 0; i < flow->nr_lanes; i++) {
		struct flow_lane *lane = &flow->lanes[i];
		struct sink *sink = lane->sink;
		void (*part)(struct sink * sink, struct out * out) = is_begin ? sink->ops->begin : sink->ops->end;

		if (part)
			part(sink, out_of(flow, lane));
		put(flow, lane);
	}
}

void flow_begin(struct flow *flow)
{
	frame(flow, true);
}

void flow_end(struct flow *flow)
{
	frame(flow, false);
}

static void print(struct flow *flow, struct sink_event *sink_event)
{
	struct event *event = &sink_event->event;
	const struct flow_lane *lane = &flow->lanes[event->buffer];
	struct sink *sink = lane->sink;

	if (!sink->ops->settle(sink, flow->reader->buffers[event->buffer].events, event) ||
	    !reader_keeps(flow->reader, event))
		return;
	if (flow->before)
		flow->before(flow->before_arg, event);
	sink->ops->format(sink, event, out_of(flow, lane));
	put(flow, lane);
	flow->printed += event->kind == EVENT_RECORD;
}

int flow_run(struct flow *flow, size_t size, struct fail *fail)
{
	struct sink_event event;

	/* New events may have arrived. */
	reader_resume(flow->reader);
	while (out_len(flow->out) < size) {
		int r;

		if (flow->printed >= flow->limit)
			return 0;
		r = reader_step(flow->reader, &event.event, fail);
		if (r <= 0)
			return r;
		print(flow, &event);
	}
	return 1;
}

void flow_gap(struct flow *flow, uint16_t lane, uint16_t cpu, int64_t lost)
{
	struct sink_event event = { .event = { .kind = EVENT_LOST, .buffer = lane, .cpu = cpu, .lost = lost } };

	print(flow, &event);
}
