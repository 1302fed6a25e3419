// SPDX-License-Identifier: GPL-2.0-only
#include "formats/flow.h"

#include "formats/sink.h"
#include "lib/base/out.h"
#include "lib/event/event.h"
#include "lib/event/events.h"

static void print(struct flow *flow, struct event *event)
{
	struct sink *sink = flow->sink;

	if (!sink->ops->settle(sink, flow->events, event))
		return;
	if (flow->before)
		flow->before(flow->before_arg, event);
	sink->ops->format(sink, event, flow->out);
	flow->printed += event->kind == EVENT_RECORD;
}

int flow_run(struct flow *flow, size_t size, struct fail *fail)
{
	struct event event;

	while (out_len(flow->out) < size) {
		int r;

		if (flow->printed >= flow->limit)
			return 0;
		r = events_next(flow->events, &event, fail);
		if (r <= 0)
			return r;
		print(flow, &event);
	}
	return 1;
}

void flow_gap(struct flow *flow, uint16_t cpu, int64_t lost)
{
	struct event event = { .kind = EVENT_LOST, .cpu = cpu, .lost = lost };

	print(flow, &event);
}
