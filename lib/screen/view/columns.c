// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/columns_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/escape.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/utf8.h"
#include "lib/meaning/columns/cell.h"
#include "lib/meaning/columns/own.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/schema/format.h"
#include "lib/screen/view/view.h"

static const struct {
	const char *word;
	enum view_column_kind kind;
} words[] = {
	{ "time", VIEW_COLUMN_TIME },     { "delta", VIEW_COLUMN_DELTA },   { "rel", VIEW_COLUMN_REL },
	{ "task", VIEW_COLUMN_TASK },     { "cpu", VIEW_COLUMN_OF_EVENT },  { "event", VIEW_COLUMN_OF_EVENT },
	{ "pid", VIEW_COLUMN_OF_EVENT },  { "comm", VIEW_COLUMN_OF_EVENT }, { "system", VIEW_COLUMN_OF_EVENT },
	{ "tgid", VIEW_COLUMN_OF_EVENT },
};

const char *view_columns_word(size_t index)
{
	return index < array_size(words) ? words[index].word : NULL;
}

void view_columns_free(struct view_columns *columns)
{
	if (!columns)
		return;
	column_list_release(&columns->list);
	free(columns->words);
	free(columns);
}

/* Whether any event has a field of this name. */
static bool has_field(const struct view *view, const char *name, struct near *near)
{
	const char *system, *event;
	int32_t id;

	for (size_t i = 0; i < view->reader.nr_buffers; i++) {
		struct schema *schema = view->reader.buffers[i].context->schema;

		for (size_t k = 0; schema_at(schema, k, &id, &system, &event); k++) {
			const struct format *format = schema_format(schema, id, NULL);

			if (format && format_field(format, name))
				return true;
			for (uint32_t at = 0; format && at < format->nr_fields; at++)
				near_offer(near, format->fields[at].name);
		}
	}
	return false;
}

static int add_column(const struct view *view, struct view_columns *columns, const struct text_word *word,
		      struct fail *fail)
{
	struct view_column *column = &columns->at[columns->nr];
	const struct column *added;
	struct near near;
	int r;

	if (columns->nr == VIEW_COLUMNS_MAX || word->len >= sizeof(column->title))
		return fail_set(fail, -E2BIG, "at most %d columns have room", VIEW_COLUMNS_MAX);
	snprintf(column->title, sizeof(column->title), "%.*s", (int)word->len, word->at);
	column->kind = VIEW_COLUMN_OF_EVENT;
	for (size_t i = 0; i < array_size(words); i++)
		if (!strcmp(words[i].word, column->title))
			column->kind = words[i].kind;
	columns->nr++;
	if (column->kind != VIEW_COLUMN_OF_EVENT)
		return 0;
	r = column_list_add(&columns->list, word->at, word->len, fail);
	if (r)
		return r;
	added = &columns->list.at[columns->list.nr - 1];
	if (column_own_shape(added->what))
		return 0;
	near = near_to(column->title);
	for (size_t i = 0; i < array_size(words); i++)
		near_offer(&near, words[i].word);
	if (added->what != COLUMN_FIELD || !has_field(view, added->field, &near))
		return near_fail(&near, fail, -ENOENT, "no event has a field '%s'", column->title);
	return 0;
}

int view_columns_new(const struct view *view, const char *text, struct view_columns **ret, struct fail *fail)
{
	struct view_columns *columns = calloc(1, sizeof(*columns));
	const char *at = text;
	struct text_word word;
	size_t next = 0;
	int r = 0;

	if (!columns)
		return fail_memory(fail);
	columns->words = strdup(text);
	if (!columns->words)
		r = fail_memory(fail);
	while (!r && text_next_word(&at, " ,", &word))
		r = add_column(view, columns, &word, fail);
	if (!r && !columns->nr)
		r = fail_set(fail, -EINVAL, "no columns");
	if (r) {
		view_columns_free(columns);
		return r;
	}
	/* The list does not move any more. */
	for (size_t i = 0; i < columns->nr; i++)
		if (columns->at[i].kind == VIEW_COLUMN_OF_EVENT)
			columns->at[i].column = &columns->list.at[next++];
	*ret = columns;
	return 0;
}

/* A text of strangers in a cell: neither tabs nor newlines. */
static void put_foreign(const char *text, size_t len, struct out *out)
{
	struct escape escape = { .len = 0 };
	size_t from = out_len(out);

	escape_text(&escape, text, len, out);
	escape_end(&escape, out);
	for (size_t i = from; i < out_len(out); i++)
		if (out->start[i] == '\n' || out->start[i] == '\t')
			out->start[i] = ' ';
}

static void put_value(const struct column_shape *shape, const struct column_value *value, struct out *out)
{
	switch (value->kind) {
	case VALUE_IS_INTEGER:
		if (shape->is_signed)
			out_f(out, "%" PRId64, (int64_t)value->number);
		else
			out_u64(out, value->number);
		return;
	case VALUE_IS_TEXT:
		put_foreign(value->text, value->len, out);
		return;
	case VALUE_IS_LIST:
		for (size_t i = 0; i < value->len; i++)
			out_f(out, "%s%" PRIu64, i ? "," : "", value->list[i]);
		return;
	case VALUE_IS_REAL:
	case VALUE_IS_NULL:
		return;
	}
}

static void put_field(const struct view_column *column, const struct event *event, struct cell_making *making,
		      struct out *out)
{
	const struct format *format = event->kind == EVENT_RECORD ? event->type->format : NULL;
	const struct field *field = format ? format_field(format, column->column->field) : NULL;
	struct column_value value = { .kind = VALUE_IS_NULL };
	struct column_shape shape;
	struct cell cell = { .fact = NULL };

	if (!field)
		return;
	cell_bind(&cell, field, format, &event->type->context->abi, &shape);
	if (cell_read(&cell, &event->type->context->abi, event, making, &value))
		put_value(&shape, &value, out);
}

static void put_task(const struct context *context, const struct event *event, struct out *out)
{
	struct task_name name;

	if (event->kind != EVENT_RECORD)
		return;
	name = context_comm(context, event->pid, event->ts);
	put_foreign(name.text, name.len, out);
	out_f(out, "-%" PRId32, event->pid);
}

static void put_cell(const struct view *view, const struct view_column *column, const struct event *event,
		     struct cell_making *making, struct out *out)
{
	const struct context *context = view->reader.buffers[event->buffer].context;
	struct column_value value;

	switch (column->kind) {
	case VIEW_COLUMN_TIME:
		view_put_time(view, event->ts, out);
		return;
	case VIEW_COLUMN_TASK:
		put_task(context, event, out);
		return;
	case VIEW_COLUMN_DELTA:
	case VIEW_COLUMN_REL:
		return;
	case VIEW_COLUMN_OF_EVENT:
		break;
	}
	if (column->column->what == COLUMN_FIELD) {
		put_field(column, event, making, out);
		return;
	}
	if (column->column->what == COLUMN_EVENT && event->kind == EVENT_LOST) {
		if (event->lost > 0)
			out_f(out, "%" PRId64 " ", event->lost);
		out_str(out, "lost events");
		return;
	}
	column_own_read(column->column->what, context, event, &value);
	put_value(column_own_shape(column->column->what), &value, out);
}

void view_columns_put(const struct view *view, const struct event *event, bool close, struct out *out)
{
	const struct view_columns *columns = view->columns;
	struct cell_making making;

	if (!cell_making_init(&making)) {
		cell_making_release(&making);
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < columns->nr; i++) {
		if (i)
			out_char(out, '\t');
		if (close && columns->at[i].kind == VIEW_COLUMN_TIME)
			out_char(out, '~');
		put_cell(view, &columns->at[i], event, &making, out);
	}
	out_char(out, '\n');
	cell_making_release(&making);
}

/* The cell with this index of a row. */
static struct text_word cell_of(const struct view_columns_row *row, size_t index)
{
	const char *at = row->text, *end = row->text + row->len;

	for (;;) {
		const char *tab = memchr(at, '\t', (size_t)(end - at));

		if (!index--)
			return (struct text_word){ at, (size_t)((tab ? tab : end) - at) };
		if (!tab)
			return (struct text_word){ end, 0 };
		at = tab + 1;
	}
}

static void put_span(const struct view *view, uint64_t ts, uint64_t from, struct out *out)
{
	out_char(out, ts < from ? '-' : '+');
	view_put_span(view, ts < from ? from - ts : ts - from, out);
}

/* Appends a cell without blanks around it. */
static void put_text(const struct view *view, size_t column, const struct view_columns_row *row, struct out *out)
{
	enum view_column_kind kind = view->columns->at[column].kind;
	struct text_word cell = cell_of(row, column);

	if (kind == VIEW_COLUMN_DELTA)
		put_span(view, row->ts, row->above, out);
	else if (kind == VIEW_COLUMN_REL)
		put_span(view, row->ts, view->cursor.ts, out);
	else
		out_mem(out, cell.at, cell.len);
}

static bool is_at_right(enum view_column_kind kind)
{
	return kind == VIEW_COLUMN_TIME || kind == VIEW_COLUMN_DELTA || kind == VIEW_COLUMN_REL;
}

static void put_padded(const char *text, size_t len, size_t width, bool right, bool last, struct out *out)
{
	size_t columns = utf8_columns(text, len), blanks = columns < width ? width - columns : 0;

	if (right)
		out_fill(out, ' ', blanks);
	out_mem(out, text, len);
	if (!right && !last)
		out_fill(out, ' ', blanks);
	if (!last)
		out_str(out, "  ");
}

static size_t width_of(const struct view *view, size_t column, const struct view_columns_row *list, size_t nr,
		       struct out *scratch)
{
	size_t width = strlen(view->columns->at[column].title);

	for (size_t i = 0; i < nr; i++) {
		size_t columns;

		out_clear(scratch);
		put_text(view, column, &list[i], scratch);
		columns = utf8_columns(scratch->start, out_len(scratch));
		width = columns > width ? columns : width;
	}
	return width < VIEW_COLUMN_WIDTH ? width : VIEW_COLUMN_WIDTH;
}

void view_columns_draw(const struct view *view, const struct view_columns_row *list, size_t nr, size_t cursor,
		       struct rows *rows)
{
	const struct view_columns *columns = view->columns;
	size_t widths[VIEW_COLUMNS_MAX];
	struct out scratch;

	if (!out_init(&scratch, 1024)) {
		rows->text.failed = true;
		return;
	}
	for (size_t i = 0; i < columns->nr; i++)
		widths[i] = width_of(view, i, list, nr, &scratch);
	for (size_t i = 0; i < columns->nr; i++)
		put_padded(columns->at[i].title, strlen(columns->at[i].title), widths[i],
			   is_at_right(columns->at[i].kind), i + 1 == columns->nr, &rows->text);
	rows_end_line(rows);
	for (size_t row = 0; row < nr && rows->nr < rows->height; row++) {
		if (row == cursor)
			rows->cursor = rows->nr;
		for (size_t i = 0; i < columns->nr; i++) {
			out_clear(&scratch);
			put_text(view, i, &list[row], &scratch);
			put_padded(scratch.start, out_len(&scratch), widths[i], is_at_right(columns->at[i].kind),
				   i + 1 == columns->nr, &rows->text);
		}
		rows_end_line(rows);
	}
	out_release(&scratch);
}

bool view_columns_command(const struct view_columns *columns, struct buf *into)
{
	static const char *const names[] = { [VIEW_COLUMN_TIME] = "ts",
					     [VIEW_COLUMN_DELTA] = NULL,
					     [VIEW_COLUMN_REL] = NULL,
					     [VIEW_COLUMN_TASK] = "comm,pid",
					     [VIEW_COLUMN_OF_EVENT] = NULL };
	bool ok = buf_add_str(into, "weft export --to csv --fields "), any = false;

	for (size_t i = 0; i < columns->nr; i++) {
		const struct view_column *column = &columns->at[i];
		const char *name = column->kind == VIEW_COLUMN_OF_EVENT ? column->title : names[column->kind];

		if (!name)
			continue;
		ok &= buf_addf(into, "%s%s", any ? "," : "", name);
		any = true;
	}
	return ok && (any || buf_add_str(into, "ts"));
}

int view_choose_columns(struct view *view, const char *words, struct fail *fail)
{
	struct view_columns *columns = NULL;
	int r = *words ? view_columns_new(view, words, &columns, fail) : 0;

	if (r)
		return r;
	view_columns_free(view->columns);
	view->columns = columns;
	view_filters_changed(view);
	return 0;
}
