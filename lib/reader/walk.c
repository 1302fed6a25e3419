// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/reader/walk.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/query/selection.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * SLICES: with 1,024 events each they cover the way that users go back and forth. STEP: events between two questions to
 * the owner. LENGTH: of the first window that is looked at, in units of event::ts.
 */
enum { SLICES = 12, SLICE_EVENTS = 1024, SLICE_BYTES = 1 << 20, STEP = 4096 };
enum { LENGTH_FIRST = 1000000, LENGTH_GROWTH = 8, GROWTH_MAX = 1 << 24, FEW = SLICE_EVENTS / 4 };

/* Events that follow one another without another between them, and copies of their bytes. */
struct slice {
	struct slice_event {
		struct walk_event walked; /* its data is not valid: the bytes are at `at` */
		size_t at;
	} * events;
	size_t nr;
	struct buf bytes;
};

struct walk {
	struct reader *reader; /* borrowed */
	struct walk_options options;
	/* neighbours in time; slices[slice].events[index] is the event behind the place */
	struct slice slices[SLICES];
	size_t nr, slice, index;
	struct walk_place place; /* without slices: where it stands */
	bool flows;              /* the reader continues behind the last slice */
	/* of the event that the reader returned last */
	struct walk_place last;
	bool some;
	uint64_t length; /* of the next window to look at when going back */
	struct walk_event handed[2];
	struct buf handed_bytes[2];
	unsigned turn;
};

int walk_new(struct reader *reader, const struct walk_options *options, struct walk **ret, struct fail *fail)
{
	struct walk *walk;

	if (!reader_is_merged(reader))
		return fail_set(fail, -EINVAL,
				"the buffers have different clocks, so their events have no common order; choose one "
				"with -B");
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		const struct selection *selection = reader->buffers[i].selection;

		if (selection && selection_asks_duration(selection))
			return fail_set(fail, -EINVAL,
					"a filter by duration needs all events from the first one on, and here the "
					"file is entered anywhere");
	}
	walk = calloc(1, sizeof(*walk));
	if (!walk)
		return fail_memory(fail);
	walk->reader = reader;
	walk->options = *options;
	walk->length = LENGTH_FIRST;
	*ret = walk;
	return 0;
}

static void slice_release(struct slice *slice)
{
	free(slice->events);
	buf_release(&slice->bytes);
	*slice = (struct slice){ .events = NULL };
}

void walk_free(struct walk *walk)
{
	if (!walk)
		return;
	for (size_t i = 0; i < walk->nr; i++)
		slice_release(&walk->slices[i]);
	for (size_t i = 0; i < array_size(walk->handed_bytes); i++)
		buf_release(&walk->handed_bytes[i]);
	free(walk);
}

static struct walk_place before_all(const struct walk *walk)
{
	return walk->slices[0].events[0].walked.place;
}

static struct walk_place last_of_all(const struct walk *walk)
{
	const struct slice *slice = &walk->slices[walk->nr - 1];

	return slice->events[slice->nr - 1].walked.place;
}

struct walk_place walk_stands(const struct walk *walk)
{
	struct walk_place place;

	if (!walk->nr)
		return walk->place;
	if (walk->slice < walk->nr)
		return walk->slices[walk->slice].events[walk->index].walked.place;
	place = last_of_all(walk);
	place.nth++;
	return place;
}

void walk_seek(struct walk *walk, struct walk_place place)
{
	/* What has been read is used if the place is in it. */
	if (walk->nr && walk_compare(place, before_all(walk)) >= 0 && walk_compare(place, last_of_all(walk)) <= 0) {
		struct slice *slice = walk->slices;
		size_t low = 0, high;

		while (walk_compare(slice->events[slice->nr - 1].walked.place, place) < 0)
			slice++;
		high = slice->nr - 1;
		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (walk_compare(slice->events[middle].walked.place, place) < 0)
				low = middle + 1;
			else
				high = middle;
		}
		walk->slice = (size_t)(slice - walk->slices);
		walk->index = low;
		return;
	}
	while (walk->nr)
		slice_release(&walk->slices[--walk->nr]);
	walk->slice = walk->index = 0;
	walk->flows = false;
	walk->place = place;
}

static int slice_add(struct slice *slice, const struct event *event, struct walk_place place, struct fail *fail)
{
	struct slice_event *added;

	if (!slice->events) {
		slice->events = malloc(SLICE_EVENTS * sizeof(*slice->events));
		if (!slice->events)
			return fail_memory(fail);
	}
	added = &slice->events[slice->nr];
	added->walked = (struct walk_event){ .event = *event, .place = place };
	added->at = slice->bytes.len;
	if (event->kind == EVENT_RECORD && !buf_add(&slice->bytes, event->data, event->len + (size_t)event->more))
		return fail_memory(fail);
	slice->nr++;
	return 0;
}

static bool slice_is_full(const struct slice *slice)
{
	return slice->nr == SLICE_EVENTS || slice->bytes.len >= SLICE_BYTES;
}

static int begin(struct walk *walk, uint64_t since, uint64_t until, struct fail *fail)
{
	walk->some = false;
	walk->flows = false;
	return reader_again(walk->reader, since, until, fail);
}

/* Reads on until a selected event: 1, its place is walk->last; 0 at the end; -ECANCELED. */
static int read_on(struct walk *walk, struct event *ret, uint64_t *steps, int direction, struct fail *fail)
{
	for (;;) {
		int r = reader_step(walk->reader, ret, fail);

		if (r <= 0)
			return r;
		if (++*steps % STEP == 0 && walk->options.stop &&
		    walk->options.stop(walk->options.arg, ret->ts, direction))
			return -ECANCELED;
		if (!reader_keeps(walk->reader, ret))
			continue;
		if (walk->some && walk->last.ts == ret->ts)
			walk->last.nth++;
		else
			walk->last = (struct walk_place){ .ts = ret->ts };
		walk->some = true;
		return 1;
	}
}

/* Makes room for a slice at that end, by giving up the one at the other end. */
static struct slice *make_room(struct walk *walk, bool in_front)
{
	if (walk->nr == SLICES) {
		if (in_front) {
			slice_release(&walk->slices[--walk->nr]);
			walk->flows = false;
		} else {
			slice_release(&walk->slices[0]);
			memmove(walk->slices, walk->slices + 1, --walk->nr * sizeof(*walk->slices));
			walk->slice--;
		}
	}
	if (in_front) {
		memmove(walk->slices + 1, walk->slices, walk->nr * sizeof(*walk->slices));
		walk->slice++;
	}
	walk->nr++;
	return &walk->slices[in_front ? 0 : walk->nr - 1];
}

/* Reads a slice behind the last one, or at the place: 1, or 0 at the end. */
static int read_after(struct walk *walk, struct fail *fail)
{
	struct walk_place from = walk->nr ? last_of_all(walk) : walk->place;
	struct slice slice = { .events = NULL };
	struct event event;
	uint64_t steps = 0;
	bool inside = walk->flows;
	int r = inside ? 0 : begin(walk, from.ts, UINT64_MAX, fail);

	/* With slices the event at `from` has been read. */
	from.nth += walk->nr > 0;
	while (!r && !slice_is_full(&slice)) {
		r = read_on(walk, &event, &steps, 1, fail);
		if (r <= 0)
			break;
		inside = inside || walk_compare(walk->last, from) >= 0;
		r = inside ? slice_add(&slice, &event, walk->last, fail) : 0;
	}
	/* The reader stays behind what was read. What was not kept is read again. */
	walk->flows = !r && slice.nr;
	if (r < 0 || !slice.nr) {
		slice_release(&slice);
		return r;
	}
	*make_room(walk, false) = slice;
	return 1;
}

/* The last events of a window: those of both slices. */
struct ending {
	struct slice slices[2];
	uint64_t read;
};

static void ending_release(struct ending *ending)
{
	slice_release(&ending->slices[0]);
	slice_release(&ending->slices[1]);
	ending->read = 0;
}

static int read_ending(struct walk *walk, uint64_t since, struct walk_place before, struct ending *ending,
		       struct fail *fail)
{
	struct event event;
	int r = begin(walk, since, before.nth ? before.ts : before.ts - 1, fail);

	while (!r && (r = read_on(walk, &event, &ending->read, -1, fail)) > 0) {
		if (walk_compare(walk->last, before) >= 0)
			return 0;
		if (slice_is_full(&ending->slices[1])) {
			slice_release(&ending->slices[0]);
			ending->slices[0] = ending->slices[1];
			ending->slices[1] = (struct slice){ .events = NULL };
		}
		r = slice_add(&ending->slices[1], &event, walk->last, fail);
	}
	return r;
}

/* The first time that any buffer shows. */
static uint64_t outset(const struct walk *walk)
{
	uint64_t since = UINT64_MAX;

	for (size_t i = 0; i < walk->reader->nr_buffers; i++)
		if (walk->reader->buffers[i].window.since < since)
			since = walk->reader->buffers[i].window.since;
	return since;
}

/* The last event of the file at or before a time, so that going back begins where there is something. */
static int find_end(struct walk *walk, struct walk_place *before, struct fail *fail)
{
	uint64_t end = 0;

	for (size_t i = 0; i < walk->reader->nr_buffers; i++) {
		struct reader_buffer *buffer = &walk->reader->buffers[i];
		struct events_options window = buffer->window;
		uint64_t time = 0;
		int r;

		if (window.until > before->ts)
			window.until = before->ts;
		r = events_end_time(buffer->context, &window, &time, fail);
		if (r < 0)
			return r;
		end = time > end ? time : end;
	}
	if (end < before->ts)
		*before = (struct walk_place){ .ts = end, .nth = UINT64_MAX };
	return 0;
}

/* Looks at windows before a place, each longer than the one before, until one has some events. */
static int find_ending(struct walk *walk, struct walk_place before, struct ending *ending, struct fail *fail)
{
	uint64_t least = outset(walk), growth = LENGTH_GROWTH, length = walk->length, read = 0;

	for (;;) {
		uint64_t since = before.ts > length && before.ts - length > least ? before.ts - length : least;
		int r = read_ending(walk, since, before, ending, fail);

		if (r < 0 || since == least || ending->slices[0].nr + ending->slices[1].nr >= FEW)
			return r;
		/* The larger window has the same events again: if they are far apart, the windows grow faster. */
		if (ending->read < 2 * read + STEP && growth < GROWTH_MAX)
			growth *= 2;
		read = ending->read;
		if (__builtin_mul_overflow(length, growth, &length))
			length = UINT64_MAX;
		ending_release(ending);
	}
}

/* Reads up to two slices before the first one, or before the place: 1, or 0 at the start. */
static int read_before(struct walk *walk, struct fail *fail)
{
	struct walk_place before = walk->nr ? before_all(walk) : walk->place;
	struct ending ending = { .read = 0 };
	size_t added = 0;
	int r = walk->nr ? 0 : find_end(walk, &before, fail);

	if (!r && !before.ts && !before.nth)
		return 0;
	if (!r)
		r = find_ending(walk, before, &ending, fail);
	if (r < 0) {
		ending_release(&ending);
		return r;
	}
	for (size_t i = array_size(ending.slices); i-- > 0;)
		if (ending.slices[i].nr) {
			*make_room(walk, true) = ending.slices[i];
			added++;
		} else {
			slice_release(&ending.slices[i]);
		}
	if (added)
		walk->length = before.ts - before_all(walk).ts + 1;
	return added > 0;
}

/* Hands out a copy, which stays when slices are given up. */
static int hand_out(struct walk *walk, const struct walk_event **ret, struct fail *fail)
{
	const struct slice *slice = &walk->slices[walk->slice];
	const struct slice_event *from = &slice->events[walk->index];
	struct walk_event *to = &walk->handed[walk->turn];
	struct buf *bytes = &walk->handed_bytes[walk->turn];

	*to = from->walked;
	if (to->event.kind == EVENT_RECORD) {
		buf_clear(bytes);
		if (!buf_add(bytes, slice->bytes.data + from->at, to->event.len + (size_t)to->event.more))
			return fail_memory(fail);
		to->event.data = (const uint8_t *)bytes->data;
	}
	walk->turn ^= 1;
	*ret = to;
	return 1;
}

int walk_next(struct walk *walk, const struct walk_event **ret, struct fail *fail)
{
	int r;

	if (walk->slice == walk->nr) {
		r = read_after(walk, fail);
		if (r <= 0)
			return r;
		walk->index = 0;
	}
	r = hand_out(walk, ret, fail);
	if (r > 0 && ++walk->index == walk->slices[walk->slice].nr) {
		walk->slice++;
		walk->index = 0;
	}
	return r;
}

int walk_previous(struct walk *walk, const struct walk_event **ret, struct fail *fail)
{
	size_t slice, index;
	int r;

	if (!walk->slice && !walk->index) {
		r = read_before(walk, fail);
		if (r <= 0)
			return r;
	}
	slice = walk->slice;
	index = walk->index;
	if (!walk->index)
		walk->index = walk->slices[--walk->slice].nr;
	walk->index--;
	r = hand_out(walk, ret, fail);
	if (r < 0) {
		walk->slice = slice;
		walk->index = index;
	}
	return r;
}
