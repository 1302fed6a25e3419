// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_filter: a query that is asked about one event after the other. */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/meaning/query/selection.h"

struct weft_filter {
	const weft_reader *reader;
	struct selection **selections; /* by buffer; NULL: it has nothing that the query could choose */
	struct cpus cpus;
	bool some_cpus;
};

void weft_filter_free(weft_filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; filter->selections && i < filter->reader->reader.nr_buffers; i++)
		selection_free(filter->selections[i]);
	free(filter->selections);
	free(filter);
}

static int bind_buffer(const struct query *query, const struct context *context, struct selection **ret,
		       struct fail *fail)
{
	int r = query_select(query, context, ret, fail);

	if (!r && !selection_can_enter(*ret))
		r = fail_set(fail, -ENOTSUP,
			     "the query chooses events by other events, a duration or a mark: give it to the reader");
	if (r) {
		selection_free(*ret);
		*ret = NULL;
	}
	return r;
}

/* A query that names what a buffer does not have chooses nothing of it; it fails if no buffer has it. */
static int bind(weft_filter *filter, const struct query *query, struct fail *fail)
{
	const struct reader *reader = &filter->reader->reader;
	bool any = !reader->nr_buffers;
	int first = 0;

	filter->selections = calloc(reader->nr_buffers + 1, sizeof(struct selection *));
	if (!filter->selections)
		return fail_memory(fail);
	for (size_t i = 0; i < reader->nr_buffers; i++) {
		int r = bind_buffer(query, reader->buffers[i].context, &filter->selections[i], first ? NULL : fail);

		if (r == -ENOMEM)
			return r;
		any |= !r;
		first = first ? first : r;
	}
	return any ? 0 : first;
}

int weft_filter_new(weft_reader *reader, const weft_query *query, weft_filter **ret, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	weft_filter *filter = calloc(1, sizeof(*filter));
	int r = filter ? 0 : fail_memory(&fail);

	if (!r && !reader->use)
		r = fail_set(&fail, -EINVAL, "the reader has not started");
	if (!r) {
		filter->reader = reader;
		filter->cpus = query->query.cpus;
		filter->some_cpus = query->query.some_cpus;
		r = bind(filter, &query->query, &fail);
	}
	if (r)
		weft_filter_free(filter);
	else
		*ret = filter;
	return api_result(error, r, &fail);
}

bool weft_filter_passes(weft_filter *filter, const struct weft_event *event)
{
	struct event inside;

	if (event->buffer >= filter->reader->reader.nr_buffers ||
	    (event->type->reader && event->type->reader != filter->reader))
		return false;
	if (filter->some_cpus && !cpus_has(&filter->cpus, event->cpu))
		return false;
	if (event->kind == WEFT_LOST)
		return true;
	api_event_inside(event, &inside);
	return filter->selections[event->buffer] && selection_keep(filter->selections[event->buffer], &inside);
}
