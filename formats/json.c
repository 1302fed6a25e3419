// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One JSON object for each line, for programs: the record's values, with all digits of integers, and the kernel's text
 * of the event. Each record is an object of its own: calls and returns of the function graph are not joined.
 */
#include "formats/kernel/ftrace.h"

#include "formats/sinks.h"
#include "lib/base/json.h"
#include "lib/base/out.h"
#include "lib/columns/value.h"
#include "lib/event/tasks.h"
#include "lib/plugin/plugins.h"

#include <stdlib.h>
#include <string.h>

static int json_new(const struct context *context, const struct sink_options *options, struct sink **ret,
		    struct fail *fail)
{
	struct sink_options own = *options;

	/* The JSON writer escapes strings itself. */
	own.one_line = false;
	return ftrace_new_reader(&json_sink, context, &own, ret, fail);
}

static void json_free(struct sink *sink)
{
	ftrace_sink.free(sink);
}

/* The rules for gaps that count as losses are the same for every format. */
static bool json_settle(struct sink *sink, struct events *events, struct event *event)
{
	if (event->kind == EVENT_LOST)
		return ftrace_sink.settle(sink, events, event);
	ftrace_bind((struct ftrace *)sink, event->type);
	return true;
}

static void put_fields(const struct context *context, const struct format *format, const struct event *event,
		       struct out *out)
{
	out_str(out, ",\"fields\":{");
	for (uint32_t i = format->nr_common; i < format->nr_fields; i++) {
		if (i > format->nr_common)
			out_char(out, ',');
		json_text(out, format->fields[i].name);
		out_char(out, ':');
		value_put(&format->fields[i], &context->abi, event, value_is_text(&format->fields[i]), out);
	}
	out_char(out, '}');
}

/* Turns the last `len` bytes of the out into a JSON string. */
static void quote(struct out *out, size_t len)
{
	char small[1024], *copy = len <= sizeof(small) ? small : malloc(len);

	out->at -= len;
	if (!copy) {
		out->failed = true;
		return;
	}
	memcpy(copy, out->at, len);
	json_string(out, copy, len);
	if (copy != small)
		free(copy);
}

static void put_text(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	size_t start, len;

	out_str(out, ",\"text\":");
	start = out_len(out);
	ftrace_alone(ftrace, event, out);
	/* If memory ran out, the out was reset; its owner sees out->failed. */
	len = out_len(out) < start ? 0 : out_len(out) - start;
	if (len && out->at[-1] == '\n') {
		out->at--;
		len--;
	}
	quote(out, len);
}

static void put_head(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct context *context = ftrace->context;

	out_str(out, "{\"ts\":");
	out_u64(out, event->ts);
	out_str(out, ",\"cpu\":");
	out_u64(out, event->cpu);
	if (*context->instance) {
		out_str(out, ",\"instance\":");
		json_text(out, context->instance);
	}
}

static void put_task(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct context *context = ftrace->context;
	struct task_name name = task_name(context->tasks, event->pid);
	int32_t tgid = task_tgid(context->tasks, event->pid);
	char flags[16];

	out_str(out, ",\"pid\":");
	out_s64(out, event->pid);
	if (tgid) {
		out_str(out, ",\"tgid\":");
		out_s64(out, tgid);
	}
	out_str(out, ",\"comm\":");
	json_string(out, name.text, name.len);
	out_str(out, ",\"flags\":");
	json_string(out, flags, (size_t)(columns_flags(&ftrace->columns, event, flags) - flags));
}

static void json_format(const struct sink *sink, const struct event *event, struct out *out)
{
	const struct ftrace *ftrace = (const struct ftrace *)sink;
	const struct binding *binding;
	const struct format *format;

	put_head(ftrace, event, out);
	if (event->kind == EVENT_LOST) {
		out_str(out, ",\"lost\":");
		if (event->lost > 0)
			out_s64(out, event->lost);
		else
			out_str(out, "null");
		out_str(out, "}\n");
		return;
	}
	put_task(ftrace, event, out);
	binding = ftrace_binding(ftrace, event);
	format = binding->format;
	out_str(out, ",\"id\":");
	out_u64(out, event->id);
	if (format) {
		out_str(out, ",\"system\":");
		json_text(out, format->system);
		out_str(out, ",\"event\":");
		json_text(out, format->name);
		put_fields(ftrace->context, format, event, out);
	}
	put_text(ftrace, event, out);
	if (binding->decoder)
		decoder_run_json(binding->decoder, event->data, event->len, out);
	out_str(out, "}\n");
}

const struct sink_ops json_sink = {
	.name = "json",
	.summary = "one JSON object a line: the fields of each event, and its text",
	.tells_instance = true,
	.create = json_new,
	.free = json_free,
	.settle = json_settle,
	.format = json_format,
};
