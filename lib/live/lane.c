// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/live/lane_internal.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/event/events.h"
#include "lib/event/latency_facts.h"
#include "lib/live/flow.h"
#include "lib/live/sum.h"
#include "lib/names/symbols.h"
#include "lib/query/selection.h"
#include "lib/reader/reader.h"
#include "lib/record/tap.h"
#include "lib/record/tap_buffer.h"
#include "lib/stream/live_source.h"
#include "lib/stream/source.h"

#include <stdlib.h>
#include <string.h>

/* The schema and the context borrow these texts. */
struct learnt {
	struct learnt *next;
	struct buf format, dynamic_events;
};

static int ask_symbols(void *arg, struct buf *buf)
{
	return tap_symbols(arg, buf, NULL);
}

/*
 * Learns the format of an event that was created meanwhile. Without the format, the event is printed as an unknown one.
 */
static void learn(void *arg, uint16_t id)
{
	struct live_lane *lane = arg;
	cleanup_buf struct buf system = BUF_INIT;
	struct learnt *learnt = calloc(1, sizeof(*learnt));

	if (!learnt)
		return;
	learnt->next = lane->learnt;
	lane->learnt = learnt;
	if (tap_buffer_format(lane->buffer, id, &system, &learnt->format, NULL) <= 0 ||
	    schema_add(lane->context->schema, buf_str(&system), system.len, buf_str(&learnt->format),
		       learnt->format.len, NULL))
		return;
	/* The format of an event probe does not say to which event the probe is attached; dynamic_events does. */
	if (!tap_dynamic_events(lane->tap, &learnt->dynamic_events, NULL))
		lane->context->dynamic_events = buf_str(&learnt->dynamic_events);
}

static int open_source(struct live_lane *lane, struct live_shared *shared, struct fail *fail)
{
	struct tap_buffer *buffer = lane->buffer;
	struct live_source_options live = {
		.feed = { .read = tap_buffer_read, .overrun = tap_buffer_overrun, .arg = buffer },
		.shape = tap_buffer_shape(buffer),
		.cpus = buffer->cpus,
		.nr_cpus = buffer->nr_cpus,
		.queue_max = shared->queue_max,
		.busy_cpus = shared->busy_cpus,
		.times = &shared->taken,
	};

	int err = live_source_new(&live, &lane->source, fail);

	if (err)
		return err;
	lane->reader->buffers[lane->index].window = (struct events_options){
		.until = UINT64_MAX,
		.source = lane->source,
		.learn = learn,
		.learn_arg = lane,
	};
	return 0;
}

int live_lane_leave_out_self(struct live_lane *lane, const uint64_t **ret, struct fail *fail)
{
	struct selection **selection = &lane->reader->buffers[lane->index].selection;
	int err = selection_new(lane->context, selection, fail);

	if (!err)
		err = selection_leave_out_self(*selection, &lane->left_out, fail);
	*ret = lane->left_out;
	return err;
}

int live_lane_open(struct live_lane *lane, struct tap *tap, struct reader *reader, struct live_shared *shared,
		   struct fail *fail)
{
	int err;

	*lane = (struct live_lane){ .tap = tap, .reader = reader, .index = (uint16_t)reader->nr_buffers };
	lane->buffer = tap_buffer(tap, lane->index);
	err = reader_add(reader, tap_trace(tap), lane->index, fail);
	if (err)
		return err;
	lane->context = reader->buffers[lane->index].context;
	if (context_option(lane->context, OPTION_LATENCY_FORMAT))
		(void)!latency_facts_learn(lane->context, NULL);
	symbols_ask(lane->context->symbols, ask_symbols, tap);
	err = open_source(lane, shared, fail);
	if (!err && tap_buffer_keeps_oldest(lane->buffer)) {
		lane->dropped = calloc(lane->buffer->nr_cpus + 1, sizeof(*lane->dropped));
		err = lane->dropped ? 0 : fail_memory(fail);
	}
	return err;
}

void live_lane_close(struct live_lane *lane)
{
	struct learnt *learnt;

	free(lane->dropped);
	while ((learnt = lane->learnt)) {
		lane->learnt = learnt->next;
		buf_release(&learnt->format);
		buf_release(&learnt->dynamic_events);
		free(learnt);
	}
}

void live_lane_look(struct live_lane *lane)
{
	for (size_t i = 0; i < lane->buffer->nr_cpus; i++)
		tap_buffer_look(lane->buffer, i, live_source_taken(lane->source, i));
}

bool live_lane_looks_always(const struct live_lane *lane)
{
	return lane->dropped;
}

void live_lane_dropped(struct live_lane *lane, struct flow *flow)
{
	const struct tap_buffer *buffer = lane->buffer;

	for (size_t i = 0; lane->dropped && i < buffer->nr_cpus; i++) {
		uint64_t now = tap_buffer_dropped(buffer, i);

		if (now > lane->dropped[i])
			flow_gap(flow, lane->index, (uint16_t)buffer->cpus[i], (int64_t)(now - lane->dropped[i]));
		lane->dropped[i] = now;
	}
}

void live_lane_last_gaps(const struct live_lane *lane, struct flow *flow)
{
	const struct tap_buffer *buffer = lane->buffer;

	for (size_t i = 0; i < buffer->nr_cpus; i++) {
		uint64_t lost = tap_buffer_lost(buffer, i), told = live_source_lost(lane->source, i);

		told += lane->dropped ? lane->dropped[i] : 0;
		if (lost > told)
			flow_gap(flow, lane->index, (uint16_t)buffer->cpus[i], (int64_t)(lost - told));
	}
}

/* If a buffer was cleared before weft looked at the counts again, only the pages tell what was lost. */
static uint64_t count_lost(const struct live_lane *lane, size_t cpu_index)
{
	uint64_t counted = tap_buffer_lost(lane->buffer, cpu_index), told = live_source_lost(lane->source, cpu_index);

	return counted > told ? counted : told;
}

void live_lane_sum(const struct live_lane *lane, struct live_sum *ret)
{
	uint64_t all = 0;

	*ret = (struct live_sum){
		.instance = tap_buffer_name(lane->buffer),
		.printed = events_count(lane->reader->buffers[lane->index].events),
	};
	for (size_t i = 0; i < lane->buffer->nr_cpus; i++) {
		unsigned cleared = tap_buffer_cleared(lane->buffer, i);

		all += tap_buffer_events(lane->buffer, i);
		ret->lost += count_lost(lane, i);
		ret->cleared = cleared > ret->cleared ? cleared : ret->cleared;
	}
	if (all > ret->printed)
		ret->left = all - ret->printed;
	ret->left_out = lane->left_out ? *lane->left_out : 0;
	ret->printed -= ret->left_out;
}
