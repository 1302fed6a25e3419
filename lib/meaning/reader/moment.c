// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/moment_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

#define MARKS "ftrace:print"

/* Adds the buffers that have such events. -ENOENT: there is none, and `fail` has what the last one lacks. */
static int add_buffers(const struct context *context, const char *pattern, struct reader *reader, struct fail *fail)
{
	int r = 0, missing = -ENOENT;

	for (size_t i = 0; !r && i < trace_buffers(context->trace); i++) {
		struct reader_buffer *buffer;

		r = reader_add(reader, context->trace, i, fail);
		if (r)
			break;
		buffer = &reader->buffers[reader->nr_buffers - 1];
		if (strcmp(buffer->context->clock, context->clock)) {
			reader_drop(reader);
			continue;
		}
		r = selection_new(buffer->context, &buffer->selection, fail);
		if (!r)
			r = selection_add_events(buffer->selection, pattern, fail);
		if (r == -ENOENT) {
			reader_drop(reader);
			r = 0;
		} else {
			missing = 0;
		}
	}
	return r ? r : missing;
}

/* A stack is selected together with its event, and is no event that was asked for. */
static bool is_of_type(const struct reader *reader, const struct event *event)
{
	const uint64_t *types = selection_types(reader->buffers[event->buffer].selection);

	return event->kind == EVENT_RECORD && types && types[event->id / 64] >> event->id % 64 & 1;
}

/* trace_output.c: the text of a marker fills the record, and a NUL may end it before. False: it has none. */
static bool mark_text(const struct event *event, const char **ret, size_t *ret_len)
{
	struct place place;

	if (!place_find(&place, event->type, "buf") || place.offset >= event->len)
		return false;
	*ret = (const char *)event->data + place.offset;
	*ret_len = strnlen(*ret, event->len - place.offset);
	return true;
}

static bool contains(const struct event *event, const char *text)
{
	const char *mark;
	size_t len;

	return mark_text(event, &mark, &len) && memmem(mark, len, text, strlen(text));
}

static int look(struct reader *reader, const struct moment *moment, uint64_t *ret, struct fail *fail)
{
	const struct reader_options options = { .pool = NULL };
	uint64_t left = moment->nr;
	struct event event;
	int r = reader_start(reader, &options, fail);

	while (!r && (r = reader_next(reader, &event, fail)) > 0) {
		r = 0;
		if (!is_of_type(reader, &event) || (!moment->name && !contains(&event, moment->mark)) || --left)
			continue;
		*ret = event.ts;
		return 0;
	}
	if (r)
		return r;
	left = moment->nr - left;
	if (moment->name)
		return fail_set(fail, -ENODATA, "the file has %" PRIu64 " events '%s'", left, moment->name);
	return fail_set(fail, -ENODATA, "the file has %" PRIu64 " markers with '%s'", left, moment->mark);
}

int moment_find(const struct context *context, const struct moment *moment, uint64_t *ret, struct fail *fail)
{
	struct reader reader;
	int r;

	reader_init(&reader);
	r = add_buffers(context, moment->name ? moment->name : MARKS, &reader, fail);
	if (!r)
		r = look(&reader, moment, ret, fail);
	reader_release(&reader);
	return r;
}

static int show(struct reader *reader, void (*see)(void *arg, uint64_t ts, const char *text, size_t len), void *arg,
		struct fail *fail)
{
	const struct reader_options options = { .pool = NULL };
	struct event event;
	const char *text;
	size_t len;
	int r = reader_start(reader, &options, fail);

	if (r)
		return r;
	while ((r = reader_next(reader, &event, fail)) > 0)
		if (is_of_type(reader, &event) && mark_text(&event, &text, &len))
			see(arg, event.ts, text, len);
	return r;
}

int moment_each_mark(const struct context *context, void (*see)(void *arg, uint64_t ts, const char *text, size_t len),
		     void *arg, struct fail *fail)
{
	struct reader reader;
	int r;

	reader_init(&reader);
	r = add_buffers(context, MARKS, &reader, fail);
	if (!r)
		r = show(&reader, see, arg, fail);
	reader_release(&reader);
	return r;
}
