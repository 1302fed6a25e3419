// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/tape_internal.h"

#include "formats/painted.h"
#include "formats/sink.h"
#include "lib/base/cpus.h"
#include "lib/base/escape.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/event/context.h"
#include "lib/event/events.h"
#include "lib/query/selection.h"
#include "lib/reader/query.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SELECTIONS = VIEW_FILTERS_MAX + 1 };

/* A filter, bound to a buffer. */
struct sieve {
	struct selection *selection; /* NULL: the buffer has nothing that it could select */
	struct cpus *cpus;           /* NULL: it does not choose CPUs */
};

struct tape_buffer {
	struct sink *sink;
	struct sieve sieves[SELECTIONS], search;
	size_t nr_sieves;
};

struct tape {
	struct view *view;
	struct reader reader;        /* of the view's contexts */
	struct tape_buffer *buffers; /* by event::buffer */
	size_t nr;
	bool searches, color;
	struct sink_times times;
	struct walk_place last; /* of the event that was read last */
	struct out scratch;
	char damage[256];
};

static void sieve_release(struct sieve *sieve)
{
	selection_free(sieve->selection);
	free(sieve->cpus);
	*sieve = (struct sieve){ .selection = NULL };
}

/* Selects what the command line chooses. */
static int select_query(const struct query *query, struct selection *selection, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < query->events.nr; i++)
		r = selection_add_events(selection, query->events.at[i], fail);
	for (size_t i = 0; !r && i < query->filters.nr; i++)
		r = selection_add_filter(selection, query->filters.at[i], query->negated && query->negated[i], fail);
	for (size_t i = 0; !r && i < query->comms.nr; i++)
		r = selection_add_comm(selection, query->comms.at[i], fail);
	for (size_t i = 0; !r && i < query->nr_pids; i++)
		r = selection_add_pid(selection, query->pids[i], fail);
	selection_leave_out_flags(selection, query->flags_out);
	return r;
}

static int select_filter(const struct view *view, const struct view_filter *filter, struct sieve *sieve,
			 struct fail *fail)
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
		return select_query(view->query, sieve->selection, fail);
	}
	return 0;
}

static int sieve_init(const struct view *view, const struct context *context, const struct view_filter *filter,
		      struct sieve *sieve, struct fail *fail)
{
	int r = selection_new(context, &sieve->selection, fail);

	if (!r)
		r = select_filter(view, filter, sieve, fail);
	if (r)
		sieve_release(sieve);
	return r;
}

/*
 * Binds a filter to all buffers. One that names what a buffer does not have selects nothing of it; it fails if no
 * buffer has it.
 */
static int bind(struct tape *tape, const struct view_filter *filter, bool is_search, struct fail *fail)
{
	bool any = false;
	int first = 0;

	for (size_t i = 0; i < tape->nr; i++) {
		struct tape_buffer *buffer = &tape->buffers[i];
		struct sieve *sieve = is_search ? &buffer->search : &buffer->sieves[buffer->nr_sieves++];
		int r;

		sieve_release(sieve);
		r = sieve_init(tape->view, tape->view->reader.buffers[i].context, filter, sieve, any ? NULL : fail);
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

int tape_open(struct view *view, uint64_t since, uint64_t until, struct tape **ret, struct fail *fail)
{
	struct tape *tape = calloc(1, sizeof(*tape));
	int r = 0;

	if (!tape)
		return fail_memory(fail);
	tape->view = view;
	tape->last = WALK_END;
	reader_init(&tape->reader);
	tape->buffers = calloc(view->reader.nr_buffers + 1, sizeof(*tape->buffers));
	tape->nr = tape->buffers ? view->reader.nr_buffers : 0;
	if (!tape->buffers)
		r = fail_memory(fail);
	if (!r)
		r = reader_share(&tape->reader, &view->reader, since, until, fail);
	if (!r)
		r = reader_start(&tape->reader, &(struct reader_options){ .pool = NULL }, fail);
	for (size_t i = 0; !r && i < view->nr_filters; i++)
		if (!view->filters[i].off)
			r = bind(tape, &view->filters[i], false, fail);
	if (r) {
		tape_free(tape);
		return r;
	}
	*ret = tape;
	return 0;
}

void tape_free(struct tape *tape)
{
	if (!tape)
		return;
	for (size_t i = 0; i < tape->nr; i++) {
		struct tape_buffer *buffer = &tape->buffers[i];

		if (buffer->sink)
			buffer->sink->ops->free(buffer->sink);
		for (size_t k = 0; k < buffer->nr_sieves; k++)
			sieve_release(&buffer->sieves[k]);
		sieve_release(&buffer->search);
	}
	reader_release(&tape->reader);
	if (tape->scratch.start)
		out_release(&tape->scratch);
	free(tape->buffers);
	free(tape);
}

int tape_next(struct tape *tape, struct event *ret, struct walk_place *ret_place, struct fail *fail)
{
	struct fail why = FAIL_INIT;
	const char *path, *damage;
	int r = reader_step(&tape->reader, ret, &why);

	if (r > 0) {
		tape->last = walk_next_place(tape->last, ret->ts);
		*ret_place = tape->last;
		return 1;
	}
	if (r == -ENOMEM)
		return fail_memory(fail);
	/* What cannot be read ends the list, and is told at its end. */
	damage = r < 0 ? why.text : reader_damage(&tape->reader, &path);
	if (damage)
		snprintf(tape->damage, sizeof(tape->damage), "%.250s", damage);
	return 0;
}

const char *tape_damage(const struct tape *tape)
{
	return *tape->damage ? tape->damage : NULL;
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

bool tape_keeps(struct tape *tape, const struct event *event)
{
	const struct tape_buffer *buffer = &tape->buffers[event->buffer];
	bool keeps = true;

	/* Each filter sees each event. */
	for (size_t i = 0; i < buffer->nr_sieves; i++)
		keeps &= passes(&buffer->sieves[i], event);
	return keeps || event->kind == EVENT_LOST;
}

int tape_search(struct tape *tape, const struct view_filter *filter, struct fail *fail)
{
	int r = bind(tape, filter, true, fail);

	tape->searches = !r;
	return r;
}

bool tape_matches(struct tape *tape, const struct event *event)
{
	return tape->searches && passes(&tape->buffers[event->buffer].search, event) && event->kind == EVENT_RECORD;
}

int tape_print(struct tape *tape, bool color, struct fail *fail)
{
	const struct view *view = tape->view;
	const struct sink_ops *ops = sink_find(view->format);
	struct sink_options options = {
		.nanoseconds = view->nanoseconds,
		.raw = view->raw,
		.color = color,
		.one_line = true,
		.times = &tape->times,
	};
	int r = 0;

	tape->times = (struct sink_times){ .has_origin = view->extent.found, .first = view->extent.first };
	tape->color = color;
	if (!out_init(&tape->scratch, 4096))
		return fail_memory(fail);
	for (size_t i = 0; !r && i < tape->nr; i++)
		r = painted_new(ops, view->reader.buffers[i].context, &options, &tape->buffers[i].sink, fail);
	return r;
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
static void put_lines(const struct tape *tape, const struct event *event, const char *text, size_t len, struct out *out)
{
	const struct context *context = tape->view->reader.buffers[event->buffer].context;

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
		if (tape->nr > 1) {
			out_char(out, '[');
			escape_text(&escape, context->instance, strlen(context->instance), out);
			escape_end(&escape, out);
			out_str(out, "] ");
		}
		/* With colours the sinks escape by themselves. */
		if (tape->color) {
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

void tape_text(struct tape *tape, struct event *event, struct out *out)
{
	struct tape_buffer *buffer = &tape->buffers[event->buffer];
	struct sink_event item = { .event = *event };

	if (!buffer->sink->ops->settle(buffer->sink, tape->reader.buffers[event->buffer].events, &item.event))
		return;
	out_clear(&tape->scratch);
	buffer->sink->ops->format(buffer->sink, &item.event, &tape->scratch);
	put_lines(tape, event, tape->scratch.start, out_len(&tape->scratch), out);
}

int tape_find(struct view *view, struct walk_place place, struct tape **ret_tape, struct event *ret,
	      struct walk_place *ret_place, struct fail *fail)
{
	struct tape *tape = NULL;
	int r = tape_open(view, place.ts, UINT64_MAX, &tape, fail);

	while (!r || r > 0) {
		r = tape_next(tape, ret, ret_place, fail);
		if (r <= 0 || walk_compare(*ret_place, place) >= 0)
			break;
	}
	if (r <= 0) {
		tape_free(tape);
		return r;
	}
	*ret_tape = tape;
	return 1;
}
