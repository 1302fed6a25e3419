// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/stats/diff_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/text.h"

#define LINE_COLUMNS(X)                                                                                                \
	X("OF", TEXT, "table", 0, table_cell_mem, line->name, (size_t)(tab - line->name))                              \
	X("ROW", TEXT, NULL, KEEP, table_cell, tab + 1)                                                                \
	X("FIGURE", TEXT, NULL, 0, table_cell, diff_metric_name(line->metric))                                         \
	X("OLD", TEXT, "old_text", KEEP, put_figure, diff, line, 0)                                                    \
	X("NEW", TEXT, "new_text", KEEP, put_figure, diff, line, 1)                                                    \
	X("CHANGE %", NUMBER, "change_percent", 0, put_percent, line->known && !line->alone && test->old > 0,          \
	  test->change)                                                                                                \
	X("FROM", NUMBER, "from_percent", 0, put_percent, bounded, test->low)                                          \
	X("TO", NUMBER, "to_percent", 0, put_percent, bounded, test->high)                                             \
	X("IS", TEXT, "verdict", 0, table_cell,                                                                        \
	  line->alone      ? line->counts[0] ? "old" : "new" :                                                         \
	  !line->tested    ? "?" :                                                                                     \
	  !line->changed   ? "~" :                                                                                     \
	  test->change > 0 ? "+" :                                                                                     \
			     "-")                                                                                      \
	X("SEES %", NUMBER, "sees_percent", SPARE, put_percent, line->tested && !line->changed && bounded, test->sees) \
	X("OLD N", COUNT, "old_n", SPARE, table_cell_u64, line->counts[0])                                             \
	X("NEW N", COUNT, "new_n", SPARE, table_cell_u64, line->counts[1])                                             \
	X("OLD VALUE", NUMBER, "old", DATA, put_value, has(line, 0), test->old, digits)                                \
	X("NEW VALUE", NUMBER, "new", DATA, put_value, has(line, 1), test->new, digits)                                \
	X("P", NUMBER, "p", DATA, put_value, line->tested, test->p, 6)

static const struct table_column columns[] = COLUMNS(LINE_COLUMNS);

/* Small numbers keep two digits. */
static void put_number(struct table *table, double value, const char *unit, const char *suffix)
{
	char text[TEXT_HUMAN];

	if (value >= 1000 && value < 1e18) {
		table_cellf(table, "%s%s%s", text_count(text, (uint64_t)llrint(value)), unit, suffix);
		return;
	}
	table_cellf(table,
		    value >= 10              ? "%.0f%s%s" :
		    value > 0 && value < 0.1 ? "%.2g%s%s" :
					       "%.2f%s%s",
		    value, unit, suffix);
}

/* Whether the side has a value, which may be 0. */
static bool has(const struct diff_line *line, size_t side)
{
	return line->known && (!line->alone || line->counts[side]);
}

static void put_figure(struct table *table, const struct diff *diff, const struct diff_line *line, size_t side)
{
	double value = side ? line->test.new : line->test.old;
	enum diff_metric metric = line->metric;
	const char *suffix = diff_is_per_unit(metric) ? diff_units_suffix(diff) : "";
	char text[TEXT_HUMAN];

	if (!has(line, side))
		table_cell(table, line->known ? "-" : "");
	else if (metric == DIFF_RATE)
		put_number(table, value, "", suffix);
	else if (metric == DIFF_TOTAL && value > 0 && value < 10)
		put_number(table, value, " ns", suffix);
	else
		table_cellf(table, "%s%s", text_time(text, (uint64_t)llrint(value)), suffix);
}

static void put_percent(struct table *table, bool known, double part)
{
	/* A ratio can be arbitrarily large, but a table cell cannot show such a number. */
	double percent = part * 1000;

	if (!known || !(percent > -1e12 && percent < 1e12))
		table_cell(table, "-");
	else
		table_cell_decimal(table, llrint(percent), 1);
}

static void put_value(struct table *table, bool known, double value, unsigned digits)
{
	if (known)
		table_cell_decimal(table, llrint(fmin(value * pow(10, digits), 1e18)), digits);
	else
		table_cell(table, "-");
}

static void put_line(struct table *table, const struct diff *diff, const struct diff_line *line)
{
	unsigned digits = diff->per == DIFF_PER_EVENT && diff_is_per_unit(line->metric) ? 6 : 3;
	const struct diff_test *test = &line->test;
	const char *tab = strchr(line->name, '\t');
	bool bounded = diff_is_bounded(test);

	LINE_COLUMNS(CELL)
}

static struct table *add_table(bool several, struct findings *findings)
{
	const char *title = several ? "changes: + grew, - shrank, ~ no change that a test bears out, ? too little to "
				      "tell; what certainly costs or saves the most time first, then what may" :
				      "changes: + grew and - shrank so that it exceeds what one run can prove, ~ one "
				      "run cannot tell, ? too little to tell, old or new: only in that file; what "
				      "certainly costs or saves the most time first, then what may";

	return findings_table(findings, "changes", title, NULL, columns);
}

void diff_shape(struct findings *findings)
{
	(void)add_table(true, findings);
}

static void put_lines(const struct diff_judging *judging, struct findings *findings)
{
	struct table *table = add_table(judging->diff->several, findings);

	if (!table)
		return;
	for (size_t i = 0; i < judging->nr; i++)
		put_line(table, judging->diff, &judging->lines[i]);
	if (judging->options->top < judging->nr)
		findings->items[findings->nr - 1].left_away = table_keep(table, (size_t)judging->options->top);
}

/* Adds what the analyses said about the first file of each side. */
static void tell_of_files(const struct diff *diff, enum diff_limit limit, struct buf *line, bool *failed)
{
	for (size_t side = 0; side < 2; side++) {
		const struct buf *said = &diff->sides[side].runs[0].limits[limit];

		if (said->len && !buf_addf(line, "%s%s: %.*s", line->len ? "; " : "", side ? "new" : "old",
					   (int)said->len, said->data))
			*failed = true;
	}
}

static void tell_limits(const struct diff_judging *judging, size_t changed, struct findings *findings)
{
	const struct diff *diff = judging->diff;
	uint64_t tested = 0;
	const char *release = diff->sides[0].runs[0].release;

	for (size_t i = 0; i < judging->nr; i++)
		tested += judging->lines[i].tested;
	findings_note(findings, "%s figure%s tested, %s change%s; a change is one of %.1f %% or more; %s",
		      text_count((char[TEXT_HUMAN]){ 0 }, tested), tested == 1 ? " was" : "s were",
		      text_count((char[TEXT_HUMAN]){ 0 }, changed), text_plural(changed), judging->options->least * 100,
		      diff->several ? "of a figure, chance makes one in at most 5 % of comparisons" :
				      "of the others, one run cannot tell");
	diff_tell_units(diff, findings);
	for (size_t i = 0; i < diff->sides[1].nr; i++)
		if (strcmp(diff->sides[1].runs[i].release, release) != 0) {
			findings_note(findings, "the kernels differ: %s and %s", release,
				      diff->sides[1].runs[i].release);
			break;
		}
	tell_of_files(diff, DIFF_CUT, &findings->cut, &findings->failed);
	tell_of_files(diff, DIFF_BROKEN, &findings->broken, &findings->failed);
	tell_of_files(diff, DIFF_MISSING, &findings->missing, &findings->failed);
	if (judging->few)
		findings_note(findings, "%s row%s happened fewer than %d times on a side, too few to be tested",
			      text_count((char[TEXT_HUMAN]){ 0 }, judging->few), text_plural(judging->few), DIFF_N_MIN);
	if (judging->dense)
		findings_note(
			findings,
			"%s row%s happened in fewer than %d of the %d blocks of a side's time, too few to be tested",
			text_count((char[TEXT_HUMAN]){ 0 }, judging->dense), text_plural(judging->dense),
			DIFF_BLOCKS_MIN, PASS_BLOCKS);
	if (judging->alone[0] || judging->alone[1])
		findings_note(findings, "%s row%s only in the old file, %s only in the new one",
			      text_count((char[TEXT_HUMAN]){ 0 }, judging->alone[0]),
			      judging->alone[0] == 1 ? " is" : "s are",
			      text_count((char[TEXT_HUMAN]){ 0 }, judging->alone[1]));
	if (judging->cut)
		findings_note(findings,
			      "%" PRIu64
			      " row%s not tested: there are more values than are kept; record for a shorter time",
			      judging->cut, judging->cut == 1 ? " is" : "s are");
	if (diff->several && (diff->sides[0].nr < 4 || diff->sides[1].nr < 4))
		findings_note(findings, "with less than 4 files a side no test can find a change: "
					"4 and 4 at least, 5 and 5 or more for many rows");
	else if (judging->many)
		findings_note(findings, "for %zu row%s there are too few files a side: %zu of each can tell%s",
			      judging->rows, text_plural(judging->rows), judging->needed,
			      judging->rows > 1 ? ", or fewer of fewer rows (--row)" : "");
	if (!diff->several)
		findings_note(findings, "one file a side shows how two recordings differ, not two programs: "
					"4 files a side or more show those");
}

void diff_put_table(const struct diff_judging *judging, size_t changed, struct findings *findings)
{
	put_lines(judging, findings);
	tell_limits(judging, changed, findings);
}
