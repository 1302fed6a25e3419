// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/diff_per.h"

#include "lib/base/fail.h"
#include "lib/event/event.h"
#include "lib/query/selection.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum diff_per diff_per_read(const char *text)
{
	if (!strcmp(text, "second"))
		return DIFF_PER_SECOND;
	if (!strcmp(text, "run"))
		return DIFF_PER_RUN;
	return strcmp(text, "cpu-second") != 0 ? DIFF_PER_EVENT : DIFF_PER_CPU_SECOND;
}

/* weft's own tasks have no rows, so their events are not counted. */
static int choose(const char *text, const struct context *context, struct selection **ret, struct fail *fail)
{
	uint64_t *left_out;
	int r = selection_new(context, ret, fail);

	if (!r)
		r = selection_leave_out_self(*ret, &left_out, fail);
	if (!r)
		r = strpbrk(text, "=<>&!~ ") ? selection_add_filter(*ret, text, false, fail) :
					       selection_add_events(*ret, text, fail);
	if (r) {
		selection_free(*ret);
		*ret = NULL;
	}
	return r;
}

int diff_per_choose(const char *text, const struct reader *reader, struct diff_per_events *ret, struct fail *fail)
{
	bool found = false;
	int r = 0;

	*ret = (struct diff_per_events){ .of_buffers = calloc(reader->nr_buffers, sizeof(struct selection *)) };
	if (!ret->of_buffers)
		return fail_memory(fail);
	ret->nr = reader->nr_buffers;
	for (size_t i = 0; i < ret->nr && (!r || r == -ENOENT); i++) {
		r = choose(text, reader->buffers[i].context, &ret->of_buffers[i], fail);
		found |= !r;
	}
	return r == -ENOENT && found ? 0 : r;
}

void diff_per_release(struct diff_per_events *events)
{
	for (size_t i = 0; i < events->nr; i++)
		selection_free(events->of_buffers[i]);
	free(events->of_buffers);
	*events = (struct diff_per_events){ .of_buffers = NULL };
}

bool diff_per_is(void *arg, const struct event *event)
{
	const struct diff_per_events *events = arg;
	struct selection *selection = event->buffer < events->nr ? events->of_buffers[event->buffer] : NULL;

	if (!selection)
		return false;
	if (event->kind == EVENT_RECORD)
		return selection_keep(selection, event);
	selection_gap(selection, event);
	return false;
}
