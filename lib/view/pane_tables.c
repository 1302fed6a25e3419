// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/analysis.h"
#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/base/fail.h"
#include "lib/base/table_item.h"
#include "lib/event/context.h"
#include "lib/reader/query.h"
#include "lib/view/view_panes_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * The tables of each analysis, for the recording or for the time between the marks. The pass goes on whenever no key
 * waits. Enter goes to the moment of a row: the first of its times that is in the recording.
 */

enum { ASK_EACH = 4096, FIRST_ANALYSIS = 1 };

struct tables {
	struct pane pane; /* first */
	size_t analysis;
	bool begun, ended; /* the pass; ended: the findings are there, or `why` */
	struct reader reader;
	struct pass pass;
	bool has_pass;
	struct findings findings;
	bool has_findings;
	struct fail why;
	uint64_t from, to, reached;
	size_t at, top; /* lines */
	size_t sort;    /* the column of the sorted tables + 1; 0: as the analysis sorts them */
	size_t nr_lines;
};

/* A line of the pane: a title, a line of titles, or a row. */
struct spot {
	size_t finding, row;
	bool is_row;
};

static int tables_create(struct view *view, struct pane **ret, struct fail *fail)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	(void)view;
	if (!tables)
		return fail_memory(fail);
	tables->analysis = FIRST_ANALYSIS;
	reader_init(&tables->reader);
	*ret = &tables->pane;
	return 0;
}

static void forget(struct tables *tables)
{
	if (tables->has_findings)
		findings_release(&tables->findings);
	if (tables->has_pass)
		pass_release(&tables->pass);
	reader_release(&tables->reader);
	reader_init(&tables->reader);
	tables->has_findings = tables->has_pass = tables->begun = tables->ended = false;
	tables->why = (struct fail)FAIL_INIT;
}

static void tables_free(struct pane *pane)
{
	forget((struct tables *)pane);
	free(pane);
}

static void choose_time(struct tables *tables)
{
	const struct view *view = tables->pane.view;
	uint64_t a = view->marks[0].place.ts, b = view->marks[1].place.ts;
	bool marked = view->marks[0].set && view->marks[1].set;

	tables->from = !marked ? view->extent.first : a < b ? a : b;
	tables->to = !marked ? view->extent.last : a < b ? b : a;
}

static void tables_changed(struct pane *pane)
{
	struct tables *tables = (struct tables *)pane;
	uint64_t from = tables->from, to = tables->to;

	choose_time(tables);
	if (from != tables->from || to != tables->to)
		forget(tables);
}

static int begin(struct tables *tables, struct fail *fail)
{
	static const struct pass_filter all = { .nr_pids = 0 };
	const struct view *view = tables->pane.view;
	const struct reader_options options = { .pool = NULL };
	struct reader *reader = &tables->reader;
	int r = 0;

	forget(tables);
	tables->begun = true;
	choose_time(tables);
	tables->reached = tables->from;
	for (size_t i = 0; !r && i < view->reader.nr_buffers; i++) {
		struct events_options *window;

		r = reader_add(reader, view->trace, view->reader.buffers[i].context->buffer, fail);
		if (r)
			break;
		window = &reader->buffers[i].window;
		*window = view->reader.buffers[i].window;
		window->since = tables->from > window->since ? tables->from : window->since;
		window->until = tables->to < window->until ? tables->to : window->until;
	}
	if (!r)
		r = reader_start(reader, &options, fail);
	if (!r) {
		r = pass_init(&tables->pass, reader, &all, fail);
		tables->has_pass = true;
	}
	return r ? r : pass_add(&tables->pass, analysis_at(tables->analysis), NULL, fail);
}

/* Reads until the end, or until a key waits. */
static int go_on(struct tables *tables, struct fail *fail)
{
	const struct view *view = tables->pane.view;
	struct event event;
	size_t asked = 0;
	int r;

	while ((r = reader_next(&tables->reader, &event, fail)) > 0) {
		pass_see(&tables->pass, &event);
		tables->reached = event.ts;
		if (++asked % ASK_EACH == 0 &&
		    view_waits(view, analysis_at(tables->analysis)->name, event.ts, tables->from, tables->to))
			return 0;
	}
	if (!r)
		r = pass_end(&tables->pass, fail);
	findings_init(&tables->findings);
	tables->has_findings = true;
	if (!r)
		r = pass_finish(&tables->pass, 0, &tables->findings, fail);
	tables->ended = true;
	if (!r)
		r = findings_arrange(&tables->findings, &(struct findings_options){ .top = UINT64_MAX }, fail);
	return r;
}

/* Whether a table has rows that a user may sort. */
static bool is_sortable(const struct finding *finding)
{
	return finding->sort && finding->table.nr_items;
}

static void sort(struct tables *tables)
{
	for (size_t i = 0; tables->has_findings && i < tables->findings.nr; i++) {
		struct finding *finding = &tables->findings.items[i];

		if (is_sortable(finding) && tables->sort && tables->sort <= finding->table.nr_columns)
			(void)!table_sort(&finding->table, tables->sort - 1);
	}
}

static int read_on(struct tables *tables, struct fail *fail)
{
	int r = 0;

	if (tables->ended)
		return 0;
	if (!tables->begun)
		r = begin(tables, &tables->why);
	if (!r)
		r = go_on(tables, &tables->why);
	if (r == -ENOMEM)
		return fail_memory(fail);
	if (r)
		tables->ended = true;
	if (tables->ended)
		sort(tables);
	return 0;
}

static void put_head(const struct tables *tables, struct rows *rows)
{
	const struct analysis_ops *ops;
	const struct view *view = tables->pane.view;

	for (size_t i = FIRST_ANALYSIS; (ops = analysis_at(i)); i++)
		out_f(&rows->text, i == tables->analysis ? "[%s]" : " %s ", ops->name);
	rows_end_line(rows);
	view_put_time(view, tables->from, &rows->text);
	out_str(&rows->text, " to ");
	view_put_time(view, tables->to, &rows->text);
	if (!tables->ended)
		out_str(&rows->text, "  (being read)");
	rows_end_line(rows);
}

/* Adds the lines that are on the screen: `line` counts all of them. */
static void put_line(const struct tables *tables, const char *text, size_t len, struct rows *rows, size_t line)
{
	if (line < tables->top || rows->nr >= rows->height)
		return;
	if (line == tables->at)
		rows->cursor = rows->nr;
	rows_foreign(rows, text, len);
	rows_end_line(rows);
}

static void put_texts(const struct tables *tables, struct out *text, struct rows *rows, size_t *line)
{
	for (const char *at = text->start; at < text->at;) {
		const char *newline = memchr(at, '\n', (size_t)(text->at - at));
		size_t len = (size_t)((newline ? newline : text->at) - at);

		put_line(tables, at, len, rows, (*line)++);
		at += len + 1;
	}
	out_clear(text);
}

static bool put_findings(struct tables *tables, struct rows *rows)
{
	struct out text;
	size_t line = 0;

	if (!out_init(&text, 4096))
		return false;
	for (size_t i = 0; i < tables->findings.nr; i++) {
		struct finding *finding = &tables->findings.items[i];

		out_f(&text, "%s\n", finding->title);
		finding->table.width = rows->width;
		(void)!table_print(&finding->table, &text);
		put_texts(tables, &text, rows, &line);
	}
	out_release(&text);
	tables->nr_lines = line;
	return true;
}

static int tables_draw(struct pane *pane, struct rows *rows, struct fail *fail)
{
	struct tables *tables = (struct tables *)pane;
	unsigned room = rows->height > 2 ? rows->height - 2 : 1;
	int r = read_on(tables, fail);

	if (r)
		return r;
	if (tables->nr_lines && tables->at >= tables->nr_lines)
		tables->at = tables->nr_lines - 1;
	if (tables->at < tables->top)
		tables->top = tables->at;
	if (tables->at >= tables->top + room)
		tables->top = tables->at - room + 1;
	put_head(tables, rows);
	if (*tables->why.text && rows->nr < rows->height) {
		rows_foreign(rows, tables->why.text, strlen(tables->why.text));
		rows_end_line(rows);
	} else if (tables->ended && tables->has_findings && !put_findings(tables, rows)) {
		return fail_memory(fail);
	}
	return 0;
}

/* The row of a line; false: it is a title. */
static bool find_spot(const struct tables *tables, size_t line, struct spot *ret)
{
	size_t at = 0;

	for (size_t i = 0; tables->has_findings && i < tables->findings.nr; i++) {
		const struct table *table = &tables->findings.items[i].table;
		/* The title of the table, and that of its columns. */
		size_t rows = table_rows(table), first = at + 2;

		if (line < at + 2 + rows) {
			*ret = (struct spot){ i, line - first, line >= first };
			return line >= first;
		}
		at += 2 + rows;
	}
	return false;
}

/* The first cell of a row that is a time of the recording: times have nine decimals, and no other figure has. */
static bool find_moment(const struct view *view, const struct table *table, size_t row, uint64_t *ret)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		struct table_item item = table_item_at(table, row, i);

		if (item.value == VALUE_DECIMAL && item.decimals == 9 && item.number >= view->extent.first &&
		    item.number <= view->extent.last) {
			*ret = item.number;
			return true;
		}
	}
	return false;
}

static void go(struct tables *tables)
{
	struct view *view = tables->pane.view;
	struct spot spot;
	uint64_t ts;

	if (!find_spot(tables, tables->at, &spot) ||
	    !find_moment(view, &tables->findings.items[spot.finding].table, spot.row, &ts)) {
		view_say(view, "this line has no moment: Enter is for rows with a column such as MAX AT");
		return;
	}
	view_go(view, (struct walk_place){ ts, 0 });
	/* The events of the moment are what the user wants to see, unless they stand beside. */
	if (!view->second)
		view->shown = 1;
}

static void sort_next(struct tables *tables, bool back)
{
	struct spot spot = { .finding = 0 };
	struct view *view = tables->pane.view;
	const struct table *table;
	char title[TABLE_KEY_SIZE];

	if (!tables->ended || !tables->has_findings || !tables->findings.nr)
		return;
	find_spot(tables, tables->at, &spot);
	table = &tables->findings.items[spot.finding].table;
	if (back)
		tables->sort = tables->sort > 1 ? tables->sort - 1 : table->nr_columns;
	else
		tables->sort = tables->sort < table->nr_columns ? tables->sort + 1 : 1;
	sort(tables);
	view_say(view, "sorted by %s", table_title(&table->columns[tables->sort - 1], title));
}

static void switch_to(struct tables *tables, bool back)
{
	size_t to = tables->analysis + (back ? -1UL : 1UL);

	if (to < FIRST_ANALYSIS || !analysis_at(to))
		return;
	forget(tables);
	tables->analysis = to;
	tables->at = tables->top = tables->sort = tables->nr_lines = 0;
}

static int tables_key(struct pane *pane, const struct key *key, struct fail *fail)
{
	struct tables *tables = (struct tables *)pane;
	bool press = key->kind == KEY_MOUSE && key->act == MOUSE_PRESS;
	size_t end = tables->nr_lines ? tables->nr_lines - 1 : 0;

	(void)fail;
	if (press && key->row >= 2)
		tables->at = tables->top + key->row - 2;
	if (key->kind == KEY_DOWN || key_is(key, 'j') || (key->kind == KEY_MOUSE && key->act == MOUSE_WHEEL_DOWN))
		tables->at += tables->at < end;
	else if (key->kind == KEY_UP || key_is(key, 'k') || (key->kind == KEY_MOUSE && key->act == MOUSE_WHEEL_UP))
		tables->at -= tables->at > 0;
	else if (key->kind == KEY_PAGE_DOWN || key_is(key, ' '))
		tables->at = tables->at + 20 < end ? tables->at + 20 : end;
	else if (key->kind == KEY_PAGE_UP)
		tables->at -= tables->at < 20 ? tables->at : 20;
	else if (key->kind == KEY_HOME || key_is(key, 'g'))
		tables->at = 0;
	else if (key->kind == KEY_END || key_is(key, 'G'))
		tables->at = end;
	else if (key->kind == KEY_RIGHT || key_is(key, 'l') || key_is(key, '.'))
		switch_to(tables, false);
	else if (key->kind == KEY_LEFT || key_is(key, 'h') || key_is(key, ','))
		switch_to(tables, true);
	else if (key_is(key, 's') || key_is(key, 'S'))
		sort_next(tables, key_is(key, 'S'));
	else if (key->kind == KEY_ENTER)
		go(tables);
	else
		return press;
	return 1;
}

static bool tables_command(struct pane *pane, struct buf *into)
{
	const struct tables *tables = (const struct tables *)pane;
	const struct view *view = pane->view;
	bool ok = buf_addf(into, "weft %s", analysis_at(tables->analysis)->name);

	if (ok && view->query->instance)
		ok = buf_add_str(into, " -B ") && view_quote(view->query->instance, into);
	if (ok && (tables->from != view->extent.first || tables->to != view->extent.last))
		ok = buf_addf(into, " --since %" PRIu64 ".%09" PRIu64 " --until %" PRIu64 ".%09" PRIu64,
			      tables->from / 1000000000, tables->from % 1000000000, tables->to / 1000000000,
			      tables->to % 1000000000);
	return ok;
}

const struct pane_ops tables_pane = {
	.letter = '4',
	.name = "tables",
	.hint = "h l analysis  j k rows  s S sort  Enter goes to the moment  c command  ? keys",
	.help = "h l , .          the analysis before and behind\n"
		"j k              rows\n"
		"s S              sort by the next column, by the one before\n"
		"Enter            goes to the moment of the row (MAX AT and the like)\n"
		"                 With the marks A and B the tables are about the time between.\n",
	.create = tables_create,
	.free = tables_free,
	.draw = tables_draw,
	.key = tables_key,
	.command = tables_command,
	.changed = tables_changed,
};
