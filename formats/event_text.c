// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/event_text.h"

#include <stdlib.h>

#include "formats/kernel/ftrace.h"
#include "formats/sinks.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"

/* Both sinks bind the types of events by themselves. */
struct event_text {
	struct sink *lines; /* NULL: nobody has asked */
	struct sink *json;
	const struct context *context;
};

int event_text_new(const struct context *context, struct event_text **ret, struct fail *fail)
{
	static const struct sink_options options = { .raw = false };
	struct event_text *text = calloc(1, sizeof(*text));
	int r;

	if (!text)
		return fail_memory(fail);
	text->context = context;
	r = ftrace_sink.create(context, &options, &text->lines, fail);
	if (!r)
		r = json_sink.create(context, &options, &text->json, fail);
	if (r)
		event_text_free(text);
	else
		*ret = text;
	return r;
}

void event_text_free(struct event_text *text)
{
	if (!text)
		return;
	if (text->lines)
		text->lines->ops->free(text->lines);
	if (text->json)
		text->json->ops->free(text->json);
	free(text);
}

void event_text_put(struct event_text *text, const struct event *event, enum event_text_kind kind, struct out *out)
{
	struct sink *sink = kind == EVENT_TEXT_JSON ? text->json : text->lines;
	struct ftrace *ftrace = (struct ftrace *)sink;
	size_t from = out_len(out);

	if (event->kind == EVENT_RECORD)
		ftrace_bind(ftrace, event->type);
	if (kind == EVENT_TEXT_JSON || event->kind == EVENT_LOST) {
		sink->ops->format(sink, event, out);
	} else {
		if (kind == EVENT_TEXT_LINE)
			columns_write(&ftrace->columns, event, out);
		ftrace_alone(ftrace, event, out);
	}
	if (out_len(out) > from && out->at[-1] == '\n')
		out->at--;
}
