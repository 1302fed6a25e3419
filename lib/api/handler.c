// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_reader_handler: texts that the caller makes in place of the kernel's. */
#include "lib/api/api_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/event_text.h"
#include "lib/ground/base/vec.h"

enum { TEXT_FIRST = 256, TEXT_MAX = 1 << 24 };

void api_handlers_release(weft_reader *reader)
{
	for (size_t i = 0; i < reader->nr_handlers; i++) {
		free(reader->handlers[i]->name);
		free(reader->handlers[i]);
	}
	free(reader->handlers);
}

static struct api_handler *find_handler(weft_reader *reader, const char *name)
{
	struct api_handler *handler, **added;

	for (size_t i = 0; i < reader->nr_handlers; i++)
		if (!strcmp(reader->handlers[i]->name, name))
			return reader->handlers[i];
	handler = calloc(1, sizeof(*handler));
	if (!handler)
		return NULL;
	handler->name = strdup(name);
	added = handler->name ? vec_push(reader->handlers, reader->nr_handlers) : NULL;
	if (!added) {
		free(handler->name);
		free(handler);
		return NULL;
	}
	return *added = handler;
}

static int set_handler(weft_reader *reader, const char *name, weft_text_fn *make, void *arg, struct fail *fail)
{
	const char *colon = strchr(name, ':');
	struct api_handler *handler;

	if (!colon || colon == name || !colon[1])
		return fail_set(fail, -EINVAL, "'%s' is not the name of an event as SYSTEM:NAME, sched:sched_switch",
				name);
	handler = find_handler(reader, name);
	if (!handler)
		return fail_memory(fail);
	handler->make = make;
	handler->arg = arg;
	for (size_t i = 0; i < reader->nr_all; i++)
		reader->all[i]->handler = api_handler_of(reader, reader->all[i]);
	return 0;
}

int weft_reader_handler(weft_reader *reader, const char *name, weft_text_fn *make, void *arg, struct weft_error *error)
{
	struct fail fail = FAIL_INIT;
	int r = set_handler(reader, name, make, arg, &fail);

	return api_result(error, r, &fail);
}

/* The handler's text, as memory of the caller; NULL: it has none, or *ret_r is -ENOMEM. */
static char *make_text(const struct api_handler *handler, const struct weft_event *event, size_t *ret_len, int *ret_r)
{
	size_t size = TEXT_FIRST;
	char *text = malloc(size);
	int len = -1;

	while (text && (len = handler->make(handler->arg, event, text, size)) >= (int)size && len < TEXT_MAX) {
		free(text);
		size = (size_t)len + 1;
		text = malloc(size);
	}
	*ret_r = text ? 0 : -ENOMEM;
	if (len < 0 || (size_t)len >= size) {
		free(text);
		return NULL;
	}
	*ret_len = (size_t)len;
	return text;
}

int api_handler_text(weft_reader *reader, const struct weft_event *event, struct event_text *text, enum weft_text kind)
{
	struct out body;
	struct event inside;
	size_t len = 0, at = strlen(event->type->name) + 2, kept;
	int r = 0;
	char *made = make_text(event->type->handler, event, &len, &r);

	if (!made)
		return r;
	if (!out_init(&body, TEXT_FIRST)) {
		free(made);
		return -ENOMEM;
	}
	api_event_inside(event, &inside);
	event_text_put(text, &inside, EVENT_TEXT_BODY, &body);
	/* A line ends with the body. */
	kept = kind == WEFT_TEXT_BODY ? 0 : out_len(&reader->text) - out_len(&body);
	if (at > out_len(&body))
		at = out_len(&body);
	if (out_len(&body) <= out_len(&reader->text)) {
		reader->text.at = reader->text.start + kept + at;
		out_mem(&reader->text, made, len);
	}
	out_release(&body);
	free(made);
	return 0;
}
