// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_slices: the slices of lib/meaning/timeline. */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/meaning/event/context.h"
#include "lib/meaning/timeline/timeline.h"

/* One reading of all events: each recording has a timeline of its own, which its buffers share. */
struct slicing {
	weft_reader *reader;
	weft_slice_fn *see;
	void *arg;
	struct timeline **timelines; /* by buffer */
	struct timeline *current;    /* that of the event, or of the end */
	uint64_t last;
	int r; /* what the caller's function returned */
};

_Static_assert((int)WEFT_SLICE_LOSS == (int)TIMELINE_LOSS && (int)WEFT_SLICE_PAIR == (int)TIMELINE_PAIR &&
		       (int)WEFT_SLICE_FUNCTION == (int)TIMELINE_FUNCTION && (int)WEFT_END_OPEN == (int)RUNS_OPEN,
	       "the kinds of slices have the numbers of lib/meaning/timeline");

static bool has_cpu(const struct timeline_slice *slice)
{
	return slice->kind != TIMELINE_STATE && slice->kind != TIMELINE_CALL;
}

static int32_t pid_of(const struct timeline_slice *slice)
{
	if (slice->kind == TIMELINE_FUNCTION)
		return slice->track->interrupt ? -1 : slice->track->pid;
	if (slice->kind == TIMELINE_PAIR)
		return slice->of_task ? slice->pid : -1;
	return slice->kind <= TIMELINE_CALL || slice->kind > TIMELINE_LOSS ? slice->pid : -1;
}

static void put_slice(void *arg, const struct timeline_slice *slice)
{
	struct slicing *slicing = arg;
	struct weft_slice seen = { .size = sizeof(seen) };
	const struct frame *frame = slice->track ? &slice->track->frames[slice->track->nr_frames - 1] : NULL;
	char text[TIMELINE_NAME];

	if (slicing->r)
		return;
	seen.kind = (enum weft_slice_kind)slice->kind;
	seen.end = (enum weft_slice_end)slice->end;
	seen.from = slice->start;
	seen.to = slice->to;
	seen.cpu = has_cpu(slice) ? (int32_t)slice->cpu : -1;
	seen.pid = pid_of(slice);
	seen.buffer = slice->buffer;
	seen.number = slice->number;
	seen.depth = frame ? frame->depth : (int32_t)slice->depth;
	if (slice->kind == TIMELINE_MARK || slice->kind == TIMELINE_ASYNC || slice->kind == TIMELINE_INSTANT ||
	    (slice->kind == TIMELINE_COUNTER && slice->counter == TIMELINE_MARKED)) {
		seen.process = (int32_t)slice->owner;
		seen.track = slice->of_track;
		seen.track_len = slice->of_track_len;
	}
	seen.state = slice->mode ? (enum weft_state)slice->mode->mode : WEFT_STATE_UNKNOWN;
	seen.letter = slice->mode ? slice->mode->letter : 0;
	seen.name = timeline_name(slicing->current, slice, text, &seen.name_len);
	slicing->r = slicing->see(slicing->arg, &seen);
	if (slicing->r)
		reader_stop(&slicing->reader->reader);
}

static void see_event(void *arg, const struct event *event)
{
	struct slicing *slicing = arg;

	slicing->current = slicing->timelines[event->buffer];
	slicing->last = event->ts;
	(void)timeline_see(slicing->current, event);
}

/* The timeline of the buffers of this one's recording; a new one for the first of them. */
static struct timeline *timeline_of(struct slicing *slicing, size_t index, uint32_t kinds)
{
	const struct reader_buffer *buffers = slicing->reader->reader.buffers;
	const struct context *context = buffers[index].context;
	const struct timeline_calls calls = {
		.arg = slicing,
		.wanted = kinds,
		.slice = put_slice,
		.only_with_entry = context->unit != CLOCK_UNIT_NS, /* times in records of calls are in ns */
	};

	for (size_t i = 0; i < index; i++)
		if (buffers[i].context->trace == context->trace && context_is_beside(buffers[i].context, context))
			return slicing->timelines[i];
	return timeline_new(&calls, context->preempt_rt);
}

static int begin(struct slicing *slicing, uint32_t kinds, struct fail *fail)
{
	const struct reader *reader = &slicing->reader->reader;

	slicing->timelines = calloc(reader->nr_buffers + 1, sizeof(struct timeline *));
	if (!slicing->timelines)
		return fail_memory(fail);
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		slicing->timelines[i] = timeline_of(slicing, i, kinds);
		if (!slicing->timelines[i] ||
		    !timeline_add(slicing->timelines[i], (uint16_t)i, reader->buffers[i].context))
			return fail_memory(fail);
	}
	return 0;
}

static bool is_first(const struct slicing *slicing, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (slicing->timelines[i] == slicing->timelines[index])
			return false;
	return slicing->timelines[index];
}

static int end(struct slicing *slicing, struct fail *fail)
{
	bool starved = false;

	for (size_t i = 0; i < slicing->reader->reader.nr_buffers; i++) {
		slicing->current = slicing->timelines[i];
		if (is_first(slicing, i) && !slicing->r)
			timeline_end(slicing->current, slicing->last);
		starved |= timeline_starved(slicing->current);
	}
	return slicing->r ? slicing->r : starved ? fail_memory(fail) : 0;
}

static void release(struct slicing *slicing)
{
	/* The last first: the first buffer of a timeline is the one that frees it. */
	for (size_t i = slicing->timelines ? slicing->reader->reader.nr_buffers : 0; i-- > 0;)
		if (is_first(slicing, i))
			timeline_free(slicing->timelines[i]);
	free(slicing->timelines);
}

int weft_reader_slices(weft_reader *reader, uint32_t kinds, weft_slice_fn *see, void *arg, struct weft_error *error)
{
	struct slicing slicing = { .reader = reader, .see = see, .arg = arg };
	const struct reader_consumer consumer = { .see = see_event, .arg = &slicing };
	struct fail fail = FAIL_INIT;
	int r = api_reader_start(reader, API_STATE, NULL, &fail);

	if (r)
		return api_result(error, r, &fail);
	r = begin(&slicing, kinds, &fail);
	if (!r)
		r = reader_run(&reader->reader, &consumer, 1, &fail);
	if (!r)
		r = end(&slicing, &fail);
	release(&slicing);
	return r < 0 && r != slicing.r ? api_result(error, r, &fail) : r;
}
