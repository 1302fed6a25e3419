// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_reader: the events of several files, handed out in batches of lib/meaning/reader/batches.h. */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/event_text.h"
#include "lib/ground/base/pool.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/reader/batches.h"
#include "lib/pages/trace/trace.h"

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
	api_places_free(reader->places);
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
	struct reader_options inner = { .ahead = options->threads > 0 };
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

int api_reader_begin(weft_reader *reader, struct fail *fail)
{
	int r = 0;

	if (!reader->use)
		r = api_reader_start(reader, API_EVENTS, NULL, fail);
	if (!r && reader->use != API_EVENTS)
		r = fail_set(fail, -EBUSY, "the reader is used otherwise: make another one for its events");
	return r || reader->batches ? r : batches_new(&reader->reader, &reader->batches, fail);
}

static int read_more(weft_reader *reader, struct fail *fail)
{
	const struct event *events = NULL;
	int r;

	if (reader->feed)
		return reader->feed->read(reader, fail);
	r = api_reader_begin(reader, fail);

	if (!r && reader->places) {
		r = api_places_read(reader, fail);
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
