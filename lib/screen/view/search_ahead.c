// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/out.h"
#include "lib/ground/base/pool.h"
#include "lib/meaning/clock/apart.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/parallel_sum.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/reader/slices.h"
#include "lib/pages/trace/trace.h"
#include "lib/screen/view/event_cursor_internal.h"
#include "lib/screen/view/search_internal.h"

/*
 * The search for a text in slices of time, which threads read, print and look through apart from each other. It finds
 * the time of the first event that has the text; what is at that time, the search reads in order. Only where the line
 * of an event depends on the event alone, and where a slice lacks nothing that reading in order would show: the other
 * searches are made in order.
 */

/* What one thread prints with: the types of events are those of its reader. */
struct printer {
	const struct reader *reader;
	struct event_cursor *lines;
	struct out line;
};

struct ahead {
	struct view *view;
	const char *text;
	bool any_case;
	pthread_mutex_t lock;
	struct printer *printers; /* protected by the lock; a thread changes only its own */
	size_t nr_printers;
	/* Of the slices that were joined: */
	bool found, stopped;
	uint64_t ts; /* of the first event that has the text, or of the last one */
};

struct part {
	const struct ahead *ahead;
	struct printer *printer;
	bool found;
	uint64_t ts; /* of the first event that has the text, or of the last one */
};

/* As strcasestr(), which looks at the text anew for each line; this text has no capitals. */
static bool has_in_any_case(const char *line, size_t len, const char *text)
{
	size_t text_len = strlen(text);
	int upper = toupper((unsigned char)*text);
	const char *end;

	if (!text_len || len < text_len)
		return !text_len;
	end = line + (len - text_len) + 1;
	for (const char *at = line; at < end; at++) {
		const char *small = memchr(at, *text, (size_t)(end - at));
		const char *large = upper == *text ? NULL : memchr(at, upper, (size_t)((small ? small : end) - at));

		at = large ? large : small;
		if (!at)
			return false;
		if (!strncasecmp(at, text, text_len))
			return true;
	}
	return false;
}

bool search_has(const char *line, size_t len, const char *text, bool any_case)
{
	return any_case ? has_in_any_case(line, len, text) : memmem(line, len, text, strlen(text)) != NULL;
}

static int make_printer(const struct ahead *ahead, const struct reader *reader, struct printer *printer)
{
	int r;

	*printer = (struct printer){ .reader = reader };
	if (!out_init(&printer->line, 1024))
		return -EAGAIN;
	r = event_cursor_beside(ahead->view, reader, &printer->lines, NULL);
	if (!r)
		r = event_cursor_print(printer->lines, false, NULL);
	return r || !event_cursor_texts_alone(printer->lines) ? -EAGAIN : 0;
}

/* The printer of this thread, which is made with its first slice. */
static int find_printer(struct ahead *ahead, const struct reader *reader, struct printer **ret)
{
	size_t at = 0;
	int r = 0;

	pthread_mutex_lock(&ahead->lock);
	while (at < ahead->nr_printers && ahead->printers[at].reader != reader)
		at++;
	if (at == ahead->nr_printers)
		r = make_printer(ahead, reader, &ahead->printers[ahead->nr_printers++]);
	pthread_mutex_unlock(&ahead->lock);
	*ret = &ahead->printers[at];
	return r;
}

static int part_create(void *arg, struct reader *reader, uint64_t index, uint64_t nr, void **ret)
{
	struct part *part = calloc(1, sizeof(*part));

	(void)index;
	(void)nr;
	if (!part)
		return -EAGAIN;
	part->ahead = arg;
	*ret = part;
	return find_printer(arg, reader, &part->printer);
}

static int part_step(void *arg, struct event *event)
{
	struct part *part = arg;
	const struct ahead *ahead = part->ahead;
	struct out *line = &part->printer->line;

	if (part->found)
		return 0;
	out_clear(line);
	event_cursor_text(part->printer->lines, event, line);
	part->found = search_has(line->start, out_len(line), ahead->text, ahead->any_case);
	part->ts = event->ts;
	return line->failed ? -EAGAIN : 0;
}

static int part_end(void *arg)
{
	(void)arg;
	return 0;
}

/* What was found, and a key that waits, end it: no more slices are made. */
static int part_join(void *arg, void *joined)
{
	struct ahead *ahead = arg;
	const struct part *part = joined;
	const struct view *view = ahead->view;

	ahead->ts = part->ts ? part->ts : ahead->ts;
	ahead->found = part->found;
	ahead->stopped =
		!ahead->found && view_waits(view, "searching", ahead->ts, view->extent.first, view->extent.last);
	return ahead->found || ahead->stopped ? -ECANCELED : 0;
}

static const struct parallel_sum_ops parts = {
	.create = part_create, .step = part_step, .end = part_end, .join = part_join, .free = free
};

/* Whether the data of a CPU ends early, which only reading in order tells where it does. */
static bool is_cut(const struct context *context)
{
	const struct trace_buffer *buffer = trace_buffer(context->trace, context->buffer);

	for (size_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		if (trace_cpu_is_cut(context->trace, context->buffer, cpu))
			return true;
	return false;
}

/* Beside another machine the order is not known, which each line tells. */
static bool is_of_one_machine(const struct view *view)
{
	struct apart *apart = NULL;
	bool failed = view->reader.nr_buffers > 1 && apart_of(view->trace, &apart, NULL), one = !apart;

	apart_free(apart);
	return one && !failed;
}

/* Each filter sees each event, and what it lets pass may depend on the events before. */
static bool can_look(const struct view *view)
{
	for (size_t i = 0; i < view->nr_filters; i++)
		if (!view->filters[i].off)
			return false;
	for (size_t i = 0; i < view->reader.nr_buffers; i++)
		if (view->reader.buffers[i].context->foreign || is_cut(view->reader.buffers[i].context))
			return false;
	return view->threads > 1 && is_of_one_machine(view);
}

int search_slices(struct view *view, const struct slices *slices, const char *text, bool any_case, uint64_t *ret)
{
	struct ahead ahead = { .view = view, .text = text, .any_case = any_case };
	struct pool *pool = NULL;
	int r;

	pthread_mutex_init(&ahead.lock, NULL);
	ahead.printers = calloc(slices->threads, sizeof(*ahead.printers));
	r = ahead.printers ? pool_new(slices->threads - 1, &pool, NULL) : -EAGAIN;
	if (!r)
		r = parallel_sum_run(slices, pool, &parts, &ahead);
	pool_free(pool);
	for (size_t i = 0; i < ahead.nr_printers; i++) {
		event_cursor_free(ahead.printers[i].lines);
		if (ahead.printers[i].line.start)
			out_release(&ahead.printers[i].line);
	}
	free(ahead.printers);
	pthread_mutex_destroy(&ahead.lock);
	*ret = ahead.ts;
	return ahead.found ? 1 : ahead.stopped ? -ECANCELED : r ? -EAGAIN : 0;
}

int search_ahead(struct view *view, uint64_t since, const char *text, bool any_case, uint64_t *ret)
{
	struct reader reader;
	struct slices slices;
	int r;

	if (!can_look(view))
		return -EAGAIN;
	reader_init(&reader);
	r = reader_share(&reader, &view->reader, since, UINT64_MAX, NULL);
	if (!r && !slices_plan(&reader, view->threads, &slices))
		r = -EAGAIN;
	if (!r) {
		r = search_slices(view, &slices, text, any_case, ret);
		slices_release(&slices);
	}
	reader_release(&reader);
	return r;
}
