// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/explain/unusual_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/intervals.h"
#include "lib/answers/frame/run.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"

enum {
	FIGURES_MAX = 200 * 1000, /* further rows are not compared */
	PER_TABLE = 2,            /* rows of one table that are shown, so that one cause does not hide the others */
};

/* A figure of a row, in each interval. */
struct figure {
	const char *row, *table, *title; /* all in `texts` */
	enum table_kind kind;
	bool largest; /* rows of one name have the largest of their figures, not the sum */
	uint64_t values[UNUSUAL_INTERVALS + 2];
	double score;
	bool seen;            /* it was there before the last interval */
	bool own;             /* the row is about the task of the options */
	uint64_t usual, most; /* the median and the largest of the intervals before the last one */
	char texts[];
};

struct unusual {
	struct figure **figures;
	size_t nr;
	struct u64_map places; /* by the hash of a figure's name: its index + 1 */
	size_t interval;       /* the number of the next one */
	uint64_t length_ns;
	const char *task;
	uint64_t lost; /* events that are missing in the intervals */
	bool more_lost;
	bool cut; /* there were more than FIGURES_MAX */
};

/* What grows while nothing happens says nothing about what did. */
static bool is_idle(const char *title)
{
	static const char *const idle[] = { "SLEEP", "IDLE", "UNKNOWN", "%" };

	for (size_t i = 0; i < array_size(idle); i++)
		if (!strcmp(idle[i], title))
			return true;
	return false;
}

static bool is_largest(const struct table_column *column)
{
	return column->kind == TABLE_TIME && !strcmp(column->title, "MAX");
}

static bool add_text(const struct table *table, size_t row, size_t column, struct buf *name)
{
	const char *text = table_text_at(table, row, column);

	return !text || !*text || !strcmp(text, "-") || buf_addf(name, "%s%s", name->len ? " " : "", text);
}

static bool add_number(const struct table *table, size_t row, size_t column, struct buf *name)
{
	const char *title = table->columns[column].title;
	uint64_t number;

	return strstr(title, "PID") || !table_number_at(table, row, column, &number) ||
	       buf_addf(name, "%s%s %" PRIu64, name->len ? " " : "", title, number);
}

/*
 * The name of a row: the texts that identify it, or if there are none its first text, or its numbers with their titles,
 * but no PID. NULL: no memory.
 */
static char *row_of(const struct finding *finding, size_t row)
{
	const struct table *table = &finding->table;
	cleanup_buf struct buf name = BUF_INIT;
	bool ok = buf_add_str(&name, "");

	for (size_t i = 0; ok && i < table->nr_columns; i++)
		if (table_flagged(table, i, SAME))
			ok = add_text(table, row, i, &name);
	for (size_t i = 0; ok && !name.len && i < table->nr_columns; i++)
		if (table->columns[i].kind == TABLE_TEXT)
			ok = add_text(table, row, i, &name);
	for (size_t i = 0; ok && !name.len && i < table->nr_columns; i++)
		if (table_flagged(table, i, SAME))
			ok = add_number(table, row, i, &name);
	return ok ? strdup(buf_str(&name)) : NULL;
}

/* Whether the name of a row has this word. */
static bool has_word(const char *row, const char *word)
{
	size_t len = word ? strlen(word) : 0;

	for (const char *at = row; len && (at = strstr(at, word)); at++)
		if ((at == row || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

static bool is_figure(const struct figure *figure, const char *table, const char *title, const char *row)
{
	return !strcmp(figure->table, table) && !strcmp(figure->title, title) && !strcmp(figure->row, row);
}

static struct figure *new_figure(const char *table, const struct table_column *column, const char *row)
{
	size_t size = strlen(row) + strlen(table) + strlen(column->title) + 3;
	struct figure *figure = calloc(1, sizeof(*figure) + size);

	if (!figure)
		return NULL;
	snprintf(figure->texts, size, "%s%c%s%c%s", row, 0, table, 0, column->title);
	figure->row = figure->texts;
	figure->table = figure->row + strlen(row) + 1;
	figure->title = figure->table + strlen(table) + 1;
	figure->kind = column->kind;
	figure->largest = is_largest(column);
	return figure;
}

/* NULL: no memory, or `cut` is set. */
static struct figure *figure_of(struct unusual *unusual, const char *table, const struct table_column *column,
				const char *row)
{
	uint64_t hash =
		xxh64(row, strlen(row)) ^ xxh64(column->title, strlen(column->title)) * 3 ^ xxh64(table, strlen(table));
	struct figure **added;
	uint32_t *place;

	while ((place = u64_map_add(&unusual->places, hash)) && *place &&
	       !is_figure(unusual->figures[*place - 1], table, column->title, row))
		hash++;
	if (!place)
		return NULL;
	if (*place)
		return unusual->figures[*place - 1];
	if (unusual->nr == FIGURES_MAX) {
		unusual->cut = true;
		return NULL;
	}
	added = vec_push(unusual->figures, unusual->nr);
	if (!added)
		return NULL;
	*added = new_figure(table, column, row);
	if (!*added) {
		unusual->nr--;
		return NULL;
	}
	(*added)->own = has_word(row, unusual->task);
	*place = (uint32_t)unusual->nr;
	return *added;
}

static int take_row(struct unusual *unusual, const struct finding *finding, size_t row, struct fail *fail)
{
	const struct table *table = &finding->table;
	cleanup_free char *name = row_of(finding, row);

	if (!name)
		return fail_memory(fail);
	/* The calls have a table of their own. */
	if (!strncmp(name, "syscalls:", strlen("syscalls:")))
		return 0;
	for (size_t i = 0; i < table->nr_columns; i++) {
		const struct table_column *column = &table->columns[i];
		struct figure *figure;
		uint64_t value, *sum;

		if ((!table_flagged(table, i, ADDS) && !is_largest(column)) || is_idle(column->title) ||
		    !table_number_at(table, row, i, &value) || !value)
			continue;
		figure = figure_of(unusual, finding->name, column, name);
		if (!figure && !unusual->cut)
			return fail_memory(fail);
		if (!figure)
			continue;
		sum = &figure->values[unusual->interval];
		if (figure->largest)
			*sum = value > *sum ? value : *sum;
		else
			*sum += value;
	}
	return 0;
}

static int take_interval(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail)
{
	struct unusual *unusual = arg;
	uint64_t length = span->to - span->from;
	int r = 0;

	if (span->whole || unusual->interval > UNUSUAL_INTERVALS)
		return 0;
	for (size_t i = 0; !r && i < findings->nr; i++) {
		const struct finding *finding = &findings->items[i];
		size_t rows = finding->table.nr_columns ? finding->table.nr_items / finding->table.nr_columns : 0;

		for (size_t row = 0; !r && finding_has(finding, ADDS) && row < rows; row++)
			r = take_row(unusual, finding, row, fail);
	}
	/* Intervals without an event come as one. */
	unusual->interval += length > unusual->length_ns ? (size_t)(length / unusual->length_ns) : 1;
	return r;
}

static int compare_numbers(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return first < second ? -1 : first > second;
}

/* How much of a figure is nothing to speak of. */
static double slight(const struct unusual *unusual, const struct figure *figure)
{
	switch (figure->kind) {
	case TABLE_TIME:
		return figure->largest ? 1e5 : (double)unusual->length_ns / 1000;
	case TABLE_SIZE:
		return 1 << 16;
	case TABLE_TEXT:
	case TABLE_NUMBER:
	case TABLE_COUNT:
		break;
	}
	return 10;
}

/* Compares the last interval with those from `first` on. */
static void judge(const struct unusual *unusual, struct figure *figure, size_t first)
{
	size_t last = unusual->interval - 1, nr = last - first;
	uint64_t sorted[UNUSUAL_INTERVALS + 2];
	double mean = 0, square = 0, now = (double)figure->values[last], spread;

	for (size_t i = 0; i < last; i++)
		figure->seen |= figure->values[i] > 0;
	for (size_t i = first; i < last; i++)
		mean += (double)figure->values[i] / (double)nr;
	for (size_t i = first; i < last; i++)
		square += ((double)figure->values[i] - mean) * ((double)figure->values[i] - mean) / (double)nr;
	spread = sqrt(square) + mean / 20 + slight(unusual, figure);
	figure->score = fabs(now - mean) / spread;
	memcpy(sorted, figure->values + first, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare_numbers);
	figure->usual = sorted[nr / 2];
	figure->most = sorted[nr - 1];
	/* What was so before, too, is not unusual. */
	if (figure->values[last] <= figure->most && figure->values[last] >= sorted[0])
		figure->score = 0;
}

static int compare_figures(const void *a, const void *b)
{
	const struct figure *first = *(const struct figure *const *)a, *second = *(const struct figure *const *)b;
	bool own[] = { first->own && first->score >= 1, second->own && second->score >= 1 };
	int order;

	if (own[0] != own[1])
		return own[0] ? -1 : 1;
	if (first->score > second->score || first->score < second->score)
		return first->score > second->score ? -1 : 1;
	order = strcmp(first->table, second->table);
	order = order ? order : strcmp(first->row, second->row);
	return order ? order : strcmp(first->title, second->title);
}

static const char *human(enum table_kind kind, uint64_t value, char into[TEXT_HUMAN])
{
	return kind == TABLE_TIME ? text_time(into, value) :
	       kind == TABLE_SIZE ? text_size(into, value) :
				    text_count(into, value);
}

#define FIGURE_COLUMNS(X)                                                                 \
	X("TABLE", TEXT, NULL, 0, table_cell, figure->table)                              \
	X("ROW", TEXT, NULL, 0, table_cell, figure->row)                                  \
	X("FIGURE", TEXT, NULL, 0, table_cell, figure->title)                             \
	X("NOW", TEXT, "now_text", TEXT_ONLY, table_cell, human(figure->kind, now, text)) \
	X("USUAL", TEXT, "usual_text", TEXT_ONLY, table_cell,                             \
	  figure->seen ? human(figure->kind, figure->usual, text) : "-")                  \
	X("AT MOST", TEXT, "most_text", TEXT_ONLY, table_cell,                            \
	  figure->seen ? human(figure->kind, figure->most, text) : "not seen before")     \
	X("VALUE", NUMBER, "now", DATA, table_cell_u64, now)                              \
	X("MEDIAN", NUMBER, "usual", DATA, table_cell_u64, figure->usual)                 \
	X("LARGEST", NUMBER, "most", DATA, table_cell_u64, figure->most)                  \
	X("UNIT", TEXT, NULL, DATA, table_cell,                                           \
	  figure->kind == TABLE_TIME ? "ns" :                                             \
	  figure->kind == TABLE_SIZE ? "bytes" :                                          \
				       "")

static const struct table_column columns[] = COLUMNS(FIGURE_COLUMNS);

static void put(const struct unusual *unusual, const struct figure *figure, struct table *table)
{
	uint64_t now = figure->values[unusual->interval - 1];
	char text[TEXT_HUMAN];

	FIGURE_COLUMNS(CELL)
}

/* A row has its most unusual figure, and a table its most unusual rows. */
static bool is_told(const struct unusual *unusual, size_t index, const bool *told)
{
	const struct figure *figure = unusual->figures[index];
	unsigned nr = 0;

	for (size_t i = 0; i < index; i++) {
		if (!told[i] || strcmp(unusual->figures[i]->table, figure->table) != 0)
			continue;
		if (!strcmp(unusual->figures[i]->row, figure->row) || ++nr == PER_TABLE)
			return true;
	}
	return false;
}

/* Less of something may be what was lost of it. */
static void note_losses(const struct unusual *unusual, struct findings *findings)
{
	char count[TEXT_HUMAN];

	if (!unusual->lost && !unusual->more_lost)
		return;
	findings_note(findings,
		      "%s%s event%s lost in the time that is compared, so a row may differ only by them; a larger "
		      "buffer of the flight (-b) may keep them",
		      unusual->lost && unusual->more_lost ? "more than " : "",
		      unusual->lost ? text_count(count, unusual->lost) : "an unknown number of",
		      unusual->lost == 1 ? " was" : "s were");
}

static int put_table(struct unusual *unusual, size_t rows, struct findings *findings, struct fail *fail)
{
	struct table *table = findings_table(findings, "unusual", "what was unusual", NULL, columns);
	/* The first interval does not know what went on before it. */
	size_t first = unusual->interval > UNUSUAL_LEAST + 2, shown = 0;
	bool *told = calloc(unusual->nr + 1, sizeof(*told));

	if (!table || !told) {
		free(told);
		return fail_memory(fail);
	}
	for (size_t i = 0; i < unusual->nr; i++)
		judge(unusual, unusual->figures[i], first);
	qsort(unusual->figures, unusual->nr, sizeof(struct figure *), compare_figures);
	for (size_t i = 0; i < unusual->nr && shown < rows && unusual->figures[i]->score >= 1; i++) {
		if (is_told(unusual, i, told))
			continue;
		told[i] = true;
		shown++;
		put(unusual, unusual->figures[i], table);
	}
	free(told);
	note_losses(unusual, findings);
	if (unusual->cut)
		findings_note(findings, "the first %d figures were compared", FIGURES_MAX);
	return 0;
}

/* Places the intervals: the window of the reader begins with the first of them. */
static int place(const struct unusual_options *options, struct reader *reader, struct unusual_span *ret,
		 struct fail *fail)
{
	struct extent extent = { .known = false };
	uint64_t until = reader->buffers[0].window.until, before, nr;
	int r = extent_find(reader->buffers[0].context, &extent, fail);

	if (r)
		return r;
	until = until < extent.last ? until : extent.last;
	before = until > extent.first ? until - extent.first : 0;
	ret->length_ns = options->length_ns ? options->length_ns : before / 10;
	ret->length_ns = ret->length_ns ? ret->length_ns : 1;
	nr = before / ret->length_ns;
	if (nr < UNUSUAL_LEAST + 1)
		return fail_set(fail, -ENODATA,
				"too little is known of the time before it: a shorter --before, or a longer --keep "
				"of the flight, helps");
	nr = nr < UNUSUAL_INTERVALS ? nr : UNUSUAL_INTERVALS;
	ret->to = until;
	ret->from = until - nr * ret->length_ns;
	/* The end of an interval belongs to the next one: no event may be at the end of the last. */
	for (size_t i = 0; i < reader->nr_buffers; i++)
		reader->buffers[i].window.since = ret->from + 1;
	return 0;
}

static int run(const struct unusual_options *options, struct reader *reader, struct unusual *unusual, struct fail *fail)
{
	const struct pass_filter filter = analysis_filter(options->query);
	struct intervals intervals = {
		.ops = &summary_analysis, .every_ns = unusual->length_ns, .found = take_interval, .arg = unusual
	};
	int r = reader_start(reader, &(struct reader_options){ .tells_ends = true }, fail);

	if (!r)
		r = intervals_run(&intervals, reader, &filter, fail);
	unusual->lost = intervals.lost;
	unusual->more_lost = intervals.more_lost;
	intervals_release(&intervals);
	if (!r && unusual->interval < UNUSUAL_LEAST + 1)
		r = fail_set(fail, -ENODATA, "there are too few events before it");
	return r;
}

int unusual_find(struct trace *trace, const struct unusual_options *options, struct findings *findings,
		 struct unusual_span *ret, struct fail *fail)
{
	const struct query_manner manner = { .times_only = true };
	struct unusual unusual = { .task = options->task };
	struct query query = *options->query;
	struct reader reader;
	int r;

	query.before_ns = QUERY_WHOLE;
	query.after_ns = 0;
	reader_init(&reader);
	u64_map_init(&unusual.places, sizeof(uint32_t));
	r = query_add(&query, &manner, trace, &reader, fail);
	if (!r && !reader.nr_buffers)
		r = fail_set(fail, -ENODATA, "there are no events");
	if (!r)
		r = place(options, &reader, ret, fail);
	unusual.length_ns = ret->length_ns;
	if (!r)
		r = run(options, &reader, &unusual, fail);
	if (!r)
		r = put_table(&unusual, options->rows, findings, fail);
	ret->intervals = unusual.interval ? unusual.interval - 1 : 0;
	for (size_t i = 0; i < unusual.nr; i++) {
		free(unusual.figures[i]);
	}
	free(unusual.figures);
	u64_map_release(&unusual.places);
	reader_release(&reader);
	return r;
}
