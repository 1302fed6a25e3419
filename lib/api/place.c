// SPDX-License-Identifier: LGPL-2.1-or-later
/* Places of a reader: it goes to one, and reads on from there forward or backward (lib/meaning/reader/back.h). */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/ground/base/buf.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/query/selection.h"
#include "lib/pages/trace/trace.h"

enum { KEPT_EVENTS = 1024 };

/* The last events of a window, in their order: at most so many. */
struct kept {
	struct kept_event {
		struct weft_event event;
		struct walk_place place;
		size_t at; /* of its bytes, in `bytes` */
	} * items;
	size_t nr;
	struct buf bytes;
};

struct api_places {
	/* The reader stands at `here`, and what was read does not lead there. */
	bool moved;
	struct walk_place here;
	/* Backwards: the events before `here` that were read, of which `newer` comes after `older`. */
	struct kept older, newer;
	struct back back;
	uint64_t first, last; /* times of the first event and of the last one; last < first: there are none */
	bool counts;          /* the times are no ns */
};

void api_places_free(struct api_places *places)
{
	if (!places)
		return;
	free(places->older.items);
	free(places->newer.items);
	buf_release(&places->older.bytes);
	buf_release(&places->newer.bytes);
	free(places);
}

static void forget(struct kept *kept)
{
	kept->nr = kept->bytes.len = 0;
}

static int find_times(const weft_reader *reader, struct api_places *places, struct fail *fail)
{
	int r = 0;

	places->first = UINT64_MAX;
	for (size_t i = 0; !r && i < reader->reader.nr_buffers; i++) {
		const struct reader_buffer *buffer = &reader->reader.buffers[i];
		struct extent extent = { .known = false };

		r = extent_find(buffer->context, &extent, fail);
		if (r || !extent.found)
			continue;
		places->counts |= buffer->context->unit == CLOCK_UNIT_COUNT;
		if (extent.first < buffer->window.since)
			extent.first = buffer->window.since;
		if (extent.last > buffer->window.until)
			extent.last = buffer->window.until;
		if (extent.first < places->first)
			places->first = extent.first;
		if (extent.last > places->last)
			places->last = extent.last;
	}
	return r;
}

static int make_places(weft_reader *reader, struct fail *fail)
{
	struct api_places *places = calloc(1, sizeof(*places));
	int r;

	if (!places)
		return fail_memory(fail);
	places->older.items = calloc(KEPT_EVENTS, sizeof(*places->older.items));
	places->newer.items = calloc(KEPT_EVENTS, sizeof(*places->newer.items));
	r = places->older.items && places->newer.items ? find_times(reader, places, fail) : fail_memory(fail);
	if (r)
		api_places_free(places);
	else
		reader->places = places;
	return r;
}

/* Whether each event can be read without all events before it. */
static int check(const weft_reader *reader, struct fail *fail)
{
	if (reader->feed)
		return fail_set(fail, -ENOTSUP, "the events of the running kernel only come once");
	if (reader->reader.ahead || reader->pool)
		return fail_set(fail, -ENOTSUP, "a reader with threads only goes forward: start it without them");
	if (reader->limit != UINT64_MAX || reader->tail != UINT64_MAX)
		return fail_set(fail, -ENOTSUP,
				"a reader that counts its events for WEFT_QUERY_LIMIT or WEFT_QUERY_TAIL only goes "
				"forward");
	for (size_t i = 0; i < reader->reader.nr_buffers; i++)
		if (reader->reader.buffers[i].selection && !selection_can_enter(reader->reader.buffers[i].selection))
			return fail_set(fail, -ENOTSUP,
					"a reader only goes forward if its query chooses events by other events: by "
					"a duration, a mark or what belongs to the recorder");
	if (!reader_can_enter(&reader->reader))
		return fail_set(fail, -ENOTSUP,
				"buffers with different clocks have no common places: choose one with "
				"WEFT_QUERY_INSTANCE");
	return 0;
}

static int prepare(weft_reader *reader, struct fail *fail)
{
	int r = reader->failed ? fail_set(fail, reader->failed, "%s", reader->failure.text) :
				 api_reader_begin(reader, fail);

	if (!r && !reader->places)
		r = check(reader, fail);
	return r || reader->places ? r : make_places(reader, fail);
}

/* Stands before the next event from here on. */
static void move(weft_reader *reader, struct walk_place place)
{
	struct api_places *places = reader->places;

	reader->nr_events = reader->next = 0;
	reader->decoded = NULL;
	places->moved = true;
	places->here = place;
	forget(&places->older);
	forget(&places->newer);
	back_init(&places->back, places->first, places->counts);
}

static struct walk_place place_of_reader(const weft_reader *reader)
{
	struct walk_place last = reader->last;

	if (reader->places && reader->places->moved)
		return reader->places->here;
	for (size_t i = 0; i < reader->next; i++)
		last = walk_next_place(last, reader->events[i].ts);
	return (struct walk_place){ last.ts, last.nth + 1 };
}

/* No place before which nothing can be left out is too early: where all windows begin, reading begins. */
static uint64_t not_before(const weft_reader *reader, uint64_t ts)
{
	uint64_t since = UINT64_MAX;

	for (size_t i = 0; i < reader->reader.nr_buffers; i++)
		if (reader->reader.buffers[i].window.since < since)
			since = reader->reader.buffers[i].window.since;
	return ts < since ? since : ts;
}

/* Counts events from a time on. */
struct walk {
	uint64_t since;
	struct walk_place at;
};

static int enter(weft_reader *reader, uint64_t since, uint64_t last, struct walk *ret, struct fail *fail)
{
	*ret = (struct walk){ since, { since, UINT64_MAX } };
	reader_pause(&reader->reader, last);
	return reader_enter(&reader->reader, not_before(reader, since), fail);
}

static int walk(weft_reader *reader, struct walk *walk, struct event *ret, struct fail *fail)
{
	int r;

	do
		r = reader_next(&reader->reader, ret, fail);
	while (r > 0 && ret->ts < walk->since);
	if (r > 0)
		walk->at = walk_next_place(walk->at, ret->ts);
	return r;
}

int api_places_read(weft_reader *reader, struct fail *fail)
{
	struct api_places *places = reader->places;
	struct event event;
	struct walk at;
	int r;

	if (!places->moved)
		return -EAGAIN;
	places->moved = false;
	reader->last = (struct walk_place){ places->here.ts, places->here.nth - 1 };
	r = enter(reader, places->here.ts, UINT64_MAX, &at, fail);
	while (!r && (r = walk(reader, &at, &event, fail)) > 0 && walk_compare(at.at, places->here) < 0)
		r = 0;
	if (r > 0)
		r = api_reader_show(reader, &event, 1, fail);
	return r ? r : (int)reader->nr_events;
}

static bool keep(weft_reader *reader, struct kept *kept, const struct event *event, struct walk_place place)
{
	struct kept_event *item = &kept->items[kept->nr];
	const weft_type *type = api_type(reader, event);

	if (!type)
		return false;
	*item = (struct kept_event){ .place = place, .at = kept->bytes.len };
	api_event_outside(event, type, &item->event);
	kept->nr++;
	return buf_add(&kept->bytes, event->data, api_event_size(&item->event));
}

/* Reads from a time up to what was read before, and keeps the last events. */
static int read_window(weft_reader *reader, uint64_t since, struct fail *fail)
{
	struct api_places *places = reader->places;
	struct event event;
	struct walk at;
	int r = enter(reader, since, places->back.before.ts, &at, fail);

	while (!r && (r = walk(reader, &at, &event, fail)) > 0 && walk_compare(at.at, places->back.before) < 0) {
		if (places->newer.nr == KEPT_EVENTS) {
			struct kept full = places->newer;

			places->newer = places->older;
			places->older = full;
			forget(&places->newer);
		}
		r = keep(reader, &places->newer, &event, at.at) ? 0 : fail_memory(fail);
	}
	return r < 0 ? r : 0;
}

/* Reads windows before the place until one has an event. 1, or 0 at the start. */
static int read_back(weft_reader *reader, struct fail *fail)
{
	struct api_places *places = reader->places;
	struct back *back = &places->back;
	bool at_start = places->last < places->first;
	int r = 0;

	forget(&places->older);
	forget(&places->newer);
	back->before = places->here;
	if (back->before.ts > places->last)
		back->before = (struct walk_place){ places->last, UINT64_MAX };
	while (!r && !places->newer.nr && !at_start) {
		uint64_t since = back_since(back);

		at_start = since <= places->first;
		r = read_window(reader, at_start ? 0 : since, fail);
		if (!places->newer.nr)
			back_to(back, (struct walk_place){ since, 0 });
		if (places->older.nr)
			back_shorter(back);
		else
			back_longer(back);
	}
	return r ? r : places->newer.nr > 0;
}

static int previous(weft_reader *reader, const struct weft_event **ret, struct fail *fail)
{
	struct api_places *places;
	struct kept *kept;
	int r = prepare(reader, fail);

	if (r)
		return r;
	places = reader->places;
	if (!places->moved)
		move(reader, place_of_reader(reader));
	reader->decoded = NULL;
	if (!places->newer.nr && !places->older.nr && (r = read_back(reader, fail)) <= 0)
		return r;
	kept = places->newer.nr ? &places->newer : &places->older;
	kept->nr--;
	places->here = kept->items[kept->nr].place;
	kept->items[kept->nr].event.data = (const uint8_t *)kept->bytes.data + kept->items[kept->nr].at;
	*ret = &kept->items[kept->nr].event;
	return 1;
}

int weft_reader_previous(weft_reader *reader, const struct weft_event **ret, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = previous(reader, ret, &fail);

	return api_result(error, r, &fail);
}

static int go(weft_reader *reader, struct walk_place place, struct fail *fail)
{
	int r = prepare(reader, fail);

	if (!r)
		move(reader, place);
	return r;
}

int weft_reader_seek(weft_reader *reader, uint64_t ts, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = go(reader, (struct walk_place){ ts, 0 }, &fail);

	return api_result(error, r, &fail);
}

int weft_reader_go(weft_reader *reader, const struct weft_place *place, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = go(reader, (struct walk_place){ place->ts, place->nth }, &fail);

	return api_result(error, r, &fail);
}

void weft_reader_place(const weft_reader *reader, struct weft_place *ret)
{
	struct walk_place place = place_of_reader(reader);

	*ret = (struct weft_place){ place.ts, place.nth };
}

static bool has_cpu(const struct context *context, uint32_t cpu)
{
	const struct trace_buffer *buffer = trace_buffer(context->trace, context->buffer);

	for (size_t i = 0; i < buffer->nr_cpus; i++)
		if (buffer->cpus[i].cpu == cpu)
			return true;
	return false;
}

static int choose_cpu(weft_reader *reader, int32_t cpu, struct fail *fail)
{
	bool found = cpu < 0;
	int r = prepare(reader, fail);

	if (r)
		return r;
	for (size_t i = 0; !found && i < reader->reader.nr_buffers; i++)
		found = has_cpu(reader->reader.buffers[i].context, (uint32_t)cpu);
	if (!found)
		return fail_set(fail, -ENOENT, "the reader has no events of CPU %d", (int)cpu);
	reader_only(&reader->reader, cpu < 0 ? -1 : cpu);
	move(reader, WALK_START);
	return 0;
}

int weft_reader_cpu(weft_reader *reader, int32_t cpu, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = choose_cpu(reader, cpu, &fail);

	return api_result(error, r, &fail);
}
