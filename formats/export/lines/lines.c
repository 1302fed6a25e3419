// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A line for each event and for each gap: JSON objects, or comma-separated values (RFC 4180, but with newlines only).
 * Times are integers; integers have all their digits; each byte that is not UTF-8 becomes U+FFFD. --fields chooses the
 * columns.
 */
#include "formats/export/exports_internal.h"
#include "formats/export/lines/csv_internal.h"
#include "formats/export/lines/kind_internal.h"
#include "formats/kernel/ftrace.h"
#include "formats/sinks.h"
#include "lib/base/json.h"
#include "lib/base/out.h"
#include "lib/columns/list.h"
#include "lib/columns/value.h"
#include "lib/event/context.h"
#include "lib/event/kinds.h"
#include "lib/event/place.h"
#include "lib/event/tasks.h"
#include "lib/plugin/decoded_row.h"
#include "lib/plugin/plugins.h"
#include "lib/reader/reader.h"
#include "lib/schema/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct lines {
	struct export export; /* first */
	struct column_list list;
	struct buf *keys; /* the columns' keys, as JSON */
	bool *found;      /* columns that a type had */
	bool csv, chosen;
	bool tells_lost;      /* a column shows losses */
	uint64_t gaps, large; /* losses, and integers beyond 2^53 */
	struct kinds kinds;
	struct sink **sinks;    /* for the text and the flags, by buffer */
	struct decoded_row row; /* what a plugin knows of the event */
	struct out cell;        /* memory for a CSV cell with JSON or text */
	struct out text;        /* the kernel's text of one event */
};

static const char jsonl_fields[] = "ts,cpu,instance,pid,comm,system,event,lost,fields,decoded";
static const char csv_fields[] = "ts,cpu,instance,pid,comm,system,event,lost,text,decoded";

static void lines_free(struct export *export)
{
	struct lines *lines = (struct lines *)export;

	for (size_t i = 0; lines->sinks && i < lines->kinds.nr_buffers; i++)
		if (lines->sinks[i])
			lines->sinks[i]->ops->free(lines->sinks[i]);
	free(lines->sinks);
	kinds_release(&lines->kinds);
	for (size_t i = 0; lines->keys && i < lines->list.nr; i++)
		buf_release(&lines->keys[i]);
	free(lines->keys);
	free(lines->found);
	column_list_release(&lines->list);
	decoded_row_release(&lines->row);
	if (lines->cell.start)
		out_release(&lines->cell);
	if (lines->text.start)
		out_release(&lines->text);
	free(lines);
}

static bool any_plugins(const struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (reader->buffers[i].context->plugins)
			return true;
	return false;
}

static int lines_init(struct lines *lines, const struct export_input *input, const char *fields, struct fail *fail)
{
	size_t nr_buffers = input->reader->nr_buffers;
	int r;

	if (kinds_init(&lines->kinds, nr_buffers, line_kind_free) || !out_init(&lines->cell, 4096) ||
	    !out_init(&lines->text, 4096))
		return fail_memory(fail);
	lines->chosen = input->fields;
	r = column_list_parse(input->fields ? input->fields : fields, &lines->list, fail);
	if (!r && !input->fields && !any_plugins(input->reader))
		column_list_drop_last(&lines->list);
	if (r)
		return input->fields && r == -EINVAL ? fail_usage(fail, fail_in(fail, r, "--fields")) : r;
	lines->keys = calloc(lines->list.nr, sizeof(*lines->keys));
	lines->found = calloc(lines->list.nr, sizeof(*lines->found));
	lines->sinks = calloc(nr_buffers + 1, sizeof(*lines->sinks));
	if (!lines->keys || !lines->found || !lines->sinks)
		return fail_memory(fail);
	for (size_t i = 0; i < lines->list.nr; i++) {
		lines->tells_lost |= lines->list.at[i].what == COLUMN_LOST || lines->list.at[i].what == COLUMN_EVENT;
		if (!line_key(lines->list.at[i].name, &lines->keys[i]))
			return fail_memory(fail);
	}
	for (size_t i = 0; i < nr_buffers; i++) {
		r = ftrace_new_reader(&ftrace_sink, input->reader->buffers[i].context,
				      &(struct sink_options){ .raw = false }, &lines->sinks[i], fail);
		if (r)
			return r;
	}
	return 0;
}

static int lines_new(const struct export_input *input, bool csv, struct export **ret, struct fail *fail)
{
	struct lines *lines = calloc(1, sizeof(*lines));
	int r;

	if (!lines)
		return fail_memory(fail);
	lines->csv = csv;
	r = lines_init(lines, input, csv ? csv_fields : jsonl_fields, fail);
	if (r)
		lines_free(&lines->export);
	else
		*ret = &lines->export;
	return r;
}

static int jsonl_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	return lines_new(input, false, ret, fail);
}

static int csv_new(const struct export_input *input, struct export **ret, struct fail *fail)
{
	return lines_new(input, true, ret, fail);
}

/* Turns the JSON after `start` in the out (not a string) into a CSV field: hex digits without their quotes. */
static void recode_csv(struct lines *lines, size_t start)
{
	struct out *out = lines->export.out;
	size_t len = out_len(out) < start ? 0 : out_len(out) - start;
	bool quoted;

	out_clear(&lines->cell);
	out_mem(&lines->cell, out->at - len, len);
	out->at -= len;
	out->failed |= lines->cell.failed;
	if (lines->cell.failed || (len == 4 && !memcmp(lines->cell.start, "null", 4)))
		return;
	quoted = len >= 2 && *lines->cell.start == '"';
	csv_text(out, lines->cell.start + quoted, len - 2 * quoted);
}

static void put_text(struct lines *lines, const void *text, size_t len)
{
	if (lines->csv)
		csv_text(lines->export.out, text, len);
	else
		json_string(lines->export.out, text, len);
}

static void put_null(const struct lines *lines)
{
	if (!lines->csv)
		out_mem(lines->export.out, "null", 4);
}

static void put_s64(struct lines *lines, int64_t value)
{
	lines->large += value > INT64_C(1) << 53 || value < -(INT64_C(1) << 53);
	out_s64(lines->export.out, value);
}

static void put_u64(struct lines *lines, uint64_t value)
{
	lines->large += value > UINT64_C(1) << 53;
	out_u64(lines->export.out, value);
}

static void put_cell(struct lines *lines, const struct line_cell *cell, const struct context *context,
		     const struct event *event)
{
	const struct place *place = &cell->place;
	struct out *out = lines->export.out;

	if (place->size && place->offset <= event->len && place->size <= event->len - place->offset) {
		if (place->is_signed)
			put_s64(lines, place_s64(place, event));
		else
			put_u64(lines, place_u64(place, event));
	} else if (lines->csv && cell->text) {
		const char *text;
		size_t len;

		if (place_string(place, event, &text, &len))
			csv_text(out, text, len);
	} else if (place->field) {
		size_t start = out_len(out);

		value_put(place->field, &context->abi, event, cell->text, out);
		if (lines->csv)
			recode_csv(lines, start);
	} else {
		put_null(lines);
	}
}

static void put_fields(struct lines *lines, const struct line_kind *kind, const struct context *context,
		       const struct event *event)
{
	struct out *out = lines->export.out;
	size_t start = out_len(out);
	bool csv = lines->csv;

	lines->csv = false;
	out_char(out, '{');
	for (size_t i = 0; i < kind->nr_fields; i++) {
		if (i)
			out_char(out, ',');
		out_mem(out, kind->fields[i].key.data, kind->fields[i].key.len);
		put_cell(lines, &kind->fields[i], context, event);
	}
	out_char(out, '}');
	lines->csv = csv;
	if (csv)
		recode_csv(lines, start);
}

static void put_kernel_text(struct lines *lines, const struct event *event)
{
	struct ftrace *ftrace = (struct ftrace *)lines->sinks[event->buffer];
	struct out *text = &lines->text;

	out_clear(text);
	ftrace_bind(ftrace, event->type);
	ftrace_alone(ftrace, event, text);
	if (out_len(text) && text->at[-1] == '\n')
		text->at--;
	if (text->failed)
		export_no_memory(&lines->export);
	put_text(lines, text->start, out_len(text));
}

static const struct line_kind *kind_of(struct lines *lines, const struct context *context, const struct event *event)
{
	struct line_kind *kind = kinds_find(&lines->kinds, event);

	if (__builtin_expect(kind != NULL, 1))
		return kind;
	kind = line_kind_new(event->type->format, &context->abi, &lines->list, lines->found);
	if (!kind)
		return NULL;
	if (context->plugins && kind->format)
		kind->decoder = plugins_decoder(context->plugins, kind->format);
	for (size_t i = 0; kind->decoder && i < lines->list.nr; i++)
		lines->found[i] |=
			lines->list.at[i].what == COLUMN_FACT && decoder_find(kind->decoder, lines->list.at[i].field);
	return kinds_set(&lines->kinds, event, kind) ? kind : NULL;
}

static void put_fact(struct lines *lines, const struct decoded *decoded)
{
	if (!decoded)
		put_null(lines);
	else if (decoded->kind == DECODED_TEXT)
		put_text(lines, decoded->text, decoded->len);
	else if (decoded->kind == DECODED_INTEGER)
		put_s64(lines, (int64_t)decoded->value);
	else
		put_u64(lines, decoded->value);
}

/* An object of all that the plugin knows; null if it knows nothing. */
static void put_facts(struct lines *lines)
{
	struct out *out = lines->export.out;
	size_t start = out_len(out);
	bool csv = lines->csv;

	if (!lines->row.nr) {
		put_null(lines);
		return;
	}
	lines->csv = false;
	for (size_t i = 0; i < lines->row.nr; i++) {
		out_char(out, i ? ',' : '{');
		json_text(out, lines->row.at[i].name);
		out_char(out, ':');
		put_fact(lines, &lines->row.at[i]);
	}
	out_char(out, '}');
	lines->csv = csv;
	if (csv)
		recode_csv(lines, start);
}

static void put_string(struct lines *lines, const char *text)
{
	put_text(lines, text, strlen(text));
}

/* Writes a column that only records have. */
static void put_of_record(struct lines *lines, const struct line_kind *kind, size_t index,
			  const struct context *context, const struct event *event)
{
	struct task_name name;
	char flags[COLUMNS_FLAGS_MAX];

	switch (lines->list.at[index].what) {
	case COLUMN_PID:
		put_s64(lines, event->pid);
		return;
	case COLUMN_TGID:
		if (task_tgid(context->tasks, event->pid))
			put_s64(lines, task_tgid(context->tasks, event->pid));
		else
			put_null(lines);
		return;
	case COLUMN_COMM:
		name = task_name(context->tasks, event->pid);
		put_text(lines, name.text, name.len);
		return;
	case COLUMN_FLAGS:
		put_text(lines, flags,
			 (size_t)(columns_flags(&((struct ftrace *)lines->sinks[event->buffer])->columns, event,
						flags) -
				  flags));
		return;
	case COLUMN_PREEMPT_COUNT:
		put_u64(lines, event->preempt_count);
		return;
	case COLUMN_SYSTEM:
		put_string(lines, kind->format ? kind->format->system : "");
		return;
	case COLUMN_EVENT:
		put_string(lines, kind->format ? kind->format->name : "");
		return;
	case COLUMN_FIELDS:
		put_fields(lines, kind, context, event);
		return;
	case COLUMN_TEXT:
		put_kernel_text(lines, event);
		return;
	case COLUMN_FIELD:
		put_cell(lines, &kind->columns[index], context, event);
		return;
	case COLUMN_DECODED:
		put_facts(lines);
		return;
	case COLUMN_FACT:
		put_fact(lines, decoded_row_find(&lines->row, lines->list.at[index].field));
		return;
	case COLUMN_TS:
	case COLUMN_CPU:
	case COLUMN_INSTANCE:
	case COLUMN_LOST:
		put_null(lines);
	}
}

static void put_column(struct lines *lines, const struct line_kind *kind, size_t index, const struct context *context,
		       const struct event *event)
{
	enum column_what what = lines->list.at[index].what;

	if (what == COLUMN_TS)
		put_u64(lines, event->ts);
	else if (what == COLUMN_CPU)
		out_u64(lines->export.out, event->cpu);
	else if (what == COLUMN_INSTANCE)
		put_string(lines, context->instance);
	else if (kind)
		put_of_record(lines, kind, index, context, event);
	else if (what == COLUMN_LOST && event->lost > 0)
		put_s64(lines, event->lost);
	else if (what == COLUMN_EVENT)
		put_string(lines, "lost");
	else
		put_null(lines);
}

/* Objects with the default columns lack the keys without a value; with --fields all objects have the same keys. */
static bool is_left_out(const struct lines *lines, const struct line_kind *kind, size_t index,
			const struct context *context)
{
	enum column_what what = lines->list.at[index].what;

	if (lines->csv || lines->chosen)
		return false;
	if (what == COLUMN_INSTANCE)
		return !*context->instance;
	if (what == COLUMN_DECODED)
		return !kind || !lines->row.nr;
	return what == COLUMN_LOST ? kind != NULL :
				     !kind && what != COLUMN_TS && what != COLUMN_CPU && what != COLUMN_EVENT;
}

static void lines_event(struct export *export, const struct event *event)
{
	struct lines *lines = (struct lines *)export;
	const struct context *context = export_context(export, event);
	const struct line_kind *kind = NULL;
	struct out *out = export->out;
	bool first = true;

	if (event->kind == EVENT_LOST) {
		lines->gaps++;
	} else {
		kind = kind_of(lines, context, event);
		if (!kind || !decoded_row_fill(&lines->row, kind->decoder, event->data, event->len)) {
			export_no_memory(export);
			return;
		}
	}
	if (!lines->csv)
		out_char(out, '{');
	for (size_t i = 0; i < lines->list.nr; i++) {
		if (is_left_out(lines, kind, i, context))
			continue;
		if (!first)
			out_char(out, ',');
		first = false;
		if (!lines->csv)
			out_mem(out, lines->keys[i].data, lines->keys[i].len);
		put_column(lines, kind, i, context, event);
	}
	if (!lines->csv)
		out_char(out, '}');
	out_char(out, '\n');
}

static void csv_begin(struct export *export)
{
	const struct lines *lines = (const struct lines *)export;

	for (size_t i = 0; i < lines->list.nr; i++) {
		if (i)
			out_char(export->out, ',');
		csv_text(export->out, lines->list.at[i].name, strlen(lines->list.at[i].name));
	}
	out_char(export->out, '\n');
}

static void lines_end(struct export *export)
{
	struct lines *lines = (struct lines *)export;

	for (size_t i = 0; i < lines->list.nr; i++)
		if ((lines->list.at[i].what == COLUMN_FIELD || lines->list.at[i].what == COLUMN_FACT) &&
		    !lines->found[i])
			export_note(export, "no exported event has a field '%s'", lines->list.at[i].name);
	if (lines->gaps && !lines->tells_lost)
		export_note(export, "%" PRIu64 " lines stand for lost events; the field 'lost' says how many",
			    lines->gaps);
	if (lines->large)
		export_note(
			export,
			"%" PRIu64
			" integers are beyond 2^53: they are exact here, but programs that read numbers as floating "
			"point (jq, JavaScript) round them",
			lines->large);
}

static void lines_join(struct export *export, const struct export *other)
{
	struct lines *lines = (struct lines *)export;
	const struct lines *from = (const struct lines *)other;

	for (size_t i = 0; i < lines->list.nr; i++)
		lines->found[i] |= from->found[i];
	lines->gaps += from->gaps;
	lines->large += from->large;
}

const struct export_ops jsonl_export = {
	.name = "jsonl",
	.summary = "one JSON object a line, with the fields of each event",
	.takes_fields = true,
	.takes_decode = true,
	.create = jsonl_new,
	.free = lines_free,
	.event = lines_event,
	.end = lines_end,
	.join = lines_join,
};

const struct export_ops csv_export = {
	.name = "csv",
	.summary = "comma-separated values under a line of names",
	.takes_fields = true,
	.takes_decode = true,
	.create = csv_new,
	.free = lines_free,
	.begin = csv_begin,
	.event = lines_event,
	.end = lines_end,
	.join = lines_join,
};
