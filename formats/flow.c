// SPDX-License-Identifier: GPL-2.0-only
#include "formats/flow.h"

#include "formats/prefix.h"
#include "formats/sink.h"
#include "lib/base/out.h"
#include "lib/event/event.h"
#include "lib/event/events.h"

/* Where a sink writes to: its text gets the prefix later. */
static struct out *out_of(const struct flow *flow, const struct flow_lane *lane)
{
	return lane->prefix ? flow->scratch : flow->out;
}

/* What a sink has just written, with the prefix in front of each line. */
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
		void (*part)(struct sink *sink, struct out *out) = is_begin ? sink->ops->begin : sink->ops->end;

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

static void print(struct flow *flow, struct flow_lane *lane, struct sink_event *sink_event)
{
	struct event *event = &sink_event->event;
	struct sink *sink = lane->sink;

	if (!sink->ops->settle(sink, lane->events, event))
		return;
	if (lane->select && event->kind == EVENT_RECORD && !lane->select(lane->select_arg, event))
		return;
	if (flow->before)
		flow->before(flow->before_arg, (size_t)(lane - flow->lanes), event);
	sink->ops->format(sink, event, out_of(flow, lane));
	put(flow, lane);
	flow->printed += event->kind == EVENT_RECORD;
}

/* The one whose event is next in time; NULL while another may still bring an older one. */
static struct flow_lane *next_lane(struct flow *flow)
{
	struct flow_lane *first = NULL;
	uint64_t bound = UINT64_MAX;

	if (flow->nr_lanes == 1)
		return flow->lanes;
	for (size_t i = 0; i < flow->nr_lanes; i++) {
		struct flow_lane *lane = &flow->lanes[i];

		if (!lane->looked)
			lane->ready = events_due(lane->events, &lane->due);
		lane->looked = true;
		if (!lane->ready && lane->due < bound)
			bound = lane->due;
		if (lane->ready && (!first || lane->due < first->due))
			first = lane;
	}
	return first && first->due <= bound ? first : NULL;
}

int flow_run(struct flow *flow, size_t size, struct fail *fail)
{
	struct sink_event event;

	/* More may have come. */
	for (size_t i = 0; i < flow->nr_lanes; i++)
		flow->lanes[i].looked = false;
	while (out_len(flow->out) < size) {
		struct flow_lane *lane;
		int r;

		if (flow->printed >= flow->limit)
			return 0;
		lane = next_lane(flow);
		r = lane ? events_next(lane->events, &event.event, fail) : 0;
		if (r <= 0)
			return r;
		lane->looked = false;
		print(flow, lane, &event);
	}
	return 1;
}

void flow_gap(struct flow *flow, size_t lane, uint16_t cpu, int64_t lost)
{
	struct sink_event event = { .event = { .kind = EVENT_LOST, .cpu = cpu, .lost = lost } };

	print(flow, &flow->lanes[lane], &event);
}
