// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One JSON object for each line, for programs: the record's values, with all digits of integers, and the kernel's text
 * of the event. Each record is an object of its own: calls and returns of the function graph are not joined.
 */
#include "formats/kernel/ftrace.h"

#include <stdlib.h>
#include <string.h>

#include "formats/sinks.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/clock/face.h"
#include "lib/meaning/columns/value.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/plugin/plugins.h"

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

/*
 * Every gap is told, as exporters tell it. The kernel's text has no line for what was lost before a CPU's first event
 * where its header has the number, and data have no header.
 */
static bool json_settle(struct sink *sink, struct events *events, struct event *event)
{
	(void)events;
	if (event->kind != EVENT_LOST)
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

static void put_wall(const struct ftrace *ftrace, uint64_t ts, struct out *out)
{
	char text[FACE_TEXT];

	if (face_is_of_day(ftrace->columns.face) && face_iso(text, ftrace->columns.face, ftrace->context->wall, ts))
		out_f(out, ",\"wall\":\"%s\"", text);
}

static void put_head(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct context *context = ftrace->context;

	out_str(out, "{\"ts\":");
	out_u64(out, event->ts);
	if (ftrace->columns.face)
		put_wall(ftrace, event->ts, out);
	out_str(out, ",\"cpu\":");
	out_u64(out, event->cpu);
	if (*context->instance) {
		out_str(out, ",\"instance\":");
		json_text(out, context->instance);
	}
	if (context->compared) {
		out_str(out, ",\"clock_error\":");
		out_u64(out, context->clock_error_ns);
	}
}

static void put_task(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	const struct context *context = ftrace->context;
	struct task_name name = context_comm(context, event->pid, event->ts);
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

/* What json_format() writes; `fields` are the event's own, and what a plugin decoded stands behind all. */
static const char schema[] =
	"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$comment\":\"version 1\",\"description\":"
	"\"a line: an event, or that events were lost\",\"type\":\"object\",\"properties\":{"
	"\"ts\":{\"type\":\"integer\",\"description\":\"when, in ns of the trace clock\"},"
	"\"wall\":{\"type\":\"string\",\"description\":\"the time of day (--time wall or utc)\"},"
	"\"cpu\":{\"type\":\"integer\",\"description\":\"the CPU\"},"
	"\"instance\":{\"type\":\"string\",\"description\":\"the instance; the main one has no name\"},"
	"\"clock_error\":{\"type\":\"integer\",\"description\":\"of several machines: how many ns ts may be off\"},"
	"\"lost\":{\"type\":[\"integer\",\"null\"],\"description\":\"how many events were lost there; null: unknown\"},"
	"\"pid\":{\"type\":\"integer\",\"description\":\"the thread\"},"
	"\"tgid\":{\"type\":\"integer\",\"description\":\"its process, where it is known\"},"
	"\"comm\":{\"type\":\"string\",\"description\":\"its name\"},"
	"\"flags\":{\"type\":\"string\",\"description\":\"the letters before the time in the kernel's text\"},"
	"\"id\":{\"type\":\"integer\",\"description\":\"the type of the event in this file\"},"
	"\"system\":{\"type\":\"string\",\"description\":\"the system of the type\"},"
	"\"event\":{\"type\":\"string\",\"description\":\"the name of the type\"},"
	"\"fields\":{\"type\":\"object\",\"description\":\"the values of the record by name; null: it lies outside\","
	"\"additionalProperties\":{\"type\":[\"integer\",\"string\",\"array\",\"null\"]}},"
	"\"text\":{\"type\":\"string\",\"description\":\"what the kernel prints behind the columns\"},"
	"\"decoded\":{\"type\":\"object\",\"description\":\"what plugins know of the values (--decode)\"}},"
	"\"additionalProperties\":false,\"required\":[\"ts\",\"cpu\"],\"oneOf\":[{\"required\":[\"lost\"],"
	"\"not\":{\"required\":[\"pid\"]}},{\"required\":[\"pid\",\"comm\",\"flags\",\"id\",\"text\"],"
	"\"dependentRequired\":{\"event\":[\"system\",\"fields\"]}}]}\n";

const struct sink_ops json_sink = {
	.name = "json",
	.schema = schema,
	.summary = "one JSON object a line: the fields of each event, and its text",
	.tells_instance = true,
	.create = json_new,
	.free = json_free,
	.settle = json_settle,
	.format = json_format,
};
