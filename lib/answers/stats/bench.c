// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/stats/bench_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"

static uint64_t ns_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_usec * 1000;
}

void bench_run_set(struct bench_run *run, uint64_t wall_ns, const struct rusage *usage)
{
	*run = (struct bench_run){ .figures = {
					   [BENCH_WALL] = wall_ns,
					   [BENCH_CPU] = ns_of(usage->ru_utime) + ns_of(usage->ru_stime),
					   [BENCH_USER] = ns_of(usage->ru_utime),
					   [BENCH_SYSTEM] = ns_of(usage->ru_stime),
					   [BENCH_MEMORY] = (uint64_t)usage->ru_maxrss * 1024,
					   [BENCH_FAULTS] = (uint64_t)usage->ru_minflt + (uint64_t)usage->ru_majflt,
					   [BENCH_WAITS] = (uint64_t)usage->ru_nvcsw,
					   [BENCH_PREEMPTIONS] = (uint64_t)usage->ru_nivcsw,
				   } };
}

void bench_run_set_own(struct bench_run *run, const struct rusage *usage)
{
	run->least_memory = (uint64_t)usage->ru_maxrss * 1024;
}

/* Less than this cannot be told apart. */
static double least_memory(const struct bench *bench)
{
	uint64_t least = 0;

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < bench->sides[i].nr; j++)
			if (bench->sides[i].runs[j].least_memory > least)
				least = bench->sides[i].runs[j].least_memory;
	return (double)least;
}

static bool judge(const struct bench *bench, struct bench_line lines[BENCH_FIGURES])
{
	const struct bench_side *old = &bench->sides[0], *new = &bench->sides[1];
	double least_p = diff_least_p(old->nr, new->nr), least = least_memory(bench);
	struct diff_test *all[BENCH_FIGURES];

	for (size_t i = 0; i < BENCH_FIGURES; i++) {
		double values[2][BENCH_RUNS_MAX] = { { 0 } };

		bench_values(old, (enum bench_figure)i, values[0]);
		bench_values(new, (enum bench_figure)i, values[1]);
		for (size_t j = 0; i == BENCH_MEMORY && j < BENCH_RUNS_MAX; j++) {
			values[0][j] = fmax(values[0][j], least);
			values[1][j] = fmax(values[1][j], least);
		}
		lines[i] = (struct bench_line){ .same = false };
		diff_ranks(values[0], old->nr, values[1], new->nr, 0.5, &lines[i].test);
		all[i] = &lines[i].test;
	}
	return diff_holm(all, BENCH_USER, BENCH_MAIN / 1000.0, least_p) &&
	       diff_holm(all + BENCH_USER, BENCH_FIGURES - BENCH_USER, BENCH_OTHER / 1000.0, least_p);
}

/* What a condition is about: a figure, or one of the rows. */
enum { OF_TIME = BENCH_FIGURES, OF_CALLS, OF_ALL };

int bench_condition_parse(const char *text, struct diff_condition *ret, struct fail *fail)
{
	const char *names[OF_ALL] = { [OF_TIME] = "time", [OF_CALLS] = "calls" };
	struct diff_condition condition;
	int r;

	for (size_t i = 0; i < BENCH_FIGURES; i++)
		names[i] = bench_names[i].name;
	r = diff_condition_read(text, names, OF_ALL, &condition, fail);
	if (!r && condition.figure < BENCH_FIGURES && strcmp(condition.row, "*") != 0)
		r = fail_set(fail, -EINVAL, "'%s': a figure has no rows", text);
	if (!r)
		*ret = condition;
	return r;
}

/* -ERANGE: the line has changed by more. */
static int meet(const struct bench_line *line, const struct diff_condition *condition, const char *name,
		struct fail *fail)
{
	const struct diff_test *test = &line->test;

	if (test->passes && (condition->below ? test->change < condition->change : test->change > condition->change))
		return fail_set(fail, -ERANGE,
				"%s changed by %+.1f %% [%+.1f, %+.1f], which --fail-if '%s' does not allow", name,
				test->change * 100, test->low * 100, test->high * 100, condition->text);
	return 0;
}

static int check(const struct bench_line *line, const struct diff_condition *condition, struct fail *fail)
{
	const char *name = bench_names[condition->figure].name;
	int r = meet(line, condition, name, fail);

	if (!r && !line->test.could_pass)
		return fail_set(fail, -ENODATA, "--fail-if '%s' cannot be checked: so few runs prove no change of %s",
				condition->text, name);
	return r;
}

static int check_rows(const struct bench_rows *rows, const struct diff_condition *condition, struct fail *fail)
{
	bool tested = false;
	int r = 0;

	for (size_t i = 0; !r && i < rows->nr; i++) {
		const struct bench_row *row = &rows->rows[i];
		const struct bench_line *line = condition->figure == OF_TIME ? &row->time : &row->calls;

		if (!text_glob(condition->row, strchr(row->name, '\t') + 1))
			continue;
		tested |= line->test.could_pass || line->same;
		r = meet(line, condition, strchr(row->name, '\t') + 1, fail);
	}
	if (!r && !tested)
		r = fail_set(fail, -ENODATA,
			     "--fail-if '%s' cannot be checked: no row '%s' was recorded in enough runs to be tested",
			     condition->text, condition->row);
	return r;
}

static void tell_memory(const struct bench *bench, const struct diff_test *test, struct findings *findings)
{
	double least = least_memory(bench);
	char text[TEXT_HUMAN];

	if (least > 0 && (test->old <= least || test->new <= least))
		findings_note(findings, "memory: less than %s cannot be told, because weft itself takes so much",
			      text_size(text, (uint64_t)least));
}

static int compare_commands(const struct bench *bench, const struct bench_options *options, struct findings *findings,
			    struct fail *fail)
{
	struct bench_line lines[BENCH_FIGURES];
	struct bench_rows rows = { .nr = 0 };
	int r = 0;

	if (!judge(bench, lines))
		return fail_memory(fail);
	bench_put_figures(lines, findings);
	tell_memory(bench, &lines[BENCH_MEMORY].test, findings);
	if (bench->rows && bench->rows->sides[0].nr && bench->rows->sides[1].nr) {
		r = bench_judge_rows(bench, &rows, fail);
		if (!r)
			bench_put_rows(&rows, options->top, findings);
	}
	for (size_t i = 0; !r && i < options->nr_conditions; i++) {
		const struct diff_condition *condition = &options->conditions[i];

		r = condition->figure < BENCH_FIGURES ? check(&lines[condition->figure], condition, fail) :
							check_rows(&rows, condition, fail);
	}
	bench_rows_release(&rows);
	return r;
}

void bench_shape(struct findings *findings)
{
	static const struct bench bench = { .nr_sides = 0 };
	static const struct bench_line lines[BENCH_FIGURES];
	static const struct bench_rows rows = { .nr = 0 };

	bench_put_times(&bench, findings);
	bench_put_figures(lines, findings);
	bench_put_rows(&rows, 0, findings);
	bench_put_runs(&bench, findings);
}

int bench_finish(const struct bench *bench, const struct bench_options *options, struct findings *findings,
		 struct fail *fail)
{
	int r = 0;

	findings->without_events = true;
	bench_put_times(bench, findings);
	if (bench->nr_sides == 2)
		r = compare_commands(bench, options, findings, fail);
	if (options->each_run)
		bench_put_runs(bench, findings);
	return findings->failed ? fail_memory(fail) : r;
}
