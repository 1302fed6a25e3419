// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/stats/bench_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/text.h"

static const char *const sides[2] = { "old", "new" };

const struct bench_name bench_names[BENCH_FIGURES] = {
	[BENCH_WALL] = { "wall", BENCH_TIME },     [BENCH_CPU] = { "cpu", BENCH_TIME },
	[BENCH_USER] = { "user", BENCH_TIME },     [BENCH_SYSTEM] = { "system", BENCH_TIME },
	[BENCH_MEMORY] = { "memory", BENCH_SIZE }, [BENCH_FAULTS] = { "faults", BENCH_NUMBER },
	[BENCH_WAITS] = { "waits", BENCH_NUMBER }, [BENCH_PREEMPTIONS] = { "preemptions", BENCH_NUMBER },
};

static int compare(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return *first < *second ? -1 : *first > *second;
}

void bench_spread(const struct bench_side *side, enum bench_figure figure, struct bench_spread *ret)
{
	double values[BENCH_RUNS_MAX], square = 0;
	size_t nr = bench_values(side, figure, values);

	*ret = (struct bench_spread){ .mean = 0 };
	if (!nr)
		return;
	qsort(values, nr, sizeof(*values), compare);
	for (size_t i = 0; i < nr; i++)
		ret->mean += values[i] / (double)nr;
	for (size_t i = 0; i < nr; i++)
		square += (values[i] - ret->mean) * (values[i] - ret->mean);
	ret->deviation = nr > 1 ? sqrt(square / (double)(nr - 1)) : 0;
	ret->median = (values[(nr - 1) / 2] + values[nr / 2]) / 2;
	ret->min = values[0];
	ret->max = values[nr - 1];
}

static const char *command_of(const struct bench *bench, size_t side)
{
	return bench->nr_sides == 2 ? sides[side] : "command";
}

#define TIME_COLUMNS(X)                                                  \
	X("COMMAND", TEXT, NULL, 0, table_cell, command_of(bench, side)) \
	X("FIGURE", TEXT, NULL, 0, table_cell, bench_names[figure].name) \
	X("MEAN", TIME, NULL, 0, put_whole, spread.mean)                 \
	X("SD", TIME, NULL, 0, put_whole, spread.deviation)              \
	X("MEDIAN", TIME, NULL, 0, put_whole, spread.median)             \
	X("MIN", TIME, NULL, 0, put_whole, spread.min)                   \
	X("MAX", TIME, NULL, 0, put_whole, spread.max)                   \
	X("RUNS", COUNT, NULL, 0, table_cell_u64, bench->sides[side].nr)

static void put_whole(struct table *table, double value)
{
	table_cell_u64(table, (uint64_t)llrint(value));
}

/* The times of each command: what a benchmark prints. */
void bench_put_times(const struct bench *bench, struct findings *findings)
{
	static const struct table_column columns[] = COLUMNS(TIME_COLUMNS);
	struct table *table = findings_table(findings, "times", "times: of each command, over its runs", NULL, columns);

	for (size_t side = 0; table && side < bench->nr_sides; side++)
		for (enum bench_figure figure = BENCH_WALL; figure <= BENCH_SYSTEM; figure++) {
			struct bench_spread spread;

			bench_spread(&bench->sides[side], figure, &spread);
			TIME_COLUMNS(CELL)
		}
}

static void put_value(struct table *table, enum bench_figure figure, double value)
{
	char text[TEXT_HUMAN];
	uint64_t whole = (uint64_t)llrint(value);

	switch (bench_names[figure].kind) {
	case BENCH_TIME:
		table_cell(table, text_time(text, whole));
		return;
	case BENCH_SIZE:
		table_cell(table, text_size(text, whole));
		return;
	case BENCH_NUMBER:
		table_cell(table, text_count(text, whole));
		return;
	}
}

/* A ratio this large comes from an old figure of 0 in some runs: how large it could be is not known. */
enum { UNBOUNDED = 1000 };

static void put_percent(struct table *table, bool known, double part)
{
	double permille = part * 1000;

	if (!known || !(part < UNBOUNDED))
		table_cell(table, "-");
	else
		table_cell_decimal(table, llrint(permille), 1);
}

static const char *verdict(const struct bench_line *line)
{
	if (line->same || line->small)
		return line->same ? "=" : ".";
	return line->test.passes ? line->test.change > 0 ? "+" : "-" : line->test.could_pass ? "~" : "?";
}

/* The columns CHANGE %, FROM, TO and IS. */
#define CHANGE_COLUMNS(X, line)                                                                                 \
	X("CHANGE %", NUMBER, "change_percent", 0, put_percent, (line)->test.old > 0, (line)->test.change)      \
	X("FROM", NUMBER, "from_percent", SPARE, put_percent, diff_is_bounded(&(line)->test), (line)->test.low) \
	X("TO", NUMBER, "to_percent", SPARE, put_percent, diff_is_bounded(&(line)->test), (line)->test.high)    \
	X("IS", TEXT, "verdict", 0, table_cell, verdict(line))

#define FIGURE_COLUMNS(X)                                                                  \
	X("FIGURE", TEXT, NULL, 0, table_cell, bench_names[i].name)                        \
	X("OLD", TEXT, "old_text", 0, put_value, i, test->old)                             \
	X("NEW", TEXT, "new_text", 0, put_value, i, test->new)                             \
	CHANGE_COLUMNS(X, line)                                                            \
	X("P", NUMBER, "p", 0, table_cell_decimal, llrint(test->p * 1e6), 6)               \
	X("OLD VALUE", NUMBER, "old", DATA, table_cell_decimal, llrint(test->old * 10), 1) \
	X("NEW VALUE", NUMBER, "new", DATA, table_cell_decimal, llrint(test->new * 10), 1)

void bench_put_figures(const struct bench_line *lines, struct findings *findings)
{
	static const struct table_column columns[] = COLUMNS(FIGURE_COLUMNS);
	struct table *table =
		findings_table(findings, "figures",
			       "figures: medians; + grew, - shrank, ~ no change that the test bears out, ? too few "
			       "runs to tell",
			       NULL, columns);

	findings_flag(findings, SPARE, SPARE, false);
	for (enum bench_figure i = 0; table && i < BENCH_FIGURES; i++) {
		const struct bench_line *line = &lines[i];
		const struct diff_test *test = &line->test;

		FIGURE_COLUMNS(CELL)
	}
	if (!lines[BENCH_WALL].test.could_pass)
		findings_note(findings, "so few runs can prove no change: 5 of each command can, 10 are better");
}

static void put_time(struct table *table, double value, bool sign)
{
	char text[TEXT_HUMAN];

	table_cellf(table, "%s%s", !sign ? "" : value < 0 ? "-" : "+", text_time(text, (uint64_t)llrint(fabs(value))));
}

#define ROW_COLUMNS(X)                                                                  \
	X("OF", TEXT, "table", 0, table_cell_mem, row->name, (size_t)(tab - row->name)) \
	X("ROW", TEXT, NULL, 0, table_cell, tab + 1)                                    \
	X("MORE", TEXT, "more_text", 0, put_time, row->more, true)                      \
	X("OLD", TEXT, "old_text", 0, put_time, time->old, false)                       \
	X("NEW", TEXT, "new_text", 0, put_time, time->new, false)                       \
	CHANGE_COLUMNS(X, &row->time)                                                   \
	X("OLD N", COUNT, "old_calls", 0, put_whole, calls->old)                        \
	X("NEW N", COUNT, "new_calls", 0, put_whole, calls->new)                        \
	X("N IS", TEXT, "calls_verdict", 0, table_cell, verdict(&row->calls))           \
	X("MORE NS", NUMBER, "more_ns", DATA, table_cell_decimal, llrint(row->more), 0) \
	X("OLD NS", NUMBER, "old_ns", DATA, table_cell_decimal, llrint(time->old), 0)   \
	X("NEW NS", NUMBER, "new_ns", DATA, table_cell_decimal, llrint(time->new), 0)   \
	X("P", NUMBER, "p", DATA, table_cell_decimal, llrint(time->p * 1e6), 6)         \
	X("P N", NUMBER, "calls_p", DATA, table_cell_decimal, llrint(calls->p * 1e6), 6)

static void put_row(struct table *table, const struct bench_row *row)
{
	const struct diff_test *time = &row->time.test, *calls = &row->calls.test;
	const char *tab = strchr(row->name, '\t');

	ROW_COLUMNS(CELL)
}

void bench_put_rows(const struct bench_rows *rows, uint64_t top, struct findings *findings)
{
	static const struct table_column columns[] = COLUMNS(ROW_COLUMNS);
	struct table *table =
		findings_table(findings, "changes",
			       "changes: what the runs did, by the time that explains a difference; N: how "
			       "often",
			       NULL, columns);

	if (!table)
		return;
	for (size_t i = 0; i < rows->nr - rows->small; i++)
		put_row(table, &rows->rows[i]);
	if (top < rows->nr - rows->small)
		findings->items[findings->nr - 1].left_away = table_keep(table, (size_t)top);
	if (rows->small)
		findings_note(findings,
			      "%s row%s took less than 0.1 %% of the wall time, as often in each run, and %s left out",
			      text_count((char[TEXT_HUMAN]){ 0 }, rows->small), text_plural(rows->small),
			      rows->small == 1 ? "is" : "are");
	if (rows->few)
		findings_note(findings, "for so many rows there are too few runs: %zu of each command can tell",
			      rows->needed);
}

#define RUN_COLUMNS(X)                                                     \
	X("COMMAND", TEXT, NULL, 0, table_cell, command_of(bench, side))   \
	X("RUN", NUMBER, NULL, 0, table_cell_u64, i + 1)                   \
	X("WALL", TIME, NULL, 0, table_cell_u64, figures[BENCH_WALL])      \
	X("CPU", TIME, NULL, 0, table_cell_u64, figures[BENCH_CPU])        \
	X("USER", TIME, NULL, 0, table_cell_u64, figures[BENCH_USER])      \
	X("SYSTEM", TIME, NULL, 0, table_cell_u64, figures[BENCH_SYSTEM])  \
	X("MEMORY", SIZE, NULL, 0, table_cell_u64, figures[BENCH_MEMORY])  \
	X("FAULTS", COUNT, NULL, 0, table_cell_u64, figures[BENCH_FAULTS]) \
	X("WAITS", COUNT, NULL, 0, table_cell_u64, figures[BENCH_WAITS])   \
	X("PREEMPTIONS", COUNT, NULL, 0, table_cell_u64, figures[BENCH_PREEMPTIONS])

void bench_put_runs(const struct bench *bench, struct findings *findings)
{
	static const struct table_column columns[] = COLUMNS(RUN_COLUMNS);
	struct table *table = findings_table(findings, "runs", "runs: each of them", NULL, columns);

	for (size_t side = 0; table && side < bench->nr_sides; side++)
		for (size_t i = 0; i < bench->sides[side].nr; i++) {
			const uint64_t *figures = bench->sides[side].runs[i].figures;

			RUN_COLUMNS(CELL)
		}
}
