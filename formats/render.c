// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/render.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/kernel/prefix.h"
#include "formats/renderer_internal.h"
#include "formats/sink.h"
#include "formats/text_end.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/pool.h"
#include "lib/meaning/clock/apart.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/plugin/foreign.h"
#include "lib/meaning/reader/reader.h"

/* A batch's events and text should stay in a core's second-level cache together. */
enum { BATCH_EVENTS = 1024, BATCH_TEXT = 128 << 10 };

/*
 * With threads there are many more batches than threads: memory that another core has just read is slow to write, and
 * with many batches a batch has left that core's cache before it is filled again.
 */
enum { BATCHES_WAITING = 24 };

/*
 * Events borrow from blocks of pages; a few selected events may borrow from many blocks. A batch ends when the blocks
 * after its events are this large. Before the next batch is filled, batches are written until all of them hold at most
 * BATCHES_HELD.
 */
enum { BATCH_HELD = 512 << 10, BATCHES_HELD = 8 << 20 };

/* Longer text is formatted while it is written: its length is checked after this many events. */
enum { BATCH_TEXT_MAX = 1 << 20, BATCH_STEP = 32 };

/* The number of events for which memory is prefetched ahead. */
enum { PREFETCH = 8 };

/* The first batches are small, so that the first lines appear soon. */
enum { BATCH_EVENTS_FIRST = 32 };

/* With at least this many batches each one is smaller, so that all of them fit in the memory that a report may take. */
enum { BATCHES_MANY = 48, BATCH_EVENTS_MANY = BATCH_EVENTS / 2 };

struct batch {
	struct pool_job job; /* first: a job is cast to its batch */
	/* the sink of the only buffer, without a prefix; NULL: there are several buffers */
	const struct sink *only;
	struct sink *const *sinks;            /* by event::buffer */
	char *const *prefixes, *const *close; /* of render_options */
	struct out out;
	struct out scratch;          /* for a text that gets a prefix */
	struct foreign_texts texts;  /* of the events */
	struct block **retired;      /* for each buffer the blocks to release when the batch was written */
	size_t held;                 /* their bytes */
	uint32_t len, done;          /* number of events, and of those already formatted */
	bool busy;                   /* submitted and not yet written */
	bool is_close[BATCH_EVENTS]; /* only used with `close` */
	struct sink_event events[BATCH_EVENTS + PREFETCH];
};

struct renderer {
	struct reader *reader;
	struct sink *const *sinks;
	const struct render_options *options;
	const struct render_port *port;
	struct batch *batches;
	unsigned nr_batches;
	unsigned next;         /* the batch to fill next; the oldest busy one follows it */
	unsigned batch_events; /* size of the next batch */
	size_t held;           /* bytes of blocks in all batches */
	uint64_t printed;
	bool ended;
	bool foreign; /* plugins of libtraceevent add texts to events */
};

/*
 * Another thread used these cache lines last. Fetching them takes longer than all the work on an event, so they are
 * prefetched. There is room after the last event of a batch for that.
 */
static inline void prefetch_read(const struct sink_event *event)
{
	__builtin_prefetch(event);
	__builtin_prefetch((const char *)(event + 1) - 1);
}

/*
 * Without this attribute compilers use a prefetch for reading, because not every processor has the instruction;
 * processors without it ignore it.
 */
#ifdef __x86_64__
#define may_prefetch_write __attribute__((target("prfchw")))
#else
#define may_prefetch_write
#endif

may_prefetch_write static inline void prefetch_write(const struct sink_event *event)
{
	__builtin_prefetch(event, 1);
	__builtin_prefetch((const char *)(event + 1) - 1, 1);
}

/* Formats an event of one of several buffers. */
__attribute__((noinline)) static void format_merged(struct batch *batch, uint32_t index)
{
	const struct event *event = &batch->events[index].event;
	const struct sink *sink = batch->sinks[event->buffer];
	char *const *prefixes = batch->close && batch->is_close[index] ? batch->close : batch->prefixes;

	sink->ops->format(sink, event, batch->prefixes ? &batch->scratch : &batch->out);
	if (batch->prefixes)
		prefix_put(prefixes[event->buffer], &batch->scratch, &batch->out);
}

static void batch_format(struct pool_job *job)
{
	struct batch *batch = (struct batch *)job;
	const struct sink *sink = batch->only;

	while (batch->done < batch->len && out_len(&batch->out) < BATCH_TEXT_MAX) {
		uint32_t i = batch->done, left = batch->len - i, end = i + (left < BATCH_STEP ? left : BATCH_STEP);

		for (; i < end; i++) {
			prefetch_read(&batch->events[i + PREFETCH]);
			if (__builtin_expect(sink != NULL, 1))
				sink->ops->format(sink, &batch->events[i].event, &batch->out);
			else
				format_merged(batch, i);
		}
		batch->done = end;
	}
}

static inline size_t held_by(const struct renderer *state, const size_t *held)
{
	return __builtin_expect(held != NULL, 1) ? *held : reader_held_merged(state->reader);
}

/* Releases the retired blocks if the batch is empty; the batch can then go on. */
__attribute__((noinline)) static bool relieve(struct reader *reader, struct batch *batch, bool empty)
{
	if (empty) {
		reader_retired(reader, batch->retired);
		reader_give_back(reader, batch->retired);
	}
	return empty;
}

static void pass_over(const struct reader *reader, struct sink *sink, const struct event *event)
{
	if (sink->ops->pass_over && reader_passes(reader, event))
		sink->ops->pass_over(sink, event);
}

/* In the order of the lines. */
__attribute__((noinline)) static void note_close(const struct renderer *state, struct batch *batch,
						 const struct sink_event *event)
{
	const struct event *next = &event->event;

	batch->is_close[event - batch->events] =
		next->kind == EVENT_RECORD &&
		apart_next(state->options->apart, state->reader->buffers[next->buffer].context->buffer, next->ts);
}

/* Decodes, merges and settles events until the batch is full, holds too much, or the stream ends. */
may_prefetch_write static int batch_fill(struct renderer *state, struct batch *batch, struct fail *fail)
{
	/* All sinks are of one format. */
	bool (*settle)(struct sink *, struct events *, struct event *) = state->sinks[0]->ops->settle;
	struct reader *reader = state->reader;
	struct events *events = reader->only;
	struct sink *sink = state->sinks[0];
	struct sink_event *event = batch->events, *end = event + state->batch_events;
	uint64_t printed = state->printed, limit = state->options->limit;
	const size_t *held = events ? events_held(events) : NULL;
	bool all = reader->keeps_all, merged = !events;
	int r = 1;

	while (event < end && printed < limit) {
		if (__builtin_expect(held_by(state, held) > BATCH_HELD, 0) &&
		    !relieve(reader, batch, event == batch->events))
			break;
		r = merged ? reader_step_merged(reader, &event->event, fail) : events_next(events, &event->event, fail);
		if (r <= 0)
			break;
		if (merged) {
			sink = state->sinks[event->event.buffer];
			events = reader->buffers[event->event.buffer].events;
		}
		prefetch_write(event + PREFETCH);
		if (!all && !reader_wants(reader, &event->event)) {
			pass_over(reader, sink, &event->event);
			continue;
		}
		if (!settle(sink, events, &event->event))
			continue;
		if (batch->close)
			note_close(state, batch, event);
		printed += event->event.kind == EVENT_RECORD;
		event++;
	}
	state->ended = !r || printed >= limit;
	state->printed = printed;
	batch->len = (uint32_t)(event - batch->events);
	batch->done = 0;
	batch->held = held_by(state, held);
	reader_retired(reader, batch->retired);
	state->held += batch->held;
	if (state->batch_events < (state->nr_batches > BATCHES_MANY ? BATCH_EVENTS_MANY : BATCH_EVENTS))
		state->batch_events *= 2;
	return r < 0 ? r : 0;
}

/* Asks the plugins of one buffer's file, which may be those of other buffers, too. */
static void add_texts_of(const struct context *context, struct batch *batch)
{
	struct event *asked[BATCH_EVENTS];
	size_t nr = 0;

	for (uint32_t i = 0; i < batch->len; i++) {
		struct event *event = &batch->events[i].event;

		if (event->kind == EVENT_RECORD && event->type->context->foreign == context->foreign)
			asked[nr++] = event;
	}
	foreign_ask(context->foreign, asked, nr, &batch->texts);
}

__attribute__((noinline)) static void add_texts(const struct renderer *state, struct batch *batch)
{
	const struct reader_buffer *buffers = state->reader->buffers;

	foreign_texts_clear(&batch->texts);
	for (uint32_t i = 0; i < batch->len; i++)
		if (batch->events[i].event.kind == EVENT_RECORD)
			batch->events[i].event.added = NULL;
	for (size_t i = 0; i < state->reader->nr_buffers; i++) {
		const struct context *context = buffers[i].context;
		bool first = context->foreign != NULL;

		for (size_t before = 0; first && before < i; before++)
			first = buffers[before].context->foreign != context->foreign;
		if (first)
			add_texts_of(context, batch);
	}
}

static int batch_finish(struct renderer *state, struct batch *batch, struct fail *fail)
{
	int r;

	if (!batch->busy)
		return 0;
	if (state->options->pool)
		pool_wait(state->options->pool, &batch->job);
	batch->busy = false;
	r = state->port->put(state->port->arg, &batch->out, fail);
	while (!r && batch->done < batch->len) {
		batch_format(&batch->job);
		r = state->port->put(state->port->arg, &batch->out, fail);
	}
	reader_give_back(state->reader, batch->retired);
	state->held -= batch->held;
	return r;
}

/* Writes batches, the oldest first, until the others do not hold too much. */
static int batches_relieve(struct renderer *state, struct fail *fail)
{
	int r = 0;

	for (unsigned i = 0; !r && state->held > BATCHES_HELD && i < state->nr_batches; i++)
		r = batch_finish(state, &state->batches[(state->next + i) % state->nr_batches], fail);
	return r;
}

/* Writes, refills and submits each batch in turn. */
static int render_batches(struct renderer *state, struct fail *fail)
{
	int r = 0;

	while (!r && !state->ended) {
		struct batch *batch = &state->batches[state->next];

		state->next = (state->next + 1) % state->nr_batches;
		r = batch_finish(state, batch, fail);
		if (r < 0)
			break;
		r = batch_fill(state, batch, fail);
		if (state->foreign)
			add_texts(state, batch);
		batch->busy = true;
		if (state->options->pool)
			pool_submit(state->options->pool, &batch->job);
		else
			batch_format(&batch->job);
		if (!r)
			r = batches_relieve(state, fail);
	}
	for (unsigned i = 0; i < state->nr_batches; i++) {
		struct batch *batch = &state->batches[(state->next + i) % state->nr_batches];
		int last = batch_finish(state, batch, r ? NULL : fail);

		if (!r)
			r = last;
	}
	return r;
}

static int renderer_init(struct renderer *state, struct fail *fail)
{
	unsigned threads = pool_threads(state->options->pool);

	/*
	 * Without threads, one batch stays in the cache; with threads, each has one batch to format while the next ones
	 * wait.
	 */
	state->nr_batches = threads ? threads + BATCHES_WAITING : 1;
	for (size_t i = 0; i < state->reader->nr_buffers; i++)
		state->foreign |= state->reader->buffers[i].context->foreign != NULL;
	state->batches = calloc(state->nr_batches, sizeof(*state->batches));
	if (!state->batches)
		return fail_memory(fail);
	for (unsigned i = 0; i < state->nr_batches; i++) {
		struct batch *batch = &state->batches[i];

		batch->job.run = batch_format;
		batch->sinks = state->sinks;
		batch->only = state->reader->only && !state->options->prefixes ? state->sinks[0] : NULL;
		batch->prefixes = state->options->prefixes;
		batch->close = state->options->prefixes && state->options->apart ? state->options->close : NULL;
		batch->retired = calloc(state->reader->nr_buffers, sizeof(*batch->retired));
		if (!batch->retired || !out_init(&batch->out, BATCH_TEXT) ||
		    (batch->prefixes && !out_init(&batch->scratch, 0)))
			return fail_memory(fail);
	}
	return 0;
}

int renderer_new(struct reader *reader, struct sink *const *sinks, const struct render_options *options,
		 struct renderer **ret, struct fail *fail)
{
	struct renderer *renderer = calloc(1, sizeof(*renderer));
	int r;

	if (!renderer)
		return fail_memory(fail);
	*renderer = (struct renderer){
		.reader = reader, .sinks = sinks, .options = options, .batch_events = BATCH_EVENTS_FIRST
	};
	r = renderer_init(renderer, fail);
	if (r < 0)
		renderer_free(renderer);
	else
		*ret = renderer;
	return r;
}

void renderer_free(struct renderer *renderer)
{
	for (unsigned i = 0; renderer && renderer->batches && i < renderer->nr_batches; i++) {
		out_release(&renderer->batches[i].out);
		out_release(&renderer->batches[i].scratch);
		foreign_texts_release(&renderer->batches[i].texts);
		free(renderer->batches[i].retired);
	}
	if (renderer)
		free(renderer->batches);
	free(renderer);
}

int renderer_run(struct renderer *renderer, const struct render_port *port, uint64_t *ret_printed, struct fail *fail)
{
	int r;

	renderer->port = port;
	renderer->printed = 0;
	renderer->ended = false;
	r = render_batches(renderer, fail);
	*ret_printed = renderer->printed;
	return r;
}

int render_frame(const struct reader *reader, struct sink *const *sinks, const struct render_options *options,
		 bool is_begin, const struct render_port *port, struct fail *fail)
{
	struct out out = { .start = NULL }, text = { .start = NULL };
	int r = 0;

	if (!out_init(&out, 0) || !out_init(&text, 0))
		r = fail_memory(fail);
	for (size_t i = 0; !r && i < reader->nr_buffers; i++) {
		struct sink *sink = sinks[i];
		void (*part)(struct sink *, struct out *) = is_begin ? sink->ops->begin : sink->ops->end;

		if (part)
			part(sink, options->prefixes ? &text : &out);
		if (options->prefixes)
			prefix_put(options->prefixes[i], &text, &out);
	}
	if (!r)
		r = port->put(port->arg, &out, fail);
	out_release(&out);
	out_release(&text);
	return r;
}

static int put(void *arg, struct out *text, struct fail *fail)
{
	return text_end_put(arg, text, fail);
}

struct render_port render_port_to(struct text_end *end)
{
	return (struct render_port){ .put = put, .arg = end };
}

int render(struct reader *reader, struct sink *const *sinks, const struct render_options *options, struct text_end *end,
	   uint64_t *ret_printed, struct fail *fail)
{
	const struct render_port port = render_port_to(end);
	struct renderer *renderer = NULL;
	int r = renderer_new(reader, sinks, options, &renderer, fail);

	*ret_printed = 0;
	if (!r)
		r = render_frame(reader, sinks, options, true, &port, fail);
	if (!r)
		r = renderer_run(renderer, &port, ret_printed, fail);
	if (!r)
		r = render_frame(reader, sinks, options, false, &port, fail);
	renderer_free(renderer);
	return r;
}
