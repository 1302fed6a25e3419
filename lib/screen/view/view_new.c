// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/apart.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/query.h"
#include "lib/pages/trace/trace.h"
#include "lib/screen/view/columns_internal.h"
#include "lib/screen/view/event_cursor_internal.h"
#include "lib/screen/view/folds_internal.h"
#include "lib/screen/view/picture_internal.h"
#include "lib/screen/view/view_panes_internal.h"

/* What the model is made of: buffers and panes. */

static const struct pane_ops *const all_panes[] = { VIEW_PANES };

/* The times and CPUs of the command line hold for everything; what it chooses besides is a filter. */
static int narrow(struct view *view, struct reader_buffer *buffer, struct fail *fail)
{
	const struct query *query = view->query;
	struct query times = QUERY_INIT;
	int r;

	times.since = query->since;
	times.until = query->until;
	times.around = query->around;
	times.before_ns = query->before_ns;
	times.after_ns = query->after_ns;
	times.some_cpus = query->some_cpus;
	times.cpus = query->cpus;
	r = query_narrow(&times, buffer, false, &view->extent, NULL, fail);
	/* The mask belongs to the caller's query. */
	if (query->some_cpus)
		buffer->window.cpu_mask = query->cpus.bits;
	return r;
}

static bool chooses(const struct query *query)
{
	return query->events.nr || query->filters.nr || query->comms.nr || query->marks.nr || query->files.nr ||
	       query->nr_pids || query->nr_who || query->flags_out;
}

static int add_buffers(struct view *view, const struct query_manner *manner, struct fail *fail)
{
	struct reader *reader = &view->reader;
	int r = 0;

	for (size_t i = 0; !r && i < trace_buffers(view->trace); i++) {
		if (!query_wants(view->query, view->trace, i, false))
			continue;
		r = reader_add(reader, view->trace, i, fail);
		if (r)
			break;
		/* Times of different clocks cannot be compared. */
		if (strcmp(reader->buffers[reader->nr_buffers - 1].context->clock, reader->buffers[0].context->clock)) {
			view_say(view, "the buffers have different clocks: only those with the clock '%s' are shown",
				 reader->buffers[0].context->clock);
			reader_drop(reader);
			continue;
		}
		if (manner && manner->prepare)
			r = manner->prepare(manner->arg, reader->buffers[reader->nr_buffers - 1].context, fail);
		if (!r)
			r = narrow(view, &reader->buffers[reader->nr_buffers - 1], fail);
	}
	if (!r && view->query->instance && !reader->nr_buffers)
		return query_no_instance(view->query, view->trace, fail);
	if (!r && !reader->nr_buffers)
		return fail_set(fail, -ENODATA, "'%s' has no events", trace_path(view->trace));
	return r;
}

/* How exact the order of several machines is: the rows have a mark where it is not known. */
static int say_apart(struct view *view, struct fail *fail)
{
	struct apart *apart;
	char widest[TEXT_HUMAN];
	int r = view->reader.nr_buffers > 1 ? apart_of(view->trace, &apart, fail) : 0;

	if (r || view->reader.nr_buffers < 2 || !apart)
		return r;
	view_say(view, "times of two machines are exact to within %s: ~ where the order is not known",
		 text_time(widest, apart_widest(apart)));
	apart_free(apart);
	return 0;
}

/* The window is what there is of the recording. */
static int find_window(struct view *view, struct fail *fail)
{
	const struct events_options *window = &view->reader.buffers[0].window;
	struct fail why = FAIL_INIT;
	int r = extent_find(view->reader.buffers[0].context, &view->extent, &why);

	/* A damaged file is shown as far as it can be read. */
	if (r == -ENOMEM)
		return fail_memory(fail);
	if (r)
		view_say(view, "%.200s", why.text);
	view->from = window->since > view->extent.first ? window->since : view->extent.first;
	view->to = window->until < view->extent.last ? window->until : view->extent.last;
	if (view->to < view->from)
		view->to = view->from;
	view->cursor = (struct walk_place){ view->from, 0 };
	return view->query->around ? query_around(view->query, view->reader.buffers[0].context, &view->extent,
						  &view->cursor.ts, fail) :
				     0;
}

int view_new(struct trace *trace, const struct query *query, const struct query_manner *manner, struct view **ret,
	     struct fail *fail)
{
	const struct view_filter given = { .kind = VIEW_FILTER_QUERY };
	struct view *view = calloc(1, sizeof(*view));
	int r;

	if (!view)
		return fail_memory(fail);
	view->folds = calloc(1, sizeof(*view->folds));
	if (!view->folds) {
		free(view);
		return fail_memory(fail);
	}
	view->trace = trace;
	view->query = query;
	view->path = trace_path(trace);
	view->format = "ftrace";
	view->all_panes = all_panes;
	view->nr_all_panes = array_size(all_panes);
	reader_init(&view->reader);
	r = add_buffers(view, manner, fail);
	if (!r)
		r = say_apart(view, fail);
	if (!r)
		r = find_window(view, fail);
	if (!r)
		view->counts = view->reader.buffers[0].context->unit == CLOCK_UNIT_COUNT;
	if (!r && chooses(query))
		r = view_filter_add(view, &given, fail);
	if (!r)
		r = view_show(view, '1', fail);
	if (r)
		view_free(view);
	else
		*ret = view;
	return r;
}

void view_free(struct view *view)
{
	if (!view)
		return;
	for (size_t i = 0; i < array_size(view->panes); i++)
		if (view->panes[i])
			view->panes[i]->ops->free(view->panes[i]);
	picture_free(view->picture);
	for (size_t i = 0; i < view->nr_filters; i++)
		free(view->filters[i].text);
	view_columns_free(view->columns);
	free(view->folds);
	buf_release(&view->copy);
	free(view->links);
	free(view->searched);
	reader_release(&view->reader);
	face_release(&view->face);
	zones_release(&view->zones);
	free(view);
}
