// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * weft_reader: the events of several files, handed out in batches of lib/meaning/reader/batches.h; and its places: it
 * goes to one, and reads on from there forward or backward (lib/meaning/reader/back.h).
 */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/event_text.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/pool.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/batches.h"
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

static void free_places(struct api_places *places)
{
	if (!places)
		return;
	free(places->older.items);
	free(places->newer.items);
	buf_release(&places->older.bytes);
	buf_release(&places->newer.bytes);
	free(places);
}

weft_reader *weft_reader_new(void)
{
	weft_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader_init(&reader->reader);
	reader->limit = reader->tail = UINT64_MAX;
	reader->last = (struct walk_place){ 0, UINT64_MAX };
	return reader;
}

static void release_buffers(weft_reader *reader)
{
	for (size_t i = 0; i < reader->reader.nr_buffers; i++) {
		if (reader->texts)
			event_text_free(reader->texts[i]);
		if (reader->types)
			free(reader->types[i].at);
		plugins_free(reader->reader.buffers[i].context->plugins);
		reader->reader.buffers[i].context->plugins = NULL;
	}
	free(reader->texts);
	free(reader->types);
}

void weft_reader_free(weft_reader *reader)
{
	if (!reader)
		return;
	batches_free(reader->batches);
	free_places(reader->places);
	decoded_row_release(&reader->row);
	api_handlers_release(reader);
	if (reader->text.start)
		out_release(&reader->text);
	release_buffers(reader);
	for (size_t i = 0; i < reader->nr_all; i++) {
		free(reader->all[i]->fields);
		free(reader->all[i]);
	}
	reader_release(&reader->reader);
	if (reader->feed)
		reader->feed->free(reader->feed);
	pool_free(reader->pool);
	for (size_t i = 0; i < reader->nr_sources; i++)
		weft_file_free(reader->sources[i].file);
	free(reader->sources);
	free(reader->events);
	free(reader->all);
	free(reader);
}

static int add(weft_reader *reader, weft_file *file, const weft_query *query, struct fail *fail)
{
	static const struct query all = QUERY_INIT;
	struct api_source *source;

	if (reader->use)
		return fail_set(fail, -EBUSY, "a file cannot be added to a reader that has started");
	source = vec_push(reader->sources, reader->nr_sources);
	if (!source)
		return fail_memory(fail);
	*source = (struct api_source){ .file = file, .query = query ? &query->query : &all };
	api_file_use(file);
	return 0;
}

int weft_reader_add(weft_reader *reader, weft_file *file, const weft_query *query, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = add(reader, file, query, &fail);

	return api_result(error, r, &fail);
}

int api_load_plugins(const void *arg, struct context *context, struct fail *fail)
{
	const weft_file *file = arg;
	const struct plugins_options options = { .dir = file->plugins,
						 .abi = &context->abi,
						 .machine = context->machine };

	return file->plugins ? plugins_new(&options, &context->plugins, fail) : 0;
}

static int open_source(weft_reader *reader, struct api_source *source, enum api_use use, struct fail *fail)
{
	const struct query_manner manner = { .prepare = api_load_plugins,
					     .arg = source->file,
					     .times_only = use == API_STATE,
					     .texts = use == API_STATE };
	int r;

	source->first = reader->reader.nr_buffers;
	r = query_add(source->query, &manner, source->file->trace, &reader->reader, fail);
	source->nr = reader->reader.nr_buffers - source->first;
	if (source->query->limit < reader->limit)
		reader->limit = source->query->limit;
	if (source->query->tail < reader->tail)
		reader->tail = source->query->tail;
	return r;
}

int api_reader_open(weft_reader *reader, enum api_use use, struct fail *fail)
{
	int r = 0;

	if (reader->use)
		return fail_set(fail, -EBUSY, "the reader is used already: make another one for another pass");
	reader->use = use;
	for (size_t i = 0; !r && i < reader->nr_sources; i++)
		r = open_source(reader, &reader->sources[i], use, fail);
	if (!r && reader->tail != UINT64_MAX)
		r = reader_tail(&reader->reader, reader->tail, fail);
	if (r)
		return r;
	reader_limit(&reader->reader, reader->limit);
	reader->types = calloc(reader->reader.nr_buffers + 1, sizeof(*reader->types));
	return reader->types ? 0 : fail_memory(fail);
}

static bool is_compressed(const weft_reader *reader)
{
	for (size_t i = 0; i < reader->nr_sources; i++)
		for (size_t j = 0; j < trace_buffers(reader->sources[i].file->trace); j++)
			if (trace_buffer(reader->sources[i].file->trace, j)->compressed)
				return true;
	return false;
}

/* A thread of a pool decompresses; the one that reads ahead is started with the first batch. */
static int start(weft_reader *reader, const struct weft_reader_options *options, struct fail *fail)
{
	struct reader_options inner = { .ahead = options->threads > 0, .tells_ends = reader->use == API_STATE };
	int r = options->threads > 1 && is_compressed(reader) ? pool_new(1, &reader->pool, fail) : 0;

	inner.pool = reader->pool;
	/* Both look formats up, and only one thread may. */
	if (!r && inner.ahead)
		r = api_texts_prepare(reader, fail);
	return r ? r : reader_start(&reader->reader, &inner, fail);
}

int api_reader_start(weft_reader *reader, enum api_use use, const struct weft_reader_options *options,
		     struct fail *fail)
{
	struct weft_reader_options known;
	int r = api_options(options, &known, sizeof(known), fail);

	if (!r)
		r = api_reader_open(reader, use, fail);
	if (!r)
		r = start(reader, &known, fail);
	if (r && r != -EBUSY) {
		reader->failed = r;
		reader->failure = *fail;
	}
	return r;
}

int weft_reader_start(weft_reader *reader, const struct weft_reader_options *options, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = api_reader_start(reader, API_EVENTS, options, &fail);

	return api_result(error, r, &fail);
}

static int make_room(weft_reader *reader, size_t nr, struct fail *fail)
{
	struct weft_event *events = nr > reader->size_events ? calloc(nr, sizeof(*events)) : reader->events;

	if (!events)
		return fail_memory(fail);
	if (events != reader->events) {
		free(reader->events);
		reader->events = events;
		reader->size_events = nr;
	}
	return 0;
}

int api_reader_show(weft_reader *reader, const struct event *events, size_t nr, struct fail *fail)
{
	int r = make_room(reader, nr, fail);

	reader->nr_events = reader->next = 0;
	for (size_t i = 0; !r && i < nr; i++) {
		const weft_type *type = api_type(reader, &events[i]);

		if (!type)
			r = fail_memory(fail);
		else
			api_event_outside(&events[i], type, &reader->events[reader->nr_events++]);
	}
	return r;
}

static int begin(weft_reader *reader, struct fail *fail)
{
	int r = 0;

	if (!reader->use)
		r = api_reader_start(reader, API_EVENTS, NULL, fail);
	if (!r && reader->use != API_EVENTS)
		r = fail_set(fail, -EBUSY, "the reader is used otherwise: make another one for its events");
	return r || reader->batches ? r : batches_new(&reader->reader, &reader->batches, fail);
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
		free_places(places);
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
	int r = reader->failed ? fail_set(fail, reader->failed, "%s", reader->failure.text) : begin(reader, fail);

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

/*
 * After the caller has gone to a place: reads and shows the event there. Returns 1; 0: there is none; -EAGAIN: the
 * caller has not gone anywhere since the last event.
 */
static int read_place(weft_reader *reader, struct fail *fail)
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

static int read_more(weft_reader *reader, struct fail *fail)
{
	const struct event *events = NULL;
	int r;

	if (reader->feed)
		return reader->feed->read(reader, fail);
	r = begin(reader, fail);

	if (!r && reader->places) {
		r = read_place(reader, fail);
		if (r != -EAGAIN)
			return r;
		r = 0;
	}
	while (!r && !reader->nr_events && (r = batches_next(reader->batches, &events, fail)) > 0)
		r = api_reader_show(reader, events, (size_t)r, fail);
	return r ? r : (int)reader->nr_events;
}

/* The next batch: the number of its events, 0, or an error, which is the same from then on. */
static int refill(weft_reader *reader, struct weft_error *error)
{
	int r;

	for (size_t i = 0; i < reader->next; i++)
		reader->last = walk_next_place(reader->last, reader->events[i].ts);
	reader->nr_events = reader->next = 0;
	reader->decoded = NULL;
	if (!reader->failed) {
		r = read_more(reader, &reader->failure);
		if (r >= 0)
			return r;
		if (reader->feed && (r == -EAGAIN || r == -EINTR))
			return api_result(error, r, &reader->failure);
		reader->failed = r;
	}
	return api_result(error, reader->failed, &reader->failure);
}

int weft_reader_next(weft_reader *reader, const struct weft_event **ret, struct weft_error *error)
{
	int r = reader->next < reader->nr_events ? 1 : refill(reader, error);

	if (r <= 0)
		return r;
	*ret = &reader->events[reader->next++];
	return 1;
}

int weft_reader_batch(weft_reader *reader, const struct weft_event **ret, struct weft_error *error)
{
	int r = reader->next < reader->nr_events ? 1 : refill(reader, error);

	if (r <= 0)
		return r;
	*ret = &reader->events[reader->next];
	r = (int)(reader->nr_events - reader->next);
	reader->next = reader->nr_events;
	return r;
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

const char *weft_reader_damage(weft_reader *reader)
{
	const char *path, *damage = reader_damage(&reader->reader, &path);
	struct fail said;

	for (size_t i = 0; !damage && i < reader->nr_sources; i++) {
		path = NULL;
		damage = trace_damage(reader->sources[i].file->trace);
	}
	if (!damage)
		return NULL;
	api_say(damage, said.text, sizeof(said.text));
	fail_set(&reader->damage, 0, "%s%s%s%s", path ? "'" : "", path ? path : "", path ? "' is damaged: " : "",
		 said.text);
	return reader->damage.text;
}

size_t weft_reader_buffers(const weft_reader *reader)
{
	return reader->reader.nr_buffers;
}

int weft_reader_buffer(const weft_reader *reader, size_t index, struct weft_source_info *ret)
{
	const struct context *context;
	size_t at = 0;

	if (index >= reader->reader.nr_buffers)
		return -ERANGE;
	while (index - reader->sources[at].first >= reader->sources[at].nr)
		at++;
	context = reader->reader.buffers[index].context;
	api_fill(ret,
		 &(struct weft_source_info){ .file = reader->sources[at].file,
					     .buffer = context->buffer,
					     .name = context->instance,
					     .clock_is_ns = context->unit == CLOCK_UNIT_NS },
		 sizeof(*ret));
	return 0;
}
