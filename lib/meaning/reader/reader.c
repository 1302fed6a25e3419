// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/query/tail.h"
#include "lib/pages/stream/source.h"
#include "lib/pages/trace/trace.h"

enum { BUFFERS_MAX = UINT16_MAX };

void reader_init(struct reader *reader)
{
	*reader = (struct reader){ .buffers = NULL };
}

static void buffer_release(struct reader_buffer *buffer)
{
	events_free(buffer->events);
	if (buffer->window.source)
		source_free(buffer->window.source);
	selection_free(buffer->selection);
	selection_free(buffer->shown);
	if (!buffer->borrowed)
		context_free(buffer->context);
}

void reader_release(struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		buffer_release(&reader->buffers[i]);
	free(reader->buffers);
	free(reader->failure);
	reader_init(reader);
}

void reader_drop(struct reader *reader)
{
	buffer_release(&reader->buffers[--reader->nr_buffers]);
}

int reader_add(struct reader *reader, struct trace *trace, size_t buffer, struct fail *fail)
{
	struct context *context = NULL;
	struct reader_buffer *added;
	int r;

	if (reader->nr_buffers == BUFFERS_MAX)
		return fail_set(fail, -E2BIG, "more than %d buffers cannot be read together", BUFFERS_MAX);
	r = context_new(trace, buffer, &context, fail);
	if (r < 0)
		return r;
	added = vec_push(reader->buffers, reader->nr_buffers);
	if (!added) {
		context_free(context);
		return fail_memory(fail);
	}
	added->context = context;
	added->window.until = UINT64_MAX;
	return 0;
}

int reader_add_trace(struct reader *reader, struct trace *trace, struct fail *fail)
{
	size_t nr = trace_buffers(trace);
	int r = 0;

	for (size_t i = 0; !r && i < nr; i++)
		if (trace_buffer(trace, i)->nr_cpus || nr == 1)
			r = reader_add(reader, trace, i, fail);
	return r;
}

int reader_share(struct reader *reader, const struct reader *other, uint64_t since, uint64_t until, struct fail *fail)
{
	for (size_t i = 0; i < other->nr_buffers; i++) {
		struct reader_buffer *added = vec_push(reader->buffers, reader->nr_buffers);

		if (!added)
			return fail_memory(fail);
		added->context = other->buffers[i].context;
		added->window = other->buffers[i].window;
		if (since > added->window.since)
			added->window.since = since;
		if (until < added->window.until)
			added->window.until = until;
		added->borrowed = true;
	}
	return 0;
}

static bool clocks_differ(const struct reader *reader)
{
	for (size_t i = 1; i < reader->nr_buffers; i++)
		if (strcmp(reader->buffers[i].context->clock, reader->buffers[0].context->clock))
			return true;
	return false;
}

/*
 * Finds the newest `count` events of each buffer, which include the newest `count` events of all buffers. The oldest of
 * the found events are skipped.
 */
int reader_tail(struct reader *reader, uint64_t count, struct fail *fail)
{
	uint64_t left = 0;

	for (size_t i = 0; i < reader->nr_buffers; i++) {
		struct reader_buffer *buffer = &reader->buffers[i];
		struct tail tail;
		int r = tail_find(buffer->context, &buffer->window, count, buffer->selection ? selection_keep : NULL,
				  buffer->selection, &tail, fail);

		if (r < 0)
			return r;
		buffer->window.since = tail.since;
		buffer->skip = tail.skip;
		left += tail.left;
	}
	reader->skip = left > count ? left - count : 0;
	return 0;
}

void reader_limit(struct reader *reader, uint64_t count)
{
	reader->limited = count != UINT64_MAX;
	reader->left = count;
}

int reader_start(struct reader *reader, const struct reader_options *options, struct fail *fail)
{
	int r = 0;

	reader->failure = calloc(1, sizeof(*reader->failure));
	if (!reader->failure)
		return fail_memory(fail);
	reader->keeps_all = !reader->skip && !reader->limited;
	reader->fails_at_once = options->fails_at_once;
	reader->apart = clocks_differ(reader);
	reader->ahead = options->ahead;
	reader->tells_ends = options->tells_ends;
	for (size_t i = 0; !r && i < reader->nr_buffers; i++) {
		struct reader_buffer *buffer = &reader->buffers[i];

		buffer->window.pool = options->pool;
		buffer->window.keep_blocks = options->keep_blocks || options->ahead;
		buffer->window.entered = options->entered;
		/* Only the selection is told, unless the caller asked. */
		buffer->window.tells_ends =
			options->tells_ends || (buffer->selection && selection_asks_duration(buffer->selection));
		reader->keeps_all &= !buffer->selection && !buffer->skip;
		r = events_open(buffer->context, &buffer->window, &buffer->events, fail);
		/* The events own the source now, or have freed it after an error. */
		buffer->window.source = NULL;
	}
	if (!r && reader->nr_buffers == 1)
		reader->only = reader->buffers[0].events;
	return r;
}

/* Ends one buffer. The other buffers go on; an error is returned when all buffers have ended. */
static void buffer_ended(struct reader *reader, struct reader_buffer *buffer, int r)
{
	buffer->looked = true;
	buffer->ready = false;
	buffer->due = UINT64_MAX;
	if (!reader->failed)
		reader->failed = r;
}

static int at_end(const struct reader *reader, struct fail *fail)
{
	return reader->failed ? fail_set(fail, reader->failed, "%s", reader->failure->text) : 0;
}

/*
 * The buffer with the next event in time. NULL: a live buffer may still bring an older event, or all buffers have
 * ended.
 */
static struct reader_buffer *next_buffer(struct reader *reader, bool *ret_ended)
{
	struct reader_buffer *first = NULL;
	uint64_t bound = UINT64_MAX;

	for (size_t i = 0; i < reader->nr_buffers; i++) {
		struct reader_buffer *buffer = &reader->buffers[i];

		if (!buffer->looked)
			buffer->ready = events_due(buffer->events, &buffer->due);
		buffer->looked = true;
		if (!buffer->ready && buffer->due < bound)
			bound = buffer->due;
		if (buffer->ready && (!first || buffer->due < first->due))
			first = buffer;
		/*
		 * Buffers with different clocks follow one another, so the first buffer that has not ended is read to
		 * its end.
		 */
		if (reader->apart && buffer->due != UINT64_MAX)
			break;
	}
	*ret_ended = !first && bound == UINT64_MAX;
	return first && first->due <= bound ? first : NULL;
}

int reader_step_merged(struct reader *reader, struct event *ret, struct fail *fail)
{
	struct reader_buffer *buffer;
	bool ended;

	while ((buffer = next_buffer(reader, &ended))) {
		int r = events_next(buffer->events, ret, reader->failed ? NULL : reader->failure);

		buffer->looked = false;
		if (r > 0) {
			ret->buffer = (uint16_t)(buffer - reader->buffers);
			return r;
		}
		/* Without an error, the next event is later than the window. */
		buffer_ended(reader, buffer, r);
		if (r < 0 && reader->fails_at_once)
			return at_end(reader, fail);
	}
	return ended ? at_end(reader, fail) : 0;
}

static bool is_end(const struct event *event)
{
	return event->kind == EVENT_LOST && event->lost == EVENT_LOST_REST;
}

/* Leaves out an event before the tail: it does not count among those of its type. */
static bool skip(uint64_t *left, const struct event *event)
{
	if (event->kind == EVENT_RECORD) {
		event->type->seen--;
		(*left)--;
	}
	/* It is also about the time of the tail. */
	return is_end(event);
}

bool reader_wants(struct reader *reader, const struct event *event)
{
	struct reader_buffer *buffer = &reader->buffers[event->buffer];
	bool is_record = event->kind == EVENT_RECORD;

	if (is_record && buffer->selection && !selection_keep(buffer->selection, event))
		return false;
	if (!is_record && buffer->selection)
		selection_gap(buffer->selection, event);
	if (!reader->tells_ends && is_end(event))
		return false;
	if (buffer->skip)
		return skip(&buffer->skip, event);
	if (reader->skip)
		return skip(&reader->skip, event);
	reader->left -= is_record && reader->limited;
	return true;
}

bool reader_chooses(const struct reader_buffer *buffer, const struct event *event)
{
	if (event->kind == EVENT_RECORD)
		return selection_keep(buffer->shown, event);
	selection_gap(buffer->shown, event);
	return false;
}

bool reader_passes(const struct reader *reader, const struct event *event)
{
	const struct selection *selection = reader->buffers[event->buffer].selection;

	return selection && event->kind == EVENT_RECORD && selection_follows_calls(selection);
}

__attribute__((noinline)) static int next_kept(struct reader *reader, struct event *ret, struct fail *fail)
{
	int r;

	if (reader->limited && !reader->left)
		return 0;
	do
		r = reader_step(reader, ret, fail);
	while (r > 0 && !reader_wants(reader, ret));
	return r;
}

static inline int next(struct reader *reader, struct event *ret, struct fail *fail)
{
	return __builtin_expect(reader->keeps_all, 1) ? reader_step(reader, ret, fail) : next_kept(reader, ret, fail);
}

int reader_next(struct reader *reader, struct event *ret, struct fail *fail)
{
	return next(reader, ret, fail);
}

int reader_batch(struct reader *reader, struct event *ret, size_t max, struct fail *fail)
{
	if (reader->only && reader->keeps_all)
		return events_batch(reader->only, ret, max, fail);
	return max ? next(reader, ret, fail) : 0;
}

bool reader_can_enter(const struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (!events_can_enter(reader->buffers[i].events))
			return false;
	return !reader->apart;
}

static void look_again(struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		reader->buffers[i].looked = false;
}

int reader_enter(struct reader *reader, uint64_t ts, struct fail *fail)
{
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		int r = events_enter(reader->buffers[i].events, ts, fail);

		if (r < 0)
			return r;
		if (reader->buffers[i].selection)
			selection_enter(reader->buffers[i].selection);
	}
	look_again(reader);
	return 0;
}

void reader_pause(struct reader *reader, uint64_t last)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		events_pause(reader->buffers[i].events, last);
	look_again(reader);
}

void reader_only(struct reader *reader, int64_t cpu)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		events_only(reader->buffers[i].events, cpu);
}

void reader_resume(struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		events_resume(reader->buffers[i].events);
		reader->buffers[i].looked = false;
	}
}

int reader_run(struct reader *reader, const struct reader_consumer *consumers, size_t nr_consumers, struct fail *fail)
{
	struct event event;
	int r;

	while (!reader->stopped && (r = next(reader, &event, fail)) != 0) {
		if (r < 0)
			return r;
		for (size_t i = 0; i < nr_consumers; i++)
			consumers[i].see(consumers[i].arg, &event);
	}
	return 0;
}

void reader_stop(struct reader *reader)
{
	reader->stopped = true;
}

const char *reader_damage(const struct reader *reader, const char **ret_path)
{
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		/* Before reader_start() there are no events. */
		const struct events *events = reader->buffers[i].events;
		const char *damage = events ? events_damage(events) : NULL;

		if (damage) {
			*ret_path = trace_path(reader->buffers[i].context->trace);
			return damage;
		}
	}
	return NULL;
}

bool reader_is_damaged(const struct reader *reader)
{
	const char *path;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (trace_damage(reader->buffers[i].context->trace))
			return true;
	return reader_damage(reader, &path) != NULL;
}

uint64_t reader_count(const struct reader *reader)
{
	uint64_t count = 0;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		count += events_count(reader->buffers[i].events);
	return count;
}

size_t reader_held_merged(const struct reader *reader)
{
	size_t held = 0;

	for (size_t i = 0; i < reader->nr_buffers; i++)
		held += *events_held(reader->buffers[i].events);
	return held;
}

void reader_retired(struct reader *reader, struct block **chains)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		chains[i] = events_retired(reader->buffers[i].events);
}

void reader_give_back(struct reader *reader, struct block **chains)
{
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		events_release(reader->buffers[i].events, chains[i]);
		chains[i] = NULL;
	}
}

int reader_is_of_one(const struct reader *reader, struct fail *fail)
{
	const char *first = NULL;

	for (size_t i = 0; i < reader->nr_buffers; i++) {
		const char *recording = reader->buffers[i].context->recording;

		if (recording && first && strcmp(recording, first))
			return fail_set(
				fail, -EINVAL,
				"the file was merged from several recordings ('%s', '%s'), whose CPUs and tasks "
				"have nothing to do with each other; choose one with -B",
				first, recording);
		first = recording ? recording : first;
	}
	return 0;
}
