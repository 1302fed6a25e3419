// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/lines/csv_internal.h"
#include "formats/kernel/ftrace.h"
#include "formats/sinks.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/clock/day.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/columns/filler.h"
#include "lib/meaning/columns/list.h"
#include "lib/meaning/columns/own.h"
#include "lib/meaning/columns/value.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/kinds.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/follow/mark_at.h"
#include "lib/meaning/follow/who.h"
#include "lib/meaning/plugin/decoded.h"
#include "lib/meaning/plugin/plugins.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/schema/format.h"

/* A cell of a type of event: a column, or a field inside "fields", with its key. */
struct line_cell {
	struct place place;
	bool text;
	struct buf key; /* "\"name\":", for the fields of COLUMN_FIELDS */
};

/* Where the lines of a type of event get their cells from. */
struct line_kind {
	const struct format *format;   /* NULL: unknown */
	const struct decoder *decoder; /* NULL: no plugin knows more; borrowed */
	struct line_cell *columns;     /* for each COLUMN_FIELD */
	struct line_cell *fields;      /* all fields, after the common ones */
	size_t nr_columns, nr_fields;
};

static void cells_free(struct line_cell *cells, size_t nr)
{
	for (size_t i = 0; cells && i < nr; i++)
		buf_release(&cells[i].key);
	free(cells);
}

static void line_kind_free(void *memory)
{
	struct line_kind *kind = memory;

	cells_free(kind->columns, kind->nr_columns);
	cells_free(kind->fields, kind->nr_fields);
	free(kind);
}

/* Adds a name as the key of a JSON object, "\"name\":"; false without memory. */
static bool line_key(const char *name, struct buf *ret)
{
	struct out out;
	bool added;

	if (!out_init(&out, 64))
		return false;
	json_text(&out, name);
	out_char(&out, ':');
	added = !out.failed && buf_add(ret, out.start, out_len(&out));
	out_release(&out);
	return added;
}

static struct line_cell *cells_new(const struct format *format, const struct schema_abi *abi, size_t nr)
{
	struct line_cell *cells = calloc(nr + 1, sizeof(*cells));

	for (size_t i = 0; cells && i < nr; i++) {
		const struct field *field = &format->fields[format->nr_common + i];

		cells[i].place = place_of(field, abi);
		cells[i].text = value_is_text(field);
		if (!line_key(field->name, &cells[i].key)) {
			cells_free(cells, i + 1);
			return NULL;
		}
	}
	return cells;
}

static bool fill(struct line_kind *kind, const struct schema_abi *abi, const struct column_list *list, bool *found)
{
	kind->columns = calloc(list->nr + 1, sizeof(*kind->columns));
	if (!kind->columns)
		return false;
	kind->nr_columns = list->nr;
	for (size_t i = 0; kind->format && i < list->nr; i++) {
		struct line_cell *cell = &kind->columns[i];

		if (list->at[i].what != COLUMN_FIELD || !place_bind(&cell->place, kind->format, abi, list->at[i].field))
			continue;
		cell->text = value_is_text(cell->place.field);
		found[i] = true;
	}
	if (!kind->format)
		return true;
	kind->fields = cells_new(kind->format, abi, kind->format->nr_fields - kind->format->nr_common);
	if (kind->fields)
		kind->nr_fields = kind->format->nr_fields - kind->format->nr_common;
	return kind->fields;
}

/*
 * NULL without memory. Sets found[i] for each column that is a field of the type. Borrows `format`, which may be NULL.
 */
static struct line_kind *line_kind_new(const struct format *format, const struct schema_abi *abi,
				       const struct column_list *list, bool *found)
{
	struct line_kind *kind = calloc(1, sizeof(*kind));

	if (!kind)
		return NULL;
	kind->format = format;
	if (!fill(kind, abi, list, found)) {
		line_kind_free(kind);
		return NULL;
	}
	return kind;
}

/*
 * A line for each event and for each gap: JSON objects, or comma-separated values (RFC 4180, but with newlines only).
 * Times are integers; integers have all their digits; each byte that is not UTF-8 becomes U+FFFD. --fields chooses the
 * columns.
 */

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

/* Whether times of several machines were compared. */
static bool apart_is_told(const struct reader *reader)
{
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (reader->buffers[i].context->compared)
			return true;
	return false;
}

static int check_fields(const struct lines *lines, const struct reader *reader, struct fail *fail)
{
	for (size_t i = 0; i < lines->list.nr && !any_plugins(reader); i++)
		if (lines->list.at[i].what == COLUMN_FACT)
			return fail_set(fail, -ENOENT, "'%s' is what plugins know, which --decode adds",
					lines->list.at[i].name);
	return column_list_check(&lines->list, reader, fail);
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
	if (!r && !input->fields && apart_is_told(input->reader))
		r = column_list_add(&lines->list, "clock_error", strlen("clock_error"), fail);
	if (!r && input->fields && check_fields(lines, input->reader, fail))
		return fail_in(fail, -ENOENT, "--fields");
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
	enum column_what what = lines->list.at[index].what;
	struct task_name name;
	char flags[COLUMNS_FLAGS_MAX];
	const char *text;
	int32_t tgid;

	if (what >= COLUMN_WHO && what <= COLUMN_WHO_LAST) {
		text = column_who_text(what, context, event);
		if (text)
			put_string(lines, text);
		else
			put_null(lines);
		return;
	}
	switch (what) {
	case COLUMN_PID:
		put_s64(lines, event->pid);
		return;
	case COLUMN_TGID:
		tgid = who_process(context, event->pid, event->ts, NULL);
		if (tgid)
			put_s64(lines, tgid);
		else
			put_null(lines);
		return;
	case COLUMN_COMM:
		name = context_comm(context, event->pid, event->ts);
		put_text(lines, name.text, name.len);
		return;
	case COLUMN_MARK:
		text = mark_at(context, event->pid, event->ts);
		if (text)
			put_string(lines, text);
		else
			put_null(lines);
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
	case COLUMN_WHO:
	case COLUMN_WHO_LAST:
	case COLUMN_TS:
	case COLUMN_WALL:
	case COLUMN_CPU:
	case COLUMN_INSTANCE:
	case COLUMN_CLOCK_ERROR:
	case COLUMN_LOST:
		put_null(lines);
	}
}

static void put_wall(struct lines *lines, const struct context *context, uint64_t ts)
{
	char text[DAY_TEXT];
	int64_t ns;

	if (wall_of(context->wall, ts, &ns, NULL))
		put_text(lines, text, (size_t)day_iso(text, ns));
	else
		put_null(lines);
}

static void put_column(struct lines *lines, const struct line_kind *kind, size_t index, const struct context *context,
		       const struct event *event)
{
	enum column_what what = lines->list.at[index].what;

	if (what == COLUMN_TS)
		put_u64(lines, event->ts);
	else if (what == COLUMN_WALL)
		put_wall(lines, context, event->ts);
	else if (what == COLUMN_CPU)
		out_u64(lines->export.out, event->cpu);
	else if (what == COLUMN_INSTANCE)
		put_string(lines, context->instance);
	else if (what == COLUMN_CLOCK_ERROR && context->compared)
		put_u64(lines, context->clock_error_ns);
	else if (what == COLUMN_CLOCK_ERROR)
		put_null(lines);
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
	if (what == COLUMN_CLOCK_ERROR)
		return !context->compared;
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
