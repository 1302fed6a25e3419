// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/scale.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"

/* A line of the course has at most as many characters; each then stands for several intervals. */
enum { CELLS_MAX = 60, CELLS_LEAST = 10, COLUMNS_MAX = 32 };

void series_init(struct series *series)
{
	*series = (struct series){ .into = NULL };
	labels_init(&series->keys);
}

static void drop_values(struct series *series)
{
	labels_release(&series->keys);
	labels_init(&series->keys);
	free(series->values);
	series->values = NULL;
	series->nr_values = series->nr_intervals = 0;
	series->begun = false;
}

static void drop_csv(struct series *series)
{
	for (size_t i = 0; i < series->nr_csv; i++) {
		out_release(&series->csv[i].out);
		free(series->csv[i].name);
	}
	series->nr_csv = 0;
}

void series_release(struct series *series)
{
	drop_values(series);
	labels_release(&series->keys);
	drop_csv(series);
	free(series->csv);
	series->csv = NULL;
}

/* The column whose course is shown: the one that orders the rows, or else the first that measures something. */
static int column_of(const struct series *series, const struct finding *finding)
{
	const struct table *table = &finding->table;
	int column = series->print.sort ? table_column_named(table, series->print.sort) : -1;

	if (column < 0 && finding->sort)
		column = table_column_named(table, finding->sort);
	for (size_t i = 0; column < 0 && i < table->nr_columns; i++)
		if (table_flagged(table, i, ADDS))
			column = (int)i;
	return column;
}

/* The number of a row's key; LABEL_NONE when memory runs out. */
static uint32_t key_of(struct series *series, const struct finding *finding, size_t row)
{
	uint32_t number = LABEL_NONE;
	struct out out;
	bool is_new;

	if (!out_init(&out, 64))
		return LABEL_NONE;
	out_str(&out, finding->name);
	for (size_t i = 0; i < finding->table.nr_columns; i++) {
		if (!table_flagged(&finding->table, i, SAME))
			continue;
		out_char(&out, '\t');
		table_put_cell(&finding->table, row, i, &out);
	}
	if (!out.failed)
		number = labels_add(&series->keys, out.start, out_len(&out), &is_new);
	out_release(&out);
	return number;
}

static int add_value(struct series *series, uint32_t row, size_t interval, uint64_t value, struct fail *fail)
{
	struct series_value *added;

	if (series->nr_values == SERIES_VALUES_MAX)
		return fail_set(fail, -E2BIG, "--every: there are too many figures; choose a longer interval");
	added = vec_push(series->values, series->nr_values);
	if (!added)
		return fail_memory(fail);
	*added = (struct series_value){ row, (uint32_t)interval, value };
	return 0;
}

/* Where several intervals come as one, because nothing happened in them, each has the same. */
struct stretch {
	size_t from, nr;
};

static int add_row(struct series *series, const struct finding *finding, size_t row, int column,
		   const struct stretch *stretch, struct fail *fail)
{
	bool adds = table_flagged(&finding->table, (size_t)column, ADDS);
	uint64_t value;
	uint32_t id;
	int r = 0;

	if (!table_number_at(&finding->table, row, (size_t)column, &value) || !value)
		return 0;
	id = key_of(series, finding, row);
	if (id == LABEL_NONE)
		return fail_memory(fail);
	for (size_t i = 0; !r && i < stretch->nr; i++)
		r = add_value(series, id, stretch->from + i, adds ? value / stretch->nr : value, fail);
	return r;
}

static int add_findings(struct series *series, const struct findings *findings, const struct stretch *stretch,
			struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < findings->nr; i++) {
		const struct finding *finding = &findings->items[i];
		int column = column_of(series, finding);
		size_t rows = finding->table.nr_items / finding->table.nr_columns;

		for (size_t row = 0; !r && finding_has(finding, SAME) && column >= 0 && row < rows; row++)
			r = add_row(series, finding, row, column, stretch, fail);
	}
	return r;
}

static struct out *csv_of(struct series *series, const char *name, bool *ret_new)
{
	struct series_csv *csv;

	*ret_new = false;
	for (size_t i = 0; i < series->nr_csv; i++)
		if (!strcmp(series->csv[i].name, name))
			return &series->csv[i].out;
	csv = vec_push(series->csv, series->nr_csv);
	if (!csv)
		return NULL;
	csv->name = strdup(name);
	*ret_new = true;
	if (csv->name && out_init(&csv->out, 4096))
		return &csv->out;
	free(csv->name);
	series->nr_csv--;
	return NULL;
}

static int put_csv(struct series *series, const struct findings *findings, const struct findings_span *span,
		   struct fail *fail)
{
	char times[2 * TABLE_MOMENT_TEXT], from[TABLE_MOMENT_TEXT], to[TABLE_MOMENT_TEXT];
	int since = findings_moment(&series->print, span->from, from);
	int until = findings_moment(&series->print, span->to, to);
	size_t len = 0;

	snprintf(times, sizeof(times), "%.*s,%.*s", since, from, until, to);
	for (size_t i = 0; i < findings->nr; i++) {
		bool is_new;
		struct out *out = csv_of(series, findings->items[i].name, &is_new);

		if (!out || !table_put_csv_behind(&findings->items[i].table, is_new ? "since,until" : NULL, times, out))
			return fail_memory(fail);
		len += out_len(out);
	}
	return len <= SERIES_CSV_MAX ?
		       0 :
		       fail_set(fail, -E2BIG,
				"--every: the tables of all intervals are too large; choose a longer interval");
}

static bool end_csv(struct series *series)
{
	for (size_t i = 0; i < series->nr_csv; i++) {
		struct out *out = &series->csv[i].out;

		if (out->failed)
			return false;
		if (series->print.csv_file)
			series->print.csv_file(series->into, series->csv[i].name, out_len(out));
		else if (i)
			out_char(series->into, '\n');
		out_mem(series->into, out->start, out_len(out));
	}
	drop_csv(series);
	return true;
}

static int take_interval(struct series *series, struct findings *findings, const struct findings_span *span,
			 struct fail *fail)
{
	struct fail why = FAIL_INIT;
	struct findings_options options = series->print;
	struct stretch stretch;
	uint64_t from, end;
	int r;

	if (!series->begun)
		series->first = span->from;
	series->begun = true;
	end = (span->to - series->first + series->every_ns - 1) / series->every_ns;
	from = (span->from - series->first) / series->every_ns;
	end = end > from ? end : from + 1;
	if (end > SERIES_INTERVALS_MAX)
		return fail_set(fail, -E2BIG, "--every: more than %d intervals; choose a longer one",
				SERIES_INTERVALS_MAX);
	stretch = (struct stretch){ (size_t)from, (size_t)(end - from) };
	series->nr_intervals = stretch.from + stretch.nr;
	if (findings->failed)
		return fail_memory(fail);
	if (options.format == TABLE_AS_TEXT)
		return add_findings(series, findings, &stretch, fail);
	options.span = span;
	/* Not each interval has the table with the user's column. */
	r = findings_arrange(findings, &options, &why);
	if (r && r != -ENOENT)
		return fail_set(fail, r, "%s", why.text);
	if (options.format == TABLE_AS_CSV)
		return put_csv(series, findings, span, fail);
	return findings_write(findings, &options, series->into) ? 0 : fail_memory(fail);
}

static int compare_values(const void *a, const void *b)
{
	const struct series_value *first = a, *second = b;

	return first->row != second->row          ? (first->row < second->row ? -1 : 1) :
	       first->interval < second->interval ? -1 :
						    first->interval > second->interval;
}

/* The first value of the row in the sorted values. */
static size_t first_of(const struct series *series, uint32_t row)
{
	return vec_count(series->nr_values, i, series->values[i].row < row);
}

/* Sets the values of a row in all intervals. */
static bool collect(struct series *series, const struct finding *finding, size_t row, bool adds, uint64_t *values)
{
	uint32_t id = key_of(series, finding, row);

	memset(values, 0, series->nr_intervals * sizeof(*values));
	for (size_t i = first_of(series, id); i < series->nr_values && series->values[i].row == id; i++) {
		uint64_t *value = &values[series->values[i].interval], more = series->values[i].value;

		*value = adds ? *value + more : more > *value ? more : *value;
	}
	return id != LABEL_NONE;
}

/* Whether the course shows this column of the table, which names the row. */
static bool is_name(const struct finding *finding, size_t column)
{
	if (table_flagged(&finding->table, column, DATA))
		return false;
	return table_flagged(&finding->table, column, SAME) ||
	       (!column && finding->table.columns[0].kind == TABLE_TEXT);
}

static void put_course(const struct series *series, const uint64_t *values, uint64_t most, struct table *table)
{
	size_t room = series->print.width / 3, nr = series->nr_intervals, cells = CELLS_MAX;
	char text[3 * CELLS_MAX + 1];
	size_t at = 0;

	if (series->print.width && room < cells)
		cells = room > CELLS_LEAST ? room : CELLS_LEAST;
	if (cells > nr)
		cells = nr;
	for (size_t i = 0; i < cells; i++) {
		uint64_t value = 0;

		for (size_t j = i * nr / cells; j < (i + 1) * nr / cells; j++)
			value = values[j] > value ? values[j] : value;
		if (!value) {
			text[at++] = '.';
		} else if (series->utf8) {
			memcpy(text + at, "\xe2\x96", 2);
			text[at + 2] = (char)(0x81 + scale_mul_div(value, 7, most));
			at += 3;
		} else {
			text[at++] = (char)('1' + scale_mul_div(value, 8, most));
		}
	}
	table_cell_mem(table, text, at);
}

/* The last interval is counted only if it is whole. */
static size_t whole_intervals(const struct series *series, const struct findings_span *span)
{
	size_t nr = series->nr_intervals;

	return nr > 1 && (span->to - series->first) % series->every_ns ? nr - 1 : nr;
}

static void put_row(const struct series *series, const struct finding *finding, size_t row, size_t column,
		    const struct findings_span *span, const uint64_t *values, struct table *table)
{
	uint64_t least = UINT64_MAX, most = 0, all = 0, value, lasted = span->to - span->from;
	size_t nr = whole_intervals(series, span);

	for (size_t i = 0; i < series->nr_intervals; i++) {
		if (i < nr && values[i] < least)
			least = values[i];
		most = values[i] > most ? values[i] : most;
	}
	for (size_t i = 0; i < finding->table.nr_columns && i < COLUMNS_MAX; i++)
		if (is_name(finding, i))
			table_cell_of(table, &finding->table, row, i);
	table_cell_of(table, &finding->table, row, column);
	if (table_flagged(&finding->table, column, ADDS)) {
		if (table_number_at(&finding->table, row, column, &all) && lasted)
			table_cell_u64(table, scale_mul_div(all, NS_PER_S, lasted));
		else
			table_cell(table, "-");
	}
	value = least == UINT64_MAX ? 0 : least;
	table_cell_u64(table, value);
	table_cell_u64(table, most);
	put_course(series, values, most ? most : 1, table);
}

/* Fills `columns`, which has room for those of the table and for six more, and returns it. */
static const struct table_column *make_columns(const struct finding *finding, size_t column,
					       struct table_column *columns)
{
	const struct table *table = &finding->table;
	enum table_kind kind = table->columns[column].kind;
	size_t nr = 0;

	for (size_t i = 0; i < table->nr_columns && i < COLUMNS_MAX; i++)
		if (is_name(finding, i))
			columns[nr++] = table->columns[i];
	columns[nr++] = table->columns[column];
	if (table_flagged(&finding->table, column, ADDS))
		columns[nr++] = (struct table_column){ "/S", kind, NULL, 0 };
	columns[nr++] = (struct table_column){ "LEAST", kind, NULL, 0 };
	columns[nr++] = (struct table_column){ "MOST", kind, NULL, 0 };
	columns[nr++] = (struct table_column){ "OVER TIME", TABLE_TEXT, NULL, 0 };
	columns[nr] = (struct table_column){ .title = NULL };
	while (nr-- > 0)
		columns[nr].flags = 0;
	return columns;
}

/* What a table of the course needs as long as it is printed. */
struct course {
	struct table_column columns[COLUMNS_MAX + 6];
	char title[256];
	uint64_t part, all; /* the sums over the rows, of the intervals and of all */
};

/* A figure adds up over the intervals, except for what one of their ends cuts. */
static void tell_rest(const struct finding *finding, size_t column, const struct course *course,
		      struct findings *findings)
{
	const struct table_column *of = &finding->table.columns[column];
	uint64_t per_mille = course->all ? scale_round_mul_div(course->part, 1000, course->all) : 1000;
	char part[TEXT_HUMAN], all[TEXT_HUMAN];

	if (per_mille == 1000 || !table_flagged(&finding->table, column, ADDS))
		return;
	if (per_mille < 1000)
		findings_note(findings,
			      "of the %s of %s (%s) the intervals show %s: what the rest was, an event told only "
			      "after the end of its interval",
			      table_human(of->kind, course->all, all), of->title, finding->name,
			      table_human(of->kind, course->part, part));
	else
		findings_note(
			findings,
			"the intervals show %s of %s (%s) together, more than the %s of the whole: what has no "
			"recorded end counts in the intervals up to where it may have ended, and not in the whole",
			table_human(of->kind, course->part, part), of->title, finding->name,
			table_human(of->kind, course->all, all));
}

/* How many rows text shows. What the intervals cut is told of all. */
static size_t rows_shown(const struct series *series, const struct finding *finding, size_t rows)
{
	return (finding->sort || finding->ordered) && series->print.top < rows ? (size_t)series->print.top : rows;
}

static int put_finding(struct series *series, const struct finding *finding, const struct findings_span *span,
		       struct course *course, struct findings *into, struct fail *fail)
{
	int column = column_of(series, finding);
	bool adds = column >= 0 && table_flagged(&finding->table, (size_t)column, ADDS);
	cleanup_free uint64_t *values = calloc(series->nr_intervals + 1, sizeof(*values));
	size_t rows = finding->table.nr_items / finding->table.nr_columns, shown = rows_shown(series, finding, rows);
	char every[TEXT_HUMAN];
	struct table *table;
	uint64_t value;

	if (!values)
		return fail_memory(fail);
	/* The table is none that a summary shows. */
	if (finding->more && !finding_has(finding, BRIEF))
		return 0;
	if (!finding_has(finding, SAME) || column < 0 || finding->table.columns[column].kind == TABLE_TEXT)
		return 0;
	snprintf(course->title, sizeof(course->title), "%s: %s in each %s", finding->name,
		 finding->table.columns[column].title, text_time(every, series->every_ns));
	table = findings_table(into, finding->name, course->title, NULL,
			       make_columns(finding, (size_t)column, course->columns));
	for (size_t row = 0; table && row < rows; row++) {
		if (!collect(series, finding, row, adds, values))
			return fail_memory(fail);
		if (row < shown)
			put_row(series, finding, row, (size_t)column, span, values, table);
		for (size_t i = 0; i < series->nr_intervals; i++)
			course->part += values[i];
		if (table_number_at(&finding->table, row, (size_t)column, &value))
			course->all += value;
	}
	if (!table)
		return fail_memory(fail);
	tell_rest(finding, (size_t)column, course, into);
	table->width = series->print.width;
	into->items[into->nr - 1].left_away = finding->left_away + rows - shown;
	return 0;
}

static int put_courses(struct series *series, struct findings *findings, const struct findings_span *span,
		       struct fail *fail)
{
	struct findings_options options = series->print;
	cleanup_free struct course *courses = calloc(findings->nr + 1, sizeof(*courses));
	struct findings shown;
	struct finding *items;
	size_t nr;
	int r = courses ? 0 : fail_memory(fail);

	findings_init(&shown);
	if (series->nr_values)
		qsort(series->values, series->nr_values, sizeof(*series->values), compare_values);
	for (size_t i = 0; !r && i < findings->nr; i++)
		r = put_finding(series, &findings->items[i], span, &courses[i], &shown, fail);
	if (!r && findings->nr && !shown.nr)
		findings_note(&shown,
			      "the rows of %s are single cases, which do not go on over intervals: leave out "
			      "--every, or ask sched, syscalls, irq or summary; --format json has those of each "
			      "interval",
			      findings->items[0].name);
	/* The rest of the findings is printed with these tables instead of its own. */
	items = findings->items;
	nr = findings->nr;
	findings->items = shown.items;
	findings->nr = shown.nr;
	options.span = span;
	if (shown.failed || (shown.notes.len && !buf_add(&findings->notes, shown.notes.data, shown.notes.len)))
		findings->failed = true;
	if (!r && !findings_write(findings, &options, series->into))
		r = fail_memory(fail);
	findings->items = items;
	findings->nr = nr;
	findings_release(&shown);
	return r;
}

static int take_whole(struct series *series, struct findings *findings, const struct findings_span *span,
		      struct fail *fail)
{
	struct findings_options options = series->print;
	int r = 0;

	options.span = span;
	if (options.format == TABLE_AS_TEXT)
		options.top = UINT64_MAX;
	if (findings->nr)
		r = findings_arrange(findings, &options, fail);
	if (r)
		return r;
	if (options.format == TABLE_AS_TEXT)
		r = put_courses(series, findings, span, fail);
	else if (options.format == TABLE_AS_CSV)
		r = end_csv(series) ? 0 : fail_memory(fail);
	else
		r = findings_write(findings, &options, series->into) ? 0 : fail_memory(fail);
	drop_values(series);
	return r;
}

int series_take(struct series *series, struct findings *findings, const struct findings_span *span, struct fail *fail)
{
	return span->whole ? take_whole(series, findings, span, fail) : take_interval(series, findings, span, fail);
}
