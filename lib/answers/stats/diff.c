// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/stats/diff_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/reader.h"

enum { BUDGET = 4 * 1000 * 1000 }; /* how many values of a file are kept */

int diff_new(size_t nr_old, size_t nr_new, struct diff **ret, struct fail *fail)
{
	struct diff *diff;

	if (!nr_old || !nr_new || nr_old > DIFF_RUNS_MAX || nr_new > DIFF_RUNS_MAX)
		return fail_set(fail, -EINVAL, "from 1 to %d files a side can be compared, not %zu with %zu",
				DIFF_RUNS_MAX, nr_old, nr_new);
	diff = calloc(1, sizeof(*diff));
	if (!diff)
		return fail_memory(fail);
	diff->sides[0].wanted = nr_old;
	diff->sides[1].wanted = nr_new;
	diff->several = nr_old > 1 || nr_new > 1;
	*ret = diff;
	return 0;
}

void diff_free(struct diff *diff)
{
	if (!diff)
		return;
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < diff->sides[side].nr; i++)
			diff_run_release(&diff->sides[side].runs[i]);
	free(diff->draws);
	free(diff);
}

void diff_rename(struct diff *diff, const char *new_name, const char *old_name)
{
	if (diff->nr_renamings < DIFF_RENAMES_MAX)
		diff->renamings[diff->nr_renamings++] = (struct diff_renaming){ .from = new_name, .to = old_name };
}

static int take_findings(struct diff *diff, bool is_new, struct diff_run *run, struct pass *pass, size_t nr_ops,
			 struct fail *fail)
{
	size_t found = 0;
	int r = 0;

	for (size_t i = 0; !r && i < nr_ops; i++) {
		struct findings findings;

		findings_init(&findings);
		r = pass_finish(pass, i, &findings, fail);
		if (!r)
			r = diff_run_take(diff, is_new, run, &findings, fail);
		found += !r;
		/* With several analyses, one may have nothing to report. */
		if (r == -ENODATA && (nr_ops > 1))
			r = 0;
		findings_release(&findings);
	}
	if (!r && !found)
		r = fail_set(
			fail, -ENODATA,
			"there is nothing in it that could be compared: no calls, switches, interrupts, functions, "
			"requests of disks or waits for locks");
	return r;
}

int diff_add(struct diff *diff, bool is_new, struct reader *reader, const struct analysis_ops *const *ops,
	     size_t nr_ops, const struct diff_part *part, struct fail *fail)
{
	static const struct pass_filter all;
	struct diff_side *side = &diff->sides[is_new];
	struct diff_run *run = &side->runs[side->nr++];
	struct pass pass;
	struct diff_counting counting = { .part = part, .pass = &pass, .units = &run->units };
	const struct reader_consumer count = { diff_units_see, &counting };
	int r = pass_init(&pass, reader, part->filter ? part->filter : &all, fail);

	pass.samples = BUDGET;
	pass_cut(&pass, part->first, part->last);
	snprintf(run->release, sizeof(run->release), "%s", reader->buffers[0].context->release);
	for (size_t i = 0; !r && i < nr_ops; i++)
		r = pass_add(&pass, ops[i], nr_ops == 1 ? part->options : NULL, fail);
	if (!r)
		r = pass_run(&pass, diff->per == DIFF_PER_EVENT ? &count : NULL, fail);
	if (!r)
		r = diff_units_finish(diff, &counting, fail);
	if (!r)
		r = take_findings(diff, is_new, run, &pass, nr_ops, fail);
	if (!r && part->elapsed)
		r = diff_run_take_elapsed(run, part->last > part->first ? part->last - part->first : 0, fail);
	if (!r)
		r = diff_run_settle(run, diff->several, fail);
	pass_release(&pass);
	return r;
}

/* Without calls there is no percentile, and with few no p99. The rate of calls that never happened is 0. */
static bool has_figure(const struct diff_row *row, enum diff_metric metric)
{
	if (metric == DIFF_P99)
		return row && row->count >= SAMPLES_P99_MIN;
	return row || metric != DIFF_P50;
}

/*
 * The time by which the figures differ, whether a test bears it out or not. The time of a task in a state has that of
 * its calls, which say more.
 */
static double moved(const struct diff_line *line, const struct diff_test *rate, const struct diff_test *total)
{
	double by = fabs(line->test.new - line->test.old), most = fmax(rate->old, rate->new);

	if (line->metric == DIFF_P50 || line->metric == DIFF_P99)
		by *= fmin(rate->old, rate->new) / (line->metric == DIFF_P50 ? 1 : 100);
	else if (line->metric == DIFF_RATE && most > 0 && fmax(total->old, total->new) > 0)
		by *= fmax(total->old, total->new) / most;
	return line->known ? by * (diff_row_is_state(line->name) ? 0.25 : 1) : 0;
}

/*
 * Computes what a row's change costs or saves at least, in ns per second or other unit. A row that is only counted,
 * without a time, is taken as 1 ns each time.
 */
static void weigh(struct diff_line *line, const struct diff_test *rate_test, const struct diff_test *total_test)
{
	const struct diff_test *test = &line->test;
	double least = diff_excludes_none(test) ? fmin(fabs(test->low), fabs(test->high)) : 0;
	double rate = rate_test->old, total = total_test->old > 0 ? total_test->old : rate;

	line->moved = moved(line, rate_test, total_test);
	if (line->metric == DIFF_P50)
		line->importance = rate * test->old * least;
	else if (line->metric == DIFF_P99)
		line->importance = rate / 100 * test->old * least;
	else
		line->importance = total * least;
}

static void add_line(struct diff_judging *judging, const struct diff_line *line)
{
	struct diff_line *added;

	if (judging->options->metrics && !(judging->options->metrics & 1u << line->metric))
		return;
	added = vec_push(judging->lines, judging->nr);
	if (added)
		*added = *line;
	judging->failed |= !added;
}

static bool enough(const struct diff_line *line)
{
	uint64_t least = line->metric == DIFF_P99 ? SAMPLES_P99_MIN : DIFF_N_MIN;

	return line->counts[0] >= least && line->counts[1] >= least;
}

/* Returns whether the row happened in so few blocks of time that draws of blocks cannot tell how much it varies. */
static bool is_in_few_blocks(const struct diff_row *row)
{
	bool seen[PASS_BLOCKS] = { false };
	size_t nr = 0;

	for (size_t i = 0; i < row->nr && nr < DIFF_BLOCKS_MIN; i++) {
		nr += !seen[row->values[i].block];
		seen[row->values[i].block] = true;
	}
	return nr < DIFF_BLOCKS_MIN;
}

static void judge_pair(struct diff_judging *judging, const struct diff_row *old, const struct diff_row *new)
{
	const struct diff_run *runs[2] = { &judging->diff->sides[0].runs[0], &judging->diff->sides[1].runs[0] };
	struct diff_test tests[DIFF_METRICS];

	memset(tests, 0, sizeof(tests));
	for (size_t i = 0; i < DIFF_METRICS; i++) {
		enum diff_metric metric = (enum diff_metric)i;

		tests[i].old = diff_figure(runs[0], old, metric);
		tests[i].new = diff_figure(runs[1], new, metric);
		tests[i].change =
			(tests[i].new > 0 ? tests[i].new : diff_nothing(judging->diff, runs[1], metric)) /
				(tests[i].old > 0 ? tests[i].old : diff_nothing(judging->diff, runs[0], metric)) -
			1;
		tests[i].p = 1;
	}
	if (!old->whole || !new->whole)
		judging->cut++;
	else if (old->count < DIFF_N_MIN || new->count < DIFF_N_MIN)
		judging->few++;
	else if (is_in_few_blocks(old) || is_in_few_blocks(new))
		judging->dense++;
	else
		diff_bootstrap(judging->diff, old, new, tests, &judging->failed);
	for (size_t i = 0; i < DIFF_METRICS; i++) {
		struct diff_line line = { .name = old->name,
					  .metric = (enum diff_metric)i,
					  .test = tests[i],
					  .counts = { old->count, new->count },
					  .known = has_figure(old, (enum diff_metric)i) &&
						   has_figure(new, (enum diff_metric)i) };

		if (!old->sum && !new->sum && line.metric != DIFF_RATE)
			continue;
		line.tested = tests[i].bounded && enough(&line) &&
			      (!diff_is_per_unit(line.metric) || diff_units_enough(judging->diff));
		weigh(&line, &tests[DIFF_RATE], &tests[DIFF_TOTAL]);
		add_line(judging, &line);
	}
}

/* A row of one side stands beside nothing: its time, or how often it happened. */
static void put_alone(struct diff_judging *judging, size_t side, const struct diff_row *row)
{
	const struct diff_run *run = &judging->diff->sides[side].runs[0];
	unsigned metrics = judging->options->metrics;
	bool timed = row->sum && (!metrics || metrics & 1u << DIFF_TOTAL);
	struct diff_line line = {
		.name = row->name, .metric = timed ? DIFF_TOTAL : DIFF_RATE, .known = true, .alone = true
	};
	double *value = side ? &line.test.new : &line.test.old;

	judging->alone[side] += !row->shows;
	line.counts[side] = row->count;
	*value = diff_figure(run, row, line.metric);
	line.moved = diff_figure(run, row, row->sum ? DIFF_TOTAL : DIFF_RATE) * (row->shows ? 0.25 : 1);
	add_line(judging, &line);
}

/* Gets a figure of all runs of a side that have it, and adds up how often the row happened. Returns their number. */
static size_t take_runs(const struct diff_side *side, const char *name, enum diff_metric metric,
			double values[DIFF_RUNS_MAX], uint64_t *count, bool *timed)
{
	size_t nr = 0;

	for (size_t i = 0; i < side->nr; i++) {
		const struct diff_row *row = diff_run_find(&side->runs[i], name);

		if (has_figure(row, metric))
			values[nr++] = diff_figure(&side->runs[i], row, metric);
		*count += row ? row->count : 0;
		*timed |= row && row->sum;
	}
	return nr;
}

/* The elapsed time is one number, and the time that a task spent in a state has no percentiles. */
static bool has_line(const struct diff_line *line, bool timed)
{
	if (diff_row_is_elapsed(line->name))
		return line->metric == DIFF_TOTAL;
	if (line->metric == DIFF_P50 || line->metric == DIFF_P99)
		return timed && (!line->known || line->test.old > 0 || line->test.new > 0);
	return timed || line->metric == DIFF_RATE;
}

/* Tests a row over several runs per side. In a run without the row, it happened 0 times. */
static void judge_runs(struct diff_judging *judging, const char *name)
{
	double values[2][DIFF_RUNS_MAX];
	size_t nr[2];
	bool timed = false;
	struct diff_line lines[DIFF_METRICS];
	const struct diff *diff = judging->diff;

	memset(lines, 0, sizeof(lines));
	for (size_t metric = DIFF_METRICS; metric-- > 0;) {
		struct diff_line *line = &lines[metric];

		*line = (struct diff_line){ .name = name, .metric = (enum diff_metric)metric };
		for (size_t side = 0; side < 2; side++)
			nr[side] = take_runs(&diff->sides[side], name, line->metric, values[side], &line->counts[side],
					     &timed);
		line->known = nr[0] && nr[1];
		line->same = diff_is_same(values[0], nr[0], values[1], nr[1]);
		if (line->known)
			diff_ranks(values[0], nr[0], values[1], nr[1],
				   diff_nothing(diff, &diff->sides[0].runs[0], line->metric), &line->test);
		/* Where the runs are counted, one time of each is enough. */
		line->tested = line->known && (diff->per == DIFF_PER_RUN || enough(line));
		weigh(line, &lines[DIFF_RATE].test, &lines[DIFF_TOTAL].test);
	}
	judging->few += !lines[DIFF_RATE].tested;
	for (size_t i = 0; i < DIFF_METRICS; i++)
		if (has_line(&lines[i], timed))
			add_line(judging, &lines[i]);
}

/*
 * The rows of one figure are a group. The elapsed time is one of its own, because it is asked for by itself: no other
 * row makes its test stricter, and 4 runs a side can show that it has changed.
 */
enum { GROUP_ELAPSED = DIFF_METRICS, ELAPSED_COULD_BE = 3 /* percent */ };

static int group_of(const struct diff_line *line)
{
	return diff_row_is_elapsed(line->name) ? GROUP_ELAPSED : (int)line->metric;
}

static int compare_groups(const void *a, const void *b)
{
	return group_of(a) - group_of(b);
}

/* The correction of Holm, over the lines of one group. */
static size_t choose_of_one(struct diff_judging *judging, struct diff_line *lines, size_t nr)
{
	const struct diff_side *sides = judging->diff->sides;
	double could_be = group_of(&lines[0]) == GROUP_ELAPSED ? ELAPSED_COULD_BE : DIFF_COULD_BE;
	double least_p = judging->diff->several ? diff_least_p(sides[0].nr, sides[1].nr) : 0;
	struct diff_test **tests = calloc(nr, sizeof(struct diff_test *));
	size_t tested = 0, changed = 0;

	for (size_t i = 0; tests && i < nr; i++)
		if (lines[i].tested && !lines[i].same)
			tests[tested++] = &lines[i].test;
	judging->failed |= !tests || !diff_holm(tests, tested, could_be / 100, least_p);
	for (size_t i = 0; i < nr; i++) {
		struct diff_line *line = &lines[i];

		if (!line->tested || line->same)
			continue;
		line->changed = line->test.passes && fabs(line->test.change) >= judging->options->least;
		line->tested = line->test.could_pass;
		if (!line->tested && tested > judging->rows) {
			judging->rows = tested;
			judging->needed = diff_runs_needed(tested, could_be / 100);
		}
		judging->many |= !line->tested;
		changed += line->changed;
	}
	free(tests);
	return changed;
}

static size_t choose(struct diff_judging *judging)
{
	size_t changed = 0, end;

	if (judging->nr > 1)
		qsort(judging->lines, judging->nr, sizeof(*judging->lines), compare_groups);
	for (size_t begin = 0; begin < judging->nr; begin = end) {
		for (end = begin;
		     end < judging->nr && group_of(&judging->lines[end]) == group_of(&judging->lines[begin]); end++)
			;
		changed += choose_of_one(judging, judging->lines + begin, end - begin);
	}
	return changed;
}

static int compare_importance(const void *a, const void *b)
{
	const struct diff_line *first = a, *second = b;
	int order;

	if (first->changed != second->changed)
		return first->changed ? -1 : 1;
	if (first->changed && first->importance != second->importance)
		return first->importance > second->importance ? -1 : 1;
	if (first->moved != second->moved)
		return first->moved > second->moved ? -1 : 1;
	if (first->tested != second->tested)
		return first->tested ? -1 : 1;
	order = strcmp(first->name, second->name);
	return order ? order : (int)first->metric - (int)second->metric;
}

static bool wants(const struct diff_judging *judging, const char *name)
{
	return !judging->options->row || text_glob(judging->options->row, strchr(name, '\t') + 1);
}

/* Tests each row that both sides have; with several files a side, each row that any file has. */
static void judge_rows(struct diff_judging *judging)
{
	const struct diff *diff = judging->diff;

	for (size_t side = 0; side < 2; side++)
		for (size_t run = 0; run < diff->sides[side].nr; run++)
			for (size_t i = 0; i < diff->sides[side].runs[run].nr; i++) {
				const struct diff_row *row = &diff->sides[side].runs[run].rows[i],
						      *other = diff_run_find(&diff->sides[!side].runs[0], row->name);
				bool known = !wants(judging, row->name);

				/* The row was tested already, with the first file that has it. */
				for (size_t j = 0; !known && diff->several && j < side * diff->sides[0].nr + run; j++)
					known = diff_run_find(j < diff->sides[0].nr ?
								      &diff->sides[0].runs[j] :
								      &diff->sides[1].runs[j - diff->sides[0].nr],
							      row->name);
				if (known)
					continue;
				if (diff->several)
					judge_runs(judging, row->name);
				else if (!other)
					put_alone(judging, side, row);
				else if (!side && !row->shows)
					judge_pair(judging, row, other);
			}
}

static const char *row_of(const struct diff_line *line)
{
	return strchr(line->name, '\t') + 1;
}

static bool is_about(const struct diff_condition *condition, const struct diff_line *line)
{
	return !line->alone && (unsigned)line->metric == condition->figure && text_glob(condition->row, row_of(line));
}

static bool meets(const struct diff_condition *condition, const struct diff_line *line)
{
	if (!line->changed || !is_about(condition, line))
		return false;
	return condition->below ? line->test.change < condition->change : line->test.change > condition->change;
}

/* Finds out whether a figure was judged that the condition is about, and whether one was tested. */
static bool judges(const struct diff_judging *judging, const struct diff_condition *condition, bool *tested)
{
	bool judged = false;

	*tested = false;
	for (size_t i = 0; i < judging->nr; i++) {
		const struct diff_line *line = &judging->lines[i];

		if (!is_about(condition, line))
			continue;
		judged = true;
		*tested |= line->tested;
	}
	return judged;
}

static int check_met(const struct diff_judging *judging, const struct diff_condition *condition, struct fail *fail)
{
	for (size_t j = 0; j < judging->nr; j++) {
		const struct diff_line *line = &judging->lines[j];

		if (meets(condition, line))
			return fail_set(fail, -ERANGE,
					"'%s': %s changed by %+.1f %% [%+.1f, %+.1f], "
					"which --fail-if '%s' does not allow",
					row_of(line), diff_metric_name(line->metric), line->test.change * 100,
					line->test.low * 100, line->test.high * 100, condition->text);
	}
	return 0;
}

/* A condition that no tested row could meet holds nothing back: a script must not take it for one that was not met. */
static int check_testable(const struct diff_judging *judging, const struct diff_condition *condition, struct fail *fail)
{
	const char *metric = diff_metric_name((enum diff_metric)condition->figure);
	bool tested;

	if (!judges(judging, condition, &tested))
		return fail_set(fail, -ENODATA, "--fail-if '%s' cannot be checked: both sides have no row '%s' with %s",
				condition->text, condition->row, metric);
	if (!tested)
		return fail_set(fail, -ENODATA,
				"--fail-if '%s' cannot be checked: %s of '%s' was not tested, as the lines below the "
				"table say",
				condition->text, metric, condition->row);
	return 0;
}

static int check_conditions(const struct diff_judging *judging, struct fail *fail)
{
	const struct diff_options *options = judging->options;
	int r = 0;

	for (size_t i = 0; !r && i < options->nr_conditions; i++)
		r = check_met(judging, &options->conditions[i], fail);
	for (size_t i = 0; !r && i < options->nr_conditions; i++)
		r = check_testable(judging, &options->conditions[i], fail);
	return r;
}

int diff_finish(struct diff *diff, const struct diff_options *options, struct findings *findings, struct fail *fail)
{
	struct diff_judging judging = { .diff = diff, .options = options };
	size_t changed;
	int r = 0;

	if (!diff->several && !diff_draw(diff))
		return fail_memory(fail);
	judge_rows(&judging);
	changed = choose(&judging);
	if (judging.nr > 1)
		qsort(judging.lines, judging.nr, sizeof(*judging.lines), compare_importance);
	diff_put_table(&judging, changed, findings);
	if (options->row && !judging.nr)
		findings_note(findings, "both sides have no row '%s'", options->row);
	if (judging.failed || findings->failed)
		r = fail_memory(fail);
	if (!r)
		r = check_conditions(&judging, fail);
	free(judging.lines);
	return r;
}
