// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/live/flow.h"

#include "lib/ground/base/out.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/reader.h"

void flow_begin(struct flow *flow)
{
	if (flow->consumer.begin)
		flow->consumer.begin(flow->consumer.arg);
}

static int failed(const struct flow *flow)
{
	return flow->consumer.failed ? flow->consumer.failed(flow->consumer.arg) : 0;
}

int flow_end(struct flow *flow)
{
	if (flow->consumer.end)
		flow->consumer.end(flow->consumer.arg);
	return failed(flow);
}

static void pass(struct flow *flow)
{
	const struct flow_consumer *consumer = &flow->consumer;
	struct event *event = consumer->event;

	if (!consumer->settle(consumer->arg, event) || !reader_keeps(flow->reader, event))
		return;
	if (flow->before)
		flow->before(flow->before_arg, event);
	if (consumer->print)
		consumer->print(consumer->arg, event);
	flow->printed += event->kind == EVENT_RECORD;
}

int flow_run(struct flow *flow, size_t size, struct fail *fail)
{
	/* New events may have arrived. */
	reader_resume(flow->reader);
	while (out_len(flow->out) < size) {
		int r;

		if (flow->printed >= flow->limit)
			return failed(flow);
		r = reader_step(flow->reader, flow->consumer.event, fail);
		if (r <= 0)
			return r ? r : failed(flow);
		pass(flow);
	}
	return failed(flow) ? failed(flow) : 1;
}

void flow_gap(struct flow *flow, uint16_t buffer, uint16_t cpu, int64_t lost)
{
	*flow->consumer.event = (struct event){ .kind = EVENT_LOST, .buffer = buffer, .cpu = cpu, .lost = lost };
	pass(flow);
}
