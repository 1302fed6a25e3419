// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/why/why.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/table.h"
#include "lib/ground/base/vec.h"
#include "lib/screen/view/analysis_job_internal.h"
#include "lib/screen/view/view_panes_internal.h"

/*
 * The tables of each analysis, for the time that the view shows or that between the marks. The pass goes on whenever no
 * key waits. Enter goes to the moment of a row: the first of its times that is in the recording. Of weft why they show
 * the longest call, or between the marks what the user asked about, with its path in the order of time.
 */

enum { FIRST_SHOWN = 1 };

struct tables {
	struct pane pane; /* first */
	size_t analysis;
	struct analysis_job job;
	struct why_options why;
	char task[16];  /* of `why` */
	uint64_t round; /* of the last question */
	size_t at, top; /* lines */
	size_t sort;    /* the column of the sorted tables + 1; 0: as the analysis sorts them */
	size_t nr_lines;
	unsigned height; /* rows below the head, when it was drawn last */
};

/* A line of the pane: a title, a line of titles, or a row. */
struct spot {
	size_t finding, row;
	bool is_row;
};

static int tables_create(struct view *view, struct pane **ret, struct fail *fail)
{
	struct tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return fail_memory(fail);
	tables->analysis = FIRST_SHOWN;
	tables->height = 20;
	analysis_job_init(&tables->job, view, analysis_at(FIRST_SHOWN), NULL);
	*ret = &tables->pane;
	return 0;
}

/* How the analysis is made that is shown. */
static void choose_options(struct tables *tables, const struct analysis_ops *ops)
{
	const struct view *view = tables->pane.view;
	bool asked = view->explained.pid && view->marks[0].set && view->marks[1].set;
	uint64_t a = view->marks[0].place.ts, b = view->marks[1].place.ts;

	tables->job.options = ops == &why_analysis ? &tables->why : NULL;
	tables->job.margin = ops == &why_analysis && asked ? WHY_LOOKBACK : 0;
	tables->why = (struct why_options){ .of = WHY_LONGEST, .tree = true };
	if (!asked)
		return;
	snprintf(tables->task, sizeof(tables->task), "%d", view->explained.pid);
	tables->why.of = WHY_TASK;
	tables->why.name = tables->task;
	tables->why.from = a < b ? a : b;
	tables->why.to = a < b ? b : a;
}

/* Shows another analysis, by its number in the list. */
static void show(struct tables *tables, size_t number)
{
	choose_options(tables, analysis_at(number));
	analysis_job_restart(&tables->job, analysis_at(number));
	tables->analysis = number;
	tables->at = tables->top = tables->sort = tables->nr_lines = 0;
}

static const struct findings *findings_of(const struct tables *tables)
{
	return &tables->job.findings;
}

static uint64_t number_of(const struct table *table, size_t row, const char *title)
{
	for (size_t i = 0; i < table->nr_columns; i++)
		if (!strcmp(table->columns[i].title, title))
			return table_item_at(table, row, i).number;
	return 0;
}

static const char *text_of(const struct table *table, size_t row, const char *title)
{
	for (size_t i = 0; i < table->nr_columns; i++) {
		struct table_item item = table_item_at(table, row, i);

		if (!strcmp(table->columns[i].title, title) && item.value == VALUE_TEXT)
			return item.text + strspn(item.text, " ");
	}
	return "";
}

/* Keeps the path for the time line. */
static int keep_path(struct tables *tables, struct fail *fail)
{
	struct view *view = tables->pane.view;

	free(view->links);
	view->links = NULL;
	view->nr_links = 0;
	for (size_t i = 0; i < findings_of(tables)->nr; i++) {
		const struct finding *finding = &findings_of(tables)->items[i];

		for (size_t row = 0; !strcmp(finding->name, "path") && row < table_rows(&finding->table); row++) {
			struct view_link *link = vec_push(view->links, view->nr_links);
			size_t len;

			if (!link)
				return fail_memory(fail);
			link->from = number_of(&finding->table, row, "AT");
			link->to = link->from + number_of(&finding->table, row, "TIME");
			/* A text is there until the next one is asked for. */
			snprintf(link->text, sizeof(link->text), "%s ", text_of(&finding->table, row, "TASK"));
			len = strlen(link->text);
			snprintf(link->text + len, sizeof(link->text) - len, "%s ",
				 text_of(&finding->table, row, "STATE"));
			len = strlen(link->text);
			snprintf(link->text + len, sizeof(link->text) - len, "%s",
				 text_of(&finding->table, row, "CAUSE"));
			len = strlen(link->text);
			while (len && link->text[len - 1] == ' ')
				link->text[--len] = '\0';
		}
	}
	return 0;
}

static void tables_free(struct pane *pane)
{
	analysis_job_release(&((struct tables *)pane)->job);
	free(pane);
}

static void tables_changed(struct pane *pane)
{
	struct tables *tables = (struct tables *)pane;

	if (tables->round != pane->view->explained.round) {
		tables->round = pane->view->explained.round;
		for (size_t i = 0; analysis_at(i); i++)
			if (analysis_at(i) == &why_analysis)
				show(tables, i);
	} else if (analysis_job_is_old(&tables->job)) {
		choose_options(tables, tables->job.ops);
		analysis_job_restart(&tables->job, tables->job.ops);
	}
}

/* Whether a table has rows that a user may sort. */
static bool is_sortable(const struct finding *finding)
{
	return finding->sort && finding->table.nr_items;
}

static void sort(struct tables *tables)
{
	for (size_t i = 0; tables->job.ended && i < findings_of(tables)->nr; i++) {
		struct finding *finding = &tables->job.findings.items[i];

		if (is_sortable(finding) && tables->sort && tables->sort <= finding->table.nr_columns)
			(void)!table_sort(&finding->table, tables->sort - 1);
	}
}

/* The names of all analyses where there is room, else those around the one that is shown. */
static void put_names(const struct tables *tables, struct rows *rows)
{
	const struct analysis_ops *ops;
	size_t columns = 0, first = 0;

	for (size_t i = 0; (ops = analysis_at(i)); i++) {
		columns += strlen(ops->name) + 2;
		while (i <= tables->analysis && first < i && columns > rows->width)
			columns -= strlen(analysis_at(first++)->name) + 2;
	}
	for (size_t i = first; (ops = analysis_at(i)); i++)
		out_f(&rows->text, i == tables->analysis ? "[%s]" : " %s ", ops->name);
}

static void put_head(const struct tables *tables, struct rows *rows)
{
	put_names(tables, rows);
	if (rows_end_line(rows)) {
		analysis_job_put_time(&tables->job, &rows->text);
		rows_end_line(rows);
	}
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

static size_t title_lines(const char *title)
{
	size_t lines = 1;

	while ((title = strchr(title, '\n'))) {
		title++;
		lines++;
	}
	return lines;
}

/* Those lines of a title that are behind the first one are comments where the text is printed. */
static void put_title(const char *title, struct out *text)
{
	for (const char *newline; (newline = strchr(title, '\n'));) {
		out_mem(text, title, (size_t)(newline - title) + 1);
		title = newline + (newline[1] == '#' && newline[2] == ' ' ? 3 : 1);
	}
	out_f(text, "%s\n", title);
}

static bool put_findings(struct tables *tables, struct rows *rows)
{
	struct out text;
	size_t line = 0;

	if (!out_init(&text, 4096))
		return false;
	for (size_t i = 0; i < findings_of(tables)->nr; i++) {
		struct finding *finding = &tables->job.findings.items[i];

		put_title(finding->title, &text);
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
	bool ended;
	int r;

	tables_changed(pane);
	r = analysis_job_read(&tables->job, &ended, fail);
	if (r)
		return r;
	if (ended && tables->job.ops == &why_analysis)
		r = keep_path(tables, fail);
	if (r)
		return r;
	if (ended)
		sort(tables);
	tables->height = room;
	if (tables->nr_lines && tables->at >= tables->nr_lines)
		tables->at = tables->nr_lines - 1;
	if (tables->at < tables->top)
		tables->top = tables->at;
	if (tables->at >= tables->top + room)
		tables->top = tables->at - room + 1;
	put_head(tables, rows);
	if (*tables->job.why.text && rows->nr < rows->height) {
		rows_foreign(rows, tables->job.why.text, strlen(tables->job.why.text));
		rows_end_line(rows);
	} else if (tables->job.ended && !put_findings(tables, rows)) {
		return fail_memory(fail);
	}
	return 0;
}

/* The row of a line; false: it is a title. */
static bool find_spot(const struct tables *tables, size_t line, struct spot *ret)
{
	size_t at = 0;

	for (size_t i = 0; tables->job.ended && i < findings_of(tables)->nr; i++) {
		const struct table *table = &findings_of(tables)->items[i].table;
		/* The title of the table, and that of its columns. */
		size_t rows = table_rows(table), first = at + title_lines(findings_of(tables)->items[i].title) + 1;

		if (line < first + rows) {
			*ret = (struct spot){ i, line - first, line >= first };
			return line >= first;
		}
		at = first + rows;
	}
	return false;
}

/* Whether a cell is a time of the recording. */
static bool is_moment(const struct view *view, const struct table *table, size_t row, size_t column, uint64_t *ret)
{
	struct table_item item = table_item_at(table, row, column);

	*ret = item.number;
	return item.value == VALUE_MOMENT && item.number >= view->extent.first && item.number <= view->extent.last;
}

/* A figure stands before the moment of its extreme, so the first one behind the column of the order is meant. */
static bool find_moment(const struct view *view, const struct table *table, size_t row, size_t sort, uint64_t *ret)
{
	size_t from = sort && sort <= table->nr_columns ? sort - 1 : 0;

	for (size_t i = 0; i < table->nr_columns; i++)
		if (is_moment(view, table, row, (from + i) % table->nr_columns, ret))
			return true;
	return false;
}

static void go(struct tables *tables)
{
	struct view *view = tables->pane.view;
	struct spot spot;
	uint64_t ts;

	if (!find_spot(tables, tables->at, &spot) ||
	    !find_moment(view, &findings_of(tables)->items[spot.finding].table, spot.row, tables->sort, &ts)) {
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

	if (!tables->job.ended || !findings_of(tables)->nr)
		return;
	find_spot(tables, tables->at, &spot);
	table = &findings_of(tables)->items[spot.finding].table;
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

	if ((back && !tables->analysis) || !analysis_at(to))
		return;
	show(tables, to);
}

static int tables_key(struct pane *pane, const struct key *key, struct fail *fail)
{
	struct tables *tables = (struct tables *)pane;
	bool press = key->kind == KEY_MOUSE && key->act == MOUSE_PRESS;

	(void)fail;
	if (press && key->row >= 2)
		tables->at = tables->top + key->row - 2;
	if (rows_move(key, &tables->at, tables->height, tables->nr_lines ? tables->nr_lines - 1 : 0))
		return 1;
	if (key->kind == KEY_RIGHT || key_is(key, 'l') || key_is(key, '.'))
		switch_to(tables, false);
	else if (key->kind == KEY_LEFT || key_is(key, 'h') || key_is(key, ','))
		switch_to(tables, true);
	else if (key_is(key, 's') || key_is(key, 'S'))
		sort_next(tables, key_is(key, 'S'));
	else if (key_is(key, '0'))
		view_zoom(pane->view, pane->view->extent.first, pane->view->extent.last);
	else if (key->kind == KEY_ENTER)
		go(tables);
	else
		return press;
	return 1;
}

static bool tables_command(struct pane *pane, struct buf *into)
{
	const struct tables *tables = (const struct tables *)pane;
	char key[TABLE_KEY_SIZE];
	struct spot spot = { .finding = 0 };
	bool ok = buf_addf(into, "weft %s", analysis_at(tables->analysis)->name) &&
		  analysis_job_options(&tables->job, into);

	if (ok && tables->job.options)
		ok = buf_addf(into, "%s%s --tree", tables->why.name ? " --task " : "",
			      tables->why.name ? tables->why.name : "");

	if (!ok || !tables->sort || !tables->job.ended || !findings_of(tables)->nr)
		return ok;
	find_spot(tables, tables->at, &spot);
	if (tables->sort > findings_of(tables)->items[spot.finding].table.nr_columns)
		return ok;
	return buf_addf(into, " --sort %s",
			table_key(&findings_of(tables)->items[spot.finding].table.columns[tables->sort - 1],
				  tables->sort - 1, key));
}

const struct pane_ops tables_pane = {
	.letter = '4',
	.name = "tables",
	.hint = "h l analysis  j k rows  s S sort  Enter goes to the moment  c command  ? keys",
	.help = "h l , .\tthe analysis before and behind\n"
		"j k, PgDn PgUp, Space\trows; g G first and last\n"
		"s S\tsort by the next column, by the one before\n"
		"Enter\tgoes to the moment of the row (MAX AT and the like)\n"
		"0\tabout the whole recording, where the time line was closer\n"
		"The tables are about what the time line shows, or the time between the marks A and B, and about the "
		"tasks and CPUs of the filters.\n",
	.create = tables_create,
	.free = tables_free,
	.draw = tables_draw,
	.key = tables_key,
	.command = tables_command,
	.changed = tables_changed,
};
