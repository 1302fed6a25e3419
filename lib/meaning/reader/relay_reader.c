// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/relay_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/stream/live_source.h"
#include "lib/pages/stream/source.h"
#include "lib/pages/trace/trace.h"

enum {
	LANE_CPUS_MAX = 1 << 16,
	PAGE_MAX = 1 << 24,
	BUFFERS_MAX = 1 << 12,
	WAITING_MAX = 8 << 20,
	LOST_MAX = 1 << 20,
};

/* A page that came, and waits for the source. */
struct waiting {
	struct waiting *next;
	uint8_t data[];
};

struct queue {
	struct waiting *first, **tail;
};

/* The schema and the context borrow these texts. */
struct learnt {
	struct learnt *next;
	char text[];
};

struct lane {
	struct relay_buffer shape;
	uint32_t *cpus;
	struct queue *queues;  /* by index of the CPU */
	struct source *source; /* owned by the reader */
	struct context *context;
};

struct relay_reader {
	struct relay_reader_options options;
	struct trace *trace; /* the caller's */
	struct lane *lanes;
	size_t nr_lanes, waiting; /* bytes of pages */
	struct live_times times;
	struct learnt *learnt;
	struct buf symbols, names, tgids;
	struct event *lost; /* that no page tells: shown when a round has ended */
	size_t nr_lost, shown;
	bool has_more; /* the sources may have events that are certain */
	bool ended;
};

static void release_lanes(struct relay_reader *relay)
{
	for (size_t i = 0; i < relay->nr_lanes; i++) {
		struct lane *lane = &relay->lanes[i];
		struct waiting *at;

		for (size_t j = 0; lane->queues && j < lane->shape.nr_cpus; j++)
			while ((at = lane->queues[j].first)) {
				lane->queues[j].first = at->next;
				free(at);
			}
		free(lane->queues);
		free(lane->cpus);
	}
	free(relay->lanes);
}

static int damaged(struct fail *fail)
{
	return fail_set(fail, -EBADMSG, "what weft stream --pages writes is damaged");
}

static int take_facts(struct relay_reader *relay, const uint8_t *data, size_t len, struct fail *fail)
{
	int r;

	if (relay->trace)
		return damaged(fail);
	r = io_write(relay->options.file, data, len);
	if (r)
		return fail_set(fail, r, "cannot write a file in memory: %s", strerror(-r));
	return trace_open_fd(relay->options.file, relay->options.name, &relay->trace, fail);
}

static int take_buffer(struct relay_reader *relay, const uint8_t *data, size_t len, struct fail *fail)
{
	struct relay_buffer shape;
	struct lane *lane;

	if (len < sizeof(shape))
		return damaged(fail);
	memcpy(&shape, data, sizeof(shape));
	if (shape.nr_cpus > LANE_CPUS_MAX || len != sizeof(shape) + shape.nr_cpus * sizeof(uint32_t) ||
	    shape.page_size < 64 || shape.page_size > PAGE_MAX || (shape.long_size != 4 && shape.long_size != 8) ||
	    relay->nr_lanes >= BUFFERS_MAX)
		return damaged(fail);
	lane = vec_push(relay->lanes, relay->nr_lanes);
	if (!lane)
		return fail_memory(fail);
	*lane = (struct lane){ .shape = shape };
	lane->cpus = calloc(shape.nr_cpus + 1, sizeof(*lane->cpus));
	lane->queues = calloc(shape.nr_cpus + 1, sizeof(*lane->queues));
	if (!lane->cpus || !lane->queues)
		return fail_memory(fail);
	memcpy(lane->cpus, data + sizeof(shape), shape.nr_cpus * sizeof(uint32_t));
	for (size_t i = 0; i < shape.nr_cpus; i++) {
		lane->queues[i].tail = &lane->queues[i].first;
		if (i && lane->cpus[i] <= lane->cpus[i - 1])
			return damaged(fail);
	}
	return 0;
}

/* What describes the buffers, until RELAY_READY. */
static int read_description(struct relay_reader *relay, struct fail *fail)
{
	struct relay_head head = { .kind = RELAY_HELLO };
	const uint8_t *data;
	int r = 0;

	while (!r && head.kind != RELAY_READY) {
		do
			r = relay->options.next(relay->options.arg, UINT64_MAX, &head, &data, fail);
		while (r == -EINTR);
		if (r < 0)
			return r;
		r = 0;
		if (head.kind == RELAY_FACTS)
			r = take_facts(relay, data, head.len, fail);
		else if (head.kind == RELAY_BUFFER)
			r = take_buffer(relay, data, head.len, fail);
		else if (head.kind == RELAY_SYMBOLS && !relay->symbols.len)
			r = buf_add(&relay->symbols, data, head.len) ? 0 : fail_memory(fail);
		else if (head.kind != RELAY_HELLO && head.kind != RELAY_READY)
			r = damaged(fail);
	}
	return !r && (!relay->trace || !relay->nr_lanes || relay->nr_lanes != trace_buffers(relay->trace)) ?
		       damaged(fail) :
		       r;
}

int relay_reader_new(const struct relay_reader_options *options, struct relay_reader **ret, struct fail *fail)
{
	struct relay_reader *relay = calloc(1, sizeof(*relay));
	int r;

	if (!relay)
		return fail_memory(fail);
	relay->options = *options;
	r = read_description(relay, fail);
	if (r)
		relay_reader_free(relay);
	else
		*ret = relay;
	return r;
}

void relay_reader_free(struct relay_reader *relay)
{
	struct learnt *at;

	if (!relay)
		return;
	release_lanes(relay);
	while ((at = relay->learnt)) {
		relay->learnt = at->next;
		free(at);
	}
	trace_free(relay->trace);
	free(relay->lost);
	buf_release(&relay->symbols);
	buf_release(&relay->names);
	buf_release(&relay->tgids);
	free(relay);
}

struct trace *relay_reader_take_trace(struct relay_reader *relay)
{
	return take(relay->trace);
}

size_t relay_reader_buffers(const struct relay_reader *relay)
{
	return relay->nr_lanes;
}

static int read_page(void *arg, size_t cpu_index, void *into, struct fail *fail)
{
	struct lane *lane = arg;
	struct queue *queue = &lane->queues[cpu_index];
	struct waiting *first = queue->first;

	(void)fail;
	if (!first)
		return 0;
	queue->first = first->next;
	if (!queue->first)
		queue->tail = &queue->first;
	memcpy(into, first->data, lane->shape.page_size);
	free(first);
	return 1;
}

static int ask_symbols(void *arg, struct buf *buf)
{
	const struct relay_reader *relay = arg;

	return buf_add(buf, relay->symbols.data, relay->symbols.len) ? 0 : -ENOMEM;
}

int relay_reader_add(struct relay_reader *relay, size_t index, struct trace *trace, struct reader *reader,
		     struct fail *fail)
{
	struct lane *lane = &relay->lanes[index];
	const struct live_source_options options = {
		.feed = { .read = read_page, .arg = lane },
		.shape = { .size = lane->shape.page_size, .long_size = (uint8_t)lane->shape.long_size },
		.cpus = lane->cpus,
		.nr_cpus = lane->shape.nr_cpus,
		.queue_max = SIZE_MAX,
		.times = &relay->times,
	};
	struct events_options *window;
	int r = reader_add(reader, trace, index, fail);

	if (r)
		return r;
	lane->context = reader->buffers[index].context;
	symbols_ask(lane->context->symbols, ask_symbols, relay);
	r = live_source_new(&options, &lane->source, fail);
	if (r)
		return r;
	window = &reader->buffers[index].window;
	window->source = lane->source;
	window->see = comms_learn;
	window->see_arg = lane->context->comms;
	return 0;
}

static int queue_page(struct relay_reader *relay, struct lane *lane, const struct relay_head *head, const uint8_t *data,
		      struct fail *fail)
{
	struct waiting *added;
	struct queue *queue;

	if (head->cpu >= lane->shape.nr_cpus || head->len != lane->shape.page_size)
		return damaged(fail);
	added = malloc(sizeof(*added) + head->len);
	if (!added)
		return fail_memory(fail);
	added->next = NULL;
	memcpy(added->data, data, head->len);
	queue = &lane->queues[head->cpu];
	*queue->tail = added;
	queue->tail = &added->next;
	relay->waiting += head->len;
	return 0;
}

static int take_pages(struct relay_reader *relay, bool round, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < relay->nr_lanes; i++)
		r = live_source_take(relay->lanes[i].source, round, NULL, fail);
	if (r < 0)
		return r;
	if (round)
		live_times_round(&relay->times);
	relay->waiting = 0;
	relay->has_more = true;
	return 0;
}

static int take_names(struct relay_reader *relay, struct buf *into, const uint8_t *data, size_t len, struct fail *fail)
{
	int r = 0;

	into->len = 0;
	if (!buf_add(into, data, len))
		return fail_memory(fail);
	for (size_t i = 0; !r && i < relay->nr_lanes; i++)
		r = context_set_tasks(relay->lanes[i].context, buf_str(&relay->names), relay->names.len,
				      buf_str(&relay->tgids), relay->tgids.len, fail);
	/* After another failure the old names stay. */
	return r == -ENOMEM ? r : 0;
}

static struct learnt *learn(struct relay_reader *relay, const uint8_t *data, size_t len)
{
	struct learnt *learnt = malloc(sizeof(*learnt) + len + 1);

	if (!learnt)
		return NULL;
	memcpy(learnt->text, data, len);
	learnt->text[len] = '\0';
	learnt->next = relay->learnt;
	return relay->learnt = learnt;
}

static int take_format(struct relay_reader *relay, struct lane *lane, const uint8_t *data, size_t len,
		       struct fail *fail)
{
	struct learnt *learnt = learn(relay, data, len);
	size_t system;

	if (!learnt)
		return fail_memory(fail);
	system = strlen(learnt->text);
	if (system >= len)
		return damaged(fail);
	/* One that is no format is that of an event that is not known. */
	return schema_add(lane->context->schema, learnt->text, system, learnt->text + system + 1, len - system - 1,
			  NULL) == -ENOMEM ?
		       fail_memory(fail) :
		       0;
}

static int take_clock(struct lane *lane, const uint8_t *data, size_t len, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct wall *wall = NULL;

	if (!buf_add(&text, data, len))
		return fail_memory(fail);
	if (wall_new_of_text(buf_str(&text), len, 0, &wall, NULL) || !wall)
		return 0;
	wall_free(lane->context->wall);
	lane->context->wall = wall;
	return 0;
}

static int take_lost(struct relay_reader *relay, const struct lane *lane, const struct relay_head *head,
		     const uint8_t *data, struct fail *fail)
{
	struct event *event;

	if (head->cpu >= lane->shape.nr_cpus || head->len != sizeof(event->lost) || relay->nr_lost == LOST_MAX)
		return damaged(fail);
	event = vec_push(relay->lost, relay->nr_lost);
	if (!event)
		return fail_memory(fail);
	*event = (struct event){ .kind = EVENT_LOST,
				 .ts = relay->times.latest,
				 .buffer = (uint16_t)head->buffer,
				 .cpu = (uint16_t)lane->cpus[head->cpu],
				 .cpu_index = (uint16_t)head->cpu };
	memcpy(&event->lost, data, sizeof(event->lost));
	/* Another number says more than a stranger can know (EVENT_LOST_REST). */
	if (event->lost < 0)
		event->lost = PAGE_LOST_UNKNOWN;
	return 0;
}

static int take_end(struct relay_reader *relay, struct fail *fail)
{
	relay->ended = true;
	for (size_t i = 0; i < relay->nr_lanes; i++)
		live_source_end(relay->lanes[i].source);
	return take_pages(relay, false, fail);
}

static int take_frame(struct relay_reader *relay, const struct relay_head *head, const uint8_t *data, struct fail *fail)
{
	struct lane *lane = head->buffer < relay->nr_lanes ? &relay->lanes[head->buffer] : NULL;
	struct learnt *learnt;

	if (!lane)
		return damaged(fail);
	switch ((enum relay_kind)head->kind) {
	case RELAY_PAGE:
		return queue_page(relay, lane, head, data, fail);
	case RELAY_ROUND:
		return take_pages(relay, true, fail);
	case RELAY_TASKS:
		return take_names(relay, &relay->names, data, head->len, fail);
	case RELAY_TGIDS:
		return take_names(relay, &relay->tgids, data, head->len, fail);
	case RELAY_FORMAT:
		return take_format(relay, lane, data, head->len, fail);
	case RELAY_DYNAMIC:
		learnt = learn(relay, data, head->len);
		lane->context->dynamic_events = learnt ? learnt->text : lane->context->dynamic_events;
		return 0;
	case RELAY_CLOCK:
		return take_clock(lane, data, head->len, fail);
	case RELAY_LOST:
		return take_lost(relay, lane, head, data, fail);
	case RELAY_END:
		return take_end(relay, fail);
	default:
		return damaged(fail);
	}
}

int relay_reader_take(struct relay_reader *relay, uint64_t end_ns, struct fail *fail)
{
	struct relay_head head;
	const uint8_t *data;
	int r;

	if (relay->shown)
		relay->nr_lost = relay->shown = 0;
	while (!relay->has_more) {
		r = relay->options.next(relay->options.arg, end_ns, &head, &data, fail);
		if (!r)
			return fail_set(fail, -EAGAIN, "no event has come yet");
		if (r > 0)
			r = take_frame(relay, &head, data, fail);
		if (!r && relay->waiting > WAITING_MAX)
			r = take_pages(relay, false, fail);
		if (r)
			return r;
	}
	return 0;
}

bool relay_reader_ended(const struct relay_reader *relay)
{
	return relay->ended;
}

size_t relay_reader_dry(struct relay_reader *relay, const struct event **ret)
{
	size_t nr = relay->nr_lost - relay->shown;

	relay->has_more = false;
	*ret = nr ? relay->lost + relay->shown : NULL;
	relay->shown = relay->nr_lost;
	return nr;
}

const struct buf *relay_reader_names(const struct relay_reader *relay)
{
	return &relay->names;
}

const struct buf *relay_reader_symbols(const struct relay_reader *relay)
{
	return &relay->symbols;
}
