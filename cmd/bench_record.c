// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/bench_record.h"

#include "cmd/analyse_record.h"
#include "cmd/command.h"
#include "cmd/diff_read.h"
#include "cmd/options/reading.h"
#include "lib/analysis/analysis.h"
#include "lib/base/buf.h"
#include "lib/base/dir.h"
#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/record/session.h"
#include "lib/record/timing.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LEN = 32 };

/* Takes the next name of the list. The analysis is NULL if there is none of this name. */
static bool next_analysis(const char **at, char name[NAME_MAX_LEN], const struct analysis_ops **ret)
{
	struct text_word word;

	if (!text_next_word(at, ",", &word))
		return false;
	snprintf(name, NAME_MAX_LEN, "%.*s", (int)word.len, word.at);
	*ret = analysis_named(name);
	return true;
}

int bench_record_for(struct bench_recording *recording, const char *names, struct fail *fail)
{
	cleanup_buf struct buf all = BUF_INIT;
	const struct analysis_ops *ops;
	const char *at = names;
	char name[NAME_MAX_LEN];
	size_t nr = 0;

	while (next_analysis(&at, name, &ops)) {
		if (!ops)
			return fail_set(fail, -EINVAL, "unknown analysis '%s'; the analyses are %s", name,
					analysis_list_text(&all) ? buf_str(&all) : "others");
		if (++nr > ANALYSES_MAX)
			return fail_set(fail, -E2BIG, "more than %d names", ANALYSES_MAX);
	}
	if (!nr)
		return fail_set(fail, -EINVAL, "names of analyses are missing, such as sched,syscalls");
	recording->of = names;
	return 0;
}

/*
 * What these record happens in the tasks that do it. Interrupts, among them the ends of requests, happen on top of any
 * task.
 */
static bool is_by_task(const struct analysis_ops *ops)
{
	static const struct analysis_ops *const by_task[] = { &sched_analysis, &syscalls_analysis, &tasks_analysis,
							      &locks_analysis, &memory_analysis };

	for (size_t i = 0; i < array_size(by_task); i++)
		if (by_task[i] == ops)
			return true;
	return false;
}

static int describe(struct bench_recording *recording, struct fail *fail)
{
	const struct analysis_ops *ops[ANALYSES_MAX];
	const char *at = recording->of;
	char name[NAME_MAX_LEN];
	bool only = true;
	size_t nr = 0;

	for (; nr < ANALYSES_MAX && next_analysis(&at, name, &ops[nr]); nr++)
		only &= is_by_task(ops[nr]);
	return analyse_record_describe(ops, nr, only, &recording->options, fail);
}

/* A folder that exists is taken as it is. */
static int make_folder(const char *path, struct fail *fail)
{
	cleanup_fd int above = -1, made = -1;
	cleanup_free char *leaf = NULL;
	int r = dir_above(AT_FDCWD, path, path, &above, &leaf, fail), failed;

	if (r || !*leaf)
		return r;
	failed = dir_make(above, leaf, &made);
	return failed && failed != -EEXIST ?
		       fail_set(fail, failed, "cannot make the directory '%s': %s", path, dir_error(failed)) :
		       0;
}

int bench_record_start(struct bench_recording *recording, struct fail *fail)
{
	int r;

	if (!recording->of)
		return 0;
	r = describe(recording, fail);
	recording->options.mute = true;
	recording->options.setup.step = NULL;
	return r || !recording->keep ? r : make_folder(recording->keep, fail);
}

static bool is_first(const struct bench_recording *recording)
{
	return !recording->nr[0] && !recording->nr[1];
}

static int record(struct bench_recording *recording, struct timing *ret, struct fail *fail)
{
	struct record_result result;
	int r = session_run(&recording->options, &result, fail);

	*ret = (struct timing){ .times = result.times, .status = result.status, .interrupted = result.interrupted };
	if (!r && workload_wait(result.command, &ret->status))
		r = fail_set(fail, -EINTR, "a signal has ended it");
	recording->lossy += !r && (result.lost || result.cleared);
	if (r && !result.ran && !result.has_status && is_first(recording)) {
		recording->why_not = strdup(fail->text);
		recording->of = NULL;
		r = 0;
	}
	record_result_release(&result);
	return r;
}

int bench_record_run(struct bench_recording *recording, size_t side, char **argv, struct timing *ret, struct fail *fail)
{
	struct trace **trace = &recording->traces[side][recording->nr[side]];
	cleanup_free char *path = NULL, *dir = NULL;
	int r = recording->keep ? 0 : analyse_record_dir(&dir, fail);

	if (r)
		return r;
	if (asprintf(&path, "%s/%s-%02zu.dat", dir ? dir : recording->keep, side ? "new" : "old",
		     recording->nr[side] + 1) < 0) {
		path = NULL;
		return fail_memory(fail);
	}
	recording->options.output = path;
	recording->options.argv = argv;
	r = record(recording, ret, fail);
	recording->options.output = NULL;
	/* The next run would cause the same warnings. */
	recording->options.setup.warn = NULL;
	if (!r && recording->of) {
		r = trace_new(path, trace, fail);
		recording->nr[side] += !r;
	}
	if (dir)
		analyse_record_remove(path, dir);
	return r;
}

static int read_all(const struct bench_recording *recording, struct diff *rows, struct fail *fail)
{
	const struct diff_reading reading = { .of = recording->of, .per = DIFF_PER_RUN };
	struct query query = QUERY_INIT;
	int r = 0;

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; !r && i < recording->nr[side]; i++)
			r = diff_read_one(rows, side, recording->traces[side][i], &query, &reading, fail);
	query_release(&query);
	return r;
}

int bench_record_read(const struct bench_recording *recording, struct bench *bench, struct fail *fail)
{
	struct trace *all[2 * BENCH_RUNS_MAX];
	size_t nr = 0;
	int r;

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < recording->nr[side]; i++)
			all[nr++] = recording->traces[side][i];
	/* With one command there is no new side. */
	r = diff_new(recording->saved ? bench_saved_runs(recording->saved) : recording->nr[0],
		     bench->nr_sides == 2 ? recording->nr[1] : 1, &bench->rows, fail);
	if (r)
		return r;
	if (recording->saved)
		bench_use_rows(bench, recording->saved);
	diff_per(bench->rows, DIFF_PER_RUN, NULL);
	if (bench->nr_sides == 2)
		bench->nr_matches = bench_match(bench->sides[0].command, bench->sides[1].command, bench->matches);
	for (size_t i = 0; i < bench->nr_matches; i++)
		diff_rename(bench->rows, bench->matches[i].new_name, bench->matches[i].old_name);
	r = reading_load_all(all, nr, &(struct reading){ .no_sandbox = false }, fail);
	return r ? r : read_all(recording, bench->rows, fail);
}

void bench_record_release(struct bench_recording *recording)
{
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < recording->nr[side]; i++)
			trace_free(recording->traces[side][i]);
	setup_release(&recording->options.setup);
	free(recording->why_not);
	bench_saved_free(recording->saved);
}
