// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/bench_internal.h"

#include "lib/analysis/findings.h"
#include "lib/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const sides[2] = { "old", "new" };

static const char *command_of(const struct bench *bench, size_t side)
{
	return bench->nr_sides == 2 ? sides[side] : "command";
}

/* The times of each command: what a benchmark prints. */
void bench_put_times(const struct bench *bench, struct findings *findings)
{
	static const struct table_column columns[] = {
		{ "COMMAND", TABLE_TEXT, NULL }, { "FIGURE", TABLE_TEXT, NULL }, { "MEAN", TABLE_TIME, NULL },
		{ "SD", TABLE_TIME, NULL },      { "MEDIAN", TABLE_TIME, NULL }, { "MIN", TABLE_TIME, NULL },
		{ "MAX", TABLE_TIME, NULL },     { "RUNS", TABLE_COUNT, NULL },
	};
	struct table *table = findings_table(findings, "times", "times: of each command, over its runs", NULL, columns,
					     array_size(columns));

	for (size_t side = 0; table && side < bench->nr_sides; side++)
		for (enum bench_figure figure = BENCH_WALL; figure <= BENCH_SYSTEM; figure++) {
			struct bench_spread spread;

			bench_spread(&bench->sides[side], figure, &spread);
			table_cell(table, command_of(bench, side));
			table_cell(table, bench_names[figure].name);
			table_cell_u64(table, (uint64_t)llrint(spread.mean));
			table_cell_u64(table, (uint64_t)llrint(spread.deviation));
			table_cell_u64(table, (uint64_t)llrint(spread.median));
			table_cell_u64(table, (uint64_t)llrint(spread.min));
			table_cell_u64(table, (uint64_t)llrint(spread.max));
			table_cell_u64(table, bench->sides[side].nr);
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
static void put_change(struct table *table, const struct bench_line *line)
{
	const struct diff_test *test = &line->test;

	put_percent(table, test->old > 0, test->change);
	put_percent(table, test->bounded && test->old > 0, test->low);
	put_percent(table, test->bounded && test->old > 0, test->high);
	table_cell(table, verdict(line));
}

void bench_put_figures(const struct bench_line *lines, struct findings *findings)
{
	enum { FIGURE, OLD, NEW, CHANGE, LOW, HIGH, VERDICT, P, OLD_VALUE, NEW_VALUE, COLUMNS };
	static const struct table_column columns[COLUMNS] = {
		[FIGURE] = { "FIGURE", TABLE_TEXT, NULL },
		[OLD] = { "OLD", TABLE_TEXT, "old_text" },
		[NEW] = { "NEW", TABLE_TEXT, "new_text" },
		[CHANGE] = { "CHANGE %", TABLE_NUMBER, "change_percent" },
		[LOW] = { "FROM", TABLE_NUMBER, "from_percent" },
		[HIGH] = { "TO", TABLE_NUMBER, "to_percent" },
		[VERDICT] = { "IS", TABLE_TEXT, "verdict" },
		[P] = { "P", TABLE_NUMBER, "p" },
		[OLD_VALUE] = { "OLD VALUE", TABLE_NUMBER, "old" },
		[NEW_VALUE] = { "NEW VALUE", TABLE_NUMBER, "new" },
	};
	struct table *table =
		findings_table(findings, "figures",
			       "figures: medians; + grew, - shrank, ~ no change that the test bears out, ? too few "
			       "runs to tell",
			       NULL, columns, COLUMNS);

	if (!table)
		return;
	table->data_only = 1 << OLD_VALUE | 1 << NEW_VALUE;
	for (size_t i = 0; i < BENCH_FIGURES; i++) {
		const struct bench_line *line = &lines[i];
		const struct diff_test *test = &line->test;

		table_cell(table, bench_names[i].name);
		put_value(table, (enum bench_figure)i, test->old);
		put_value(table, (enum bench_figure)i, test->new);
		put_change(table, line);
		table_cell_decimal(table, llrint(test->p * 1e6), 6);
		table_cell_decimal(table, llrint(test->old * 10), 1);
		table_cell_decimal(table, llrint(test->new * 10), 1);
	}
	if (!lines[BENCH_WALL].test.could_pass)
		findings_note(findings, "so few runs can prove no change: 5 of each command can, 10 are better");
}

static void put_time(struct table *table, double value, bool sign)
{
	char text[TEXT_HUMAN];

	table_cellf(table, "%s%s", !sign ? "" : value < 0 ? "-" : "+", text_time(text, (uint64_t)llrint(fabs(value))));
}

static void put_row(struct table *table, const struct bench_row *row)
{
	const struct diff_test *time = &row->time.test, *calls = &row->calls.test;
	const char *tab = strchr(row->name, '\t');

	table_cell_mem(table, row->name, (size_t)(tab - row->name));
	table_cell(table, tab + 1);
	put_time(table, row->more, true);
	put_time(table, time->old, false);
	put_time(table, time->new, false);
	put_change(table, &row->time);
	table_cell_u64(table, (uint64_t)llrint(calls->old));
	table_cell_u64(table, (uint64_t)llrint(calls->new));
	table_cell(table, verdict(&row->calls));
	table_cell_decimal(table, llrint(row->more), 0);
	table_cell_decimal(table, llrint(time->old), 0);
	table_cell_decimal(table, llrint(time->new), 0);
	table_cell_decimal(table, llrint(time->p * 1e6), 6);
	table_cell_decimal(table, llrint(calls->p * 1e6), 6);
}

void bench_put_rows(const struct bench_rows *rows, uint64_t top, struct findings *findings)
{
	enum {
		OF,
		ROW,
		MORE,
		OLD,
		NEW,
		CHANGE,
		LOW,
		HIGH,
		IS,
		OLD_N,
		NEW_N,
		IS_N,
		MORE_NS,
		OLD_NS,
		NEW_NS,
		P,
		P_N,
		COLUMNS
	};
	static const struct table_column columns[COLUMNS] = {
		[OF] = { "OF", TABLE_TEXT, "table" },
		[ROW] = { "ROW", TABLE_TEXT, NULL },
		[MORE] = { "MORE", TABLE_TEXT, "more_text" },
		[OLD] = { "OLD", TABLE_TEXT, "old_text" },
		[NEW] = { "NEW", TABLE_TEXT, "new_text" },
		[CHANGE] = { "CHANGE %", TABLE_NUMBER, "change_percent" },
		[LOW] = { "FROM", TABLE_NUMBER, "from_percent" },
		[HIGH] = { "TO", TABLE_NUMBER, "to_percent" },
		[IS] = { "IS", TABLE_TEXT, "verdict" },
		[OLD_N] = { "OLD N", TABLE_COUNT, "old_calls" },
		[NEW_N] = { "NEW N", TABLE_COUNT, "new_calls" },
		[IS_N] = { "N IS", TABLE_TEXT, "calls_verdict" },
		[MORE_NS] = { "MORE NS", TABLE_NUMBER, "more_ns" },
		[OLD_NS] = { "OLD NS", TABLE_NUMBER, "old_ns" },
		[NEW_NS] = { "NEW NS", TABLE_NUMBER, "new_ns" },
		[P] = { "P", TABLE_NUMBER, "p" },
		[P_N] = { "P N", TABLE_NUMBER, "calls_p" },
	};
	struct table *table =
		findings_table(findings, "changes",
			       "changes: what the runs did, by the time that explains a difference; N: how "
			       "often",
			       NULL, columns, COLUMNS);

	if (!table)
		return;
	table->data_only = 1 << MORE_NS | 1 << OLD_NS | 1 << NEW_NS | 1 << P | 1 << P_N;
	table->spare = 1 << LOW | 1 << HIGH;
	for (size_t i = 0; i < rows->nr - rows->small; i++)
		put_row(table, &rows->rows[i]);
	if (top < rows->nr - rows->small)
		findings->items[findings->nr - 1].left_away = table_keep(table, (size_t)top);
	if (rows->small)
		findings_note(findings,
			      "%zu row%s took less than 0.1 %% of the wall time, as often in each run, and %s left out",
			      rows->small, text_plural(rows->small), rows->small == 1 ? "is" : "are");
	if (rows->few)
		findings_note(findings, "for so many rows there are too few runs: 10 of each command can tell");
}

void bench_put_runs(const struct bench *bench, struct findings *findings)
{
	static const struct table_column columns[] = {
		{ "COMMAND", TABLE_TEXT, NULL },      { "RUN", TABLE_NUMBER, NULL },   { "WALL", TABLE_TIME, NULL },
		{ "CPU", TABLE_TIME, NULL },          { "USER", TABLE_TIME, NULL },    { "SYSTEM", TABLE_TIME, NULL },
		{ "MEMORY", TABLE_SIZE, NULL },       { "FAULTS", TABLE_COUNT, NULL }, { "WAITS", TABLE_COUNT, NULL },
		{ "PREEMPTIONS", TABLE_COUNT, NULL },
	};
	struct table *table =
		findings_table(findings, "runs", "runs: each of them", NULL, columns, array_size(columns));

	for (size_t side = 0; table && side < bench->nr_sides; side++)
		for (size_t i = 0; i < bench->sides[side].nr; i++) {
			table_cell(table, command_of(bench, side));
			table_cell_u64(table, i + 1);
			for (size_t figure = 0; figure < BENCH_FIGURES; figure++)
				table_cell_u64(table, bench->sides[side].runs[i].figures[figure]);
		}
}
