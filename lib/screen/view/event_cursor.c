// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/event_cursor_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/painted.h"
#include "formats/sink.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/escape.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/clock/apart.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/events.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"

enum { SELECTIONS = VIEW_FILTERS_MAX + 1 };

/* A filter, bound to a buffer. */
struct sieve {
	struct selection *selection; /* NULL: the buffer has nothing that it could select */
	struct cpus *cpus;           /* NULL: it does not choose CPUs */
};

struct event_cursor_buffer {
	struct sink *sink;
	struct sieve sieves[SELECTIONS], search;
	size_t nr_sieves;
};

struct event_cursor {
	struct view *view;
	struct reader reader;                /* of the view's contexts */
	const struct reader *beside;         /* the one that reads in its place; NULL: none does */
	struct event_cursor_buffer *buffers; /* by event::buffer */
	size_t nr;
	bool searches, color;
	struct sink_times times;
	struct walk_place last; /* of the event that was read last */
	struct apart *apart;    /* of the events that the filters let pass; NULL: their order is known */
	uint64_t since;         /* before it, events are only read for `apart` */
	bool close;             /* the last one may have happened before one of another machine above it */
	struct out scratch;
	char damage[256];
};

static void sieve_release(struct sieve *sieve)
{
	selection_free(sieve->selection);
	free(sieve->cpus);
	*sieve = (struct sieve){ .selection = NULL };
}

static int select_filter(const struct view_filter *filter, struct sieve *sieve, struct fail *fail)
{
	struct query query = QUERY_INIT;
	int r = 0;

	switch (filter->kind) {
	case VIEW_FILTER_EXPRESSION:
		return selection_add_filter(sieve->selection, filter->text, filter->negated, fail);
	case VIEW_FILTER_EVENT:
		return selection_add_events(sieve->selection, filter->text, fail);
	case VIEW_FILTER_COMM:
		return selection_add_comm(sieve->selection, filter->text, fail);
	case VIEW_FILTER_PID:
		r = query_add_pids(&query, filter->text, fail);
		for (size_t i = 0; !r && i < query.nr_pids; i++)
			r = selection_add_pid(sieve->selection, query.pids[i], fail);
		query_release(&query);
		return r;
	case VIEW_FILTER_CPU:
		sieve->cpus = calloc(1, sizeof(*sieve->cpus));
		return sieve->cpus ? cpus_parse(filter->text, sieve->cpus, fail) : fail_memory(fail);
	case VIEW_FILTER_QUERY:
		break;
	}
	return 0;
}

static int sieve_init(const struct view *view, const struct context *context, const struct view_filter *filter,
		      struct sieve *sieve, struct fail *fail)
{
	int r = filter->kind == VIEW_FILTER_QUERY ? query_select(view->query, context, &sieve->selection, fail) :
						    selection_new(context, &sieve->selection, fail);

	if (!r)
		r = select_filter(filter, sieve, fail);
	if (r)
		sieve_release(sieve);
	return r;
}

/*
 * Binds a filter to all buffers. One that names what a buffer does not have selects nothing of it; it fails if no
 * buffer has it.
 */
static int bind(struct event_cursor *event_cursor, const struct view_filter *filter, bool is_search, struct fail *fail)
{
	bool any = false;
	int first = 0;

	for (size_t i = 0; i < event_cursor->nr; i++) {
		struct event_cursor_buffer *buffer = &event_cursor->buffers[i];
		struct sieve *sieve = is_search ? &buffer->search : &buffer->sieves[buffer->nr_sieves++];
		int r;

		sieve_release(sieve);
		r = sieve_init(event_cursor->view, event_cursor->view->reader.buffers[i].context, filter, sieve,
			       any ? NULL : fail);
		any |= !r;
		first = first ? first : r;
	}
	return any ? 0 : first;
}

int view_filter_check(struct view *view, const struct view_filter *filter, struct fail *fail)
{
	struct sieve sieve = { .selection = NULL };
	int first = 0;

	for (size_t i = 0; i < view->reader.nr_buffers; i++) {
		int r = sieve_init(view, view->reader.buffers[i].context, filter, &sieve, first ? NULL : fail);

		sieve_release(&sieve);
		if (!r)
			return 0;
		first = first ? first : r;
	}
	return first;
}

int view_filter_add(struct view *view, const struct view_filter *filter, struct fail *fail)
{
	struct view_filter *added;
	int r;

	if (view->nr_filters == VIEW_FILTERS_MAX)
		return fail_set(fail, -E2BIG, "there are %d filters already: drop one with Esc", VIEW_FILTERS_MAX);
	r = view_filter_check(view, filter, fail);
	if (r)
		return r;
	added = &view->filters[view->nr_filters];
	*added = *filter;
	added->text = strdup(filter->text ? filter->text : "");
	if (!added->text)
		return fail_memory(fail);
	view->nr_filters++;
	view_filters_changed(view);
	return 0;
}

/* Reads from so long before `since` that the first events know which ones of other machines are close above them. */
static int open_apart(struct event_cursor *event_cursor, uint64_t *since, struct fail *fail)
{
	int r = event_cursor->nr > 1 ? apart_of(event_cursor->view->trace, &event_cursor->apart, fail) : 0;
	uint64_t widest = event_cursor->apart ? apart_widest(event_cursor->apart) : 0;

	event_cursor->since = *since;
	*since -= widest < *since ? widest : *since;
	return r;
}

static struct event_cursor *make(struct view *view)
{
	struct event_cursor *event_cursor = calloc(1, sizeof(*event_cursor));

	if (!event_cursor)
		return NULL;
	event_cursor->view = view;
	event_cursor->last = WALK_END;
	reader_init(&event_cursor->reader);
	event_cursor->buffers = calloc(view->reader.nr_buffers + 1, sizeof(*event_cursor->buffers));
	event_cursor->nr = event_cursor->buffers ? view->reader.nr_buffers : 0;
	if (event_cursor->buffers)
		return event_cursor;
	free(event_cursor);
	return NULL;
}

int event_cursor_beside(struct view *view, const struct reader *reader, struct event_cursor **ret, struct fail *fail)
{
	struct event_cursor *event_cursor = make(view);

	if (!event_cursor)
		return fail_memory(fail);
	event_cursor->beside = reader;
	*ret = event_cursor;
	return 0;
}

int event_cursor_open(struct view *view, uint64_t since, uint64_t until, struct event_cursor **ret, struct fail *fail)
{
	struct event_cursor *event_cursor = make(view);
	int r;

	if (!event_cursor)
		return fail_memory(fail);
	r = open_apart(event_cursor, &since, fail);
	if (!r)
		r = reader_share(&event_cursor->reader, &view->reader, since, until, fail);
	if (!r)
		r = reader_start(&event_cursor->reader, &(struct reader_options){ .tells_ends = true }, fail);
	for (size_t i = 0; !r && i < view->nr_filters; i++)
		if (!view->filters[i].off)
			r = bind(event_cursor, &view->filters[i], false, fail);
	if (r) {
		event_cursor_free(event_cursor);
		return r;
	}
	*ret = event_cursor;
	return 0;
}

void event_cursor_free(struct event_cursor *event_cursor)
{
	if (!event_cursor)
		return;
	for (size_t i = 0; i < event_cursor->nr; i++) {
		struct event_cursor_buffer *buffer = &event_cursor->buffers[i];

		if (buffer->sink)
			buffer->sink->ops->free(buffer->sink);
		for (size_t k = 0; k < buffer->nr_sieves; k++)
			sieve_release(&buffer->sieves[k]);
		sieve_release(&buffer->search);
	}
	reader_release(&event_cursor->reader);
	apart_free(event_cursor->apart);
	if (event_cursor->scratch.start)
		out_release(&event_cursor->scratch);
	free(event_cursor->buffers);
	free(event_cursor);
}

int event_cursor_next(struct event_cursor *event_cursor, struct event *ret, struct walk_place *ret_place,
		      struct fail *fail)
{
	struct fail why = FAIL_INIT;
	const char *path, *damage;
	int r;

	while ((r = reader_step(&event_cursor->reader, ret, &why)) > 0) {
		event_cursor->last = walk_next_place(event_cursor->last, ret->ts);
		*ret_place = event_cursor->last;
		if (ret->ts >= event_cursor->since)
			return 1;
		(void)event_cursor_keeps(event_cursor, ret);
	}
	if (r == -ENOMEM)
		return fail_memory(fail);
	/* What cannot be read ends the list, and is told at its end. */
	damage = r < 0 ? why.text : reader_damage(&event_cursor->reader, &path);
	if (damage)
		snprintf(event_cursor->damage, sizeof(event_cursor->damage), "%.250s", damage);
	return 0;
}

const char *event_cursor_damage(const struct event_cursor *event_cursor)
{
	return *event_cursor->damage ? event_cursor->damage : NULL;
}

static bool passes(const struct sieve *sieve, const struct event *event)
{
	if (sieve->cpus)
		return cpus_has(sieve->cpus, event->cpu);
	if (!sieve->selection)
		return false;
	if (event->kind == EVENT_RECORD)
		return selection_keep(sieve->selection, event);
	selection_gap(sieve->selection, event);
	/* What was lost is never hidden. */
	return true;
}

/* What is lost has no order. */
static void take_close(struct event_cursor *event_cursor, const struct event *event)
{
	size_t buffer = event_cursor->view->reader.buffers[event->buffer].context->buffer;

	event_cursor->close = event_cursor->apart && event->kind == EVENT_RECORD &&
			      apart_next(event_cursor->apart, buffer, event->ts);
}

bool event_cursor_is_close(const struct event_cursor *event_cursor)
{
	return event_cursor->close;
}

bool event_cursor_other(const struct event_cursor *event_cursor, const struct event *event, size_t index,
			struct apart_other *ret)
{
	size_t buffer = event_cursor->view->reader.buffers[event->buffer].context->buffer;

	return event_cursor->apart && apart_other(event_cursor->apart, buffer, index, ret);
}

bool event_cursor_keeps(struct event_cursor *event_cursor, const struct event *event)
{
	const struct event_cursor_buffer *buffer = &event_cursor->buffers[event->buffer];
	bool keeps = true;

	/* Each filter sees each event. */
	for (size_t i = 0; i < buffer->nr_sieves; i++)
		keeps &= passes(&buffer->sieves[i], event);
	if (keeps)
		take_close(event_cursor, event);
	return keeps || event->kind == EVENT_LOST;
}

int event_cursor_search(struct event_cursor *event_cursor, const struct view_filter *filter, struct fail *fail)
{
	int r = bind(event_cursor, filter, true, fail);

	event_cursor->searches = !r;
	return r;
}

bool event_cursor_matches(struct event_cursor *event_cursor, const struct event *event)
{
	return event_cursor->searches && passes(&event_cursor->buffers[event->buffer].search, event) &&
	       event->kind == EVENT_RECORD;
}

int event_cursor_print(struct event_cursor *event_cursor, bool color, struct fail *fail)
{
	const struct view *view = event_cursor->view;
	const struct sink_ops *ops = sink_find(view->format);
	struct sink_options options = {
		.nanoseconds = view->nanoseconds,
		.raw = view->raw,
		.color = color,
		.one_line = true,
		.face = view->face.kind == FACE_TRACE ? NULL : &view->face,
		.times = &event_cursor->times,
	};
	int r = 0;

	event_cursor->times = (struct sink_times){ .has_origin = view->extent.found, .first = view->extent.first };
	event_cursor->color = color;
	if (!out_init(&event_cursor->scratch, 4096))
		return fail_memory(fail);
	for (size_t i = 0; !r && i < event_cursor->nr; i++)
		r = painted_new(ops, view->reader.buffers[i].context, &options, &event_cursor->buffers[i].sink, fail);
	return r;
}

bool event_cursor_texts_alone(const struct event_cursor *event_cursor)
{
	for (size_t i = 0; i < event_cursor->nr; i++) {
		const struct sink *sink = event_cursor->buffers[i].sink;
		const struct sink_seam_ops *seam = sink->ops->seam;

		/* Lines that announce a CPU are left out. */
		if (!seam || !seam->can(sink) || seam->patches(sink))
			return false;
	}
	return true;
}

static bool is_note(const char *text, size_t len)
{
	static const char *const begins[] = { "##### CPU ", "\033[2m##### CPU " };

	for (size_t i = 0; i < array_size(begins); i++)
		if (len >= strlen(begins[i]) && !memcmp(text, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* Puts the name of the instance before each line, if there are several buffers. */
static void put_lines(const struct event_cursor *event_cursor, const struct event *event, const char *text, size_t len,
		      struct out *out)
{
	const struct context *context = event_cursor->view->reader.buffers[event->buffer].context;

	while (len) {
		const char *newline = memchr(text, '\n', len);
		size_t line = newline ? (size_t)(newline - text) : len;
		struct escape escape = { .len = 0 };

		/* Where a CPU's buffer begins depends on where reading began. */
		if (is_note(text, line)) {
			text += line + (newline != NULL);
			len -= line + (newline != NULL);
			continue;
		}
		if (event_cursor->nr > 1) {
			out_char(out, '[');
			escape_text(&escape, context->instance, strlen(context->instance), out);
			escape_end(&escape, out);
			out_str(out, event_cursor->close ? "]~" : "] ");
		}
		/* With colours the sinks escape by themselves. */
		if (event_cursor->color) {
			out_mem(out, text, line);
		} else {
			escape_text(&escape, text, line, out);
			escape_end(&escape, out);
		}
		out_char(out, '\n');
		text += line + (newline != NULL);
		len -= line + (newline != NULL);
	}
}

void event_cursor_text(struct event_cursor *event_cursor, struct event *event, struct out *out)
{
	struct event_cursor_buffer *buffer = &event_cursor->buffers[event->buffer];
	const struct reader *reader = event_cursor->beside ? event_cursor->beside : &event_cursor->reader;
	struct sink_event item = { .event = *event };

	if (!buffer->sink->ops->settle(buffer->sink, reader->buffers[event->buffer].events, &item.event))
		return;
	out_clear(&event_cursor->scratch);
	buffer->sink->ops->format(buffer->sink, &item.event, &event_cursor->scratch);
	put_lines(event_cursor, event, event_cursor->scratch.start, out_len(&event_cursor->scratch), out);
}

int event_cursor_find(struct view *view, struct walk_place place, struct event_cursor **ret_tape, struct event *ret,
		      struct walk_place *ret_place, struct fail *fail)
{
	struct event_cursor *event_cursor = NULL;
	int r = event_cursor_open(view, place.ts, UINT64_MAX, &event_cursor, fail);

	while (!r || r > 0) {
		r = event_cursor_next(event_cursor, ret, ret_place, fail);
		if (r <= 0 || walk_compare(*ret_place, place) >= 0)
			break;
		(void)event_cursor_keeps(event_cursor, ret);
	}
	if (r <= 0) {
		event_cursor_free(event_cursor);
		return r;
	}
	take_close(event_cursor, ret);
	*ret_tape = event_cursor;
	return 1;
}
