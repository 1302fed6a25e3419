// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/diff_read.h"

#include "cmd/command.h"
#include "cmd/diff_per.h"
#include "cmd/options/reading.h"
#include "lib/analysis/analysis.h"
#include "lib/base/pool.h"
#include "lib/base/text.h"
#include "lib/reader/extent.h"
#include "lib/reader/reader.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <string.h>

static bool is_in(const char *list, const char *name)
{
	struct text_word word;

	while (text_next_word(&list, ",", &word))
		if (text_word_is(word, name))
			return true;
	return false;
}

/* The summary has no rows of its own: its name stands for the analyses that it has. */
static bool is_chosen(const char *of, const struct analysis_ops *ops)
{
	return ops != &summary_analysis && (strcmp(of, "summary") ? is_in(of, ops->name) : ops->in_summary);
}

static size_t choose(const char *of, const struct analysis_ops *chosen[ANALYSES_MAX])
{
	const struct analysis_ops *ops;
	size_t nr = 0;

	for (size_t i = 0; (ops = analysis_at(i)); i++)
		if (is_chosen(of, ops))
			chosen[nr++] = ops;
	return nr;
}

/* Adds what is asked for. *ret is the part of the file's time, which is different in each file. */
static int add_buffers(const struct query *query, struct trace *trace, struct reader *reader, struct extent *ret,
		       struct fail *fail)
{
	int r = query_add(query, &(struct query_manner){ .times_only = true }, trace, reader, fail);

	if (!r && !reader->nr_buffers)
		r = fail_set(fail, -ENODATA, "it has no events");
	if (!r)
		r = extent_find(reader->buffers[0].context, ret, fail);
	if (r)
		return r;
	if (reader->buffers[0].window.since > ret->first)
		ret->first = reader->buffers[0].window.since;
	if (reader->buffers[0].window.until < ret->last)
		ret->last = reader->buffers[0].window.until;
	return 0;
}

int diff_read_one(struct diff *diff, bool is_new, struct trace *trace, const struct query *query,
		  const struct diff_reading *reading, struct fail *fail)
{
	const struct analysis_ops *ops[ANALYSES_MAX];
	size_t nr = choose(reading->of, ops);
	struct extent extent = { .known = false };
	struct diff_per_events events = { .of_buffers = NULL };
	struct diff_part part = {
		.filter = &reading->filter, .options = reading->options, .is_unit = diff_per_is, .arg = &events
	};
	struct reader reader;
	struct pool *pool = NULL;
	const char *damage, *path;
	int r;

	reader_init(&reader);
	r = add_buffers(query, trace, &reader, &extent, fail);
	if (!r && reading->per == DIFF_PER_EVENT)
		r = diff_per_choose(reading->event, &reader, &events, fail);
	if (!r)
		r = reading_start(&reader, trace, true, &pool, fail);
	part.first = extent.first;
	part.last = extent.last;
	part.elapsed = reading->elapsed;
	if (!r)
		r = diff_add(diff, is_new, &reader, ops, nr, &part, fail);
	/* A damaged file is an error, because comparing a part of it with a whole file would mislead. */
	damage = r && r != -ENODATA ? NULL : reader_damage(&reader, &path);
	damage = damage || (r && r != -ENODATA) ? damage : trace_damage(trace);
	if (damage)
		r = fail_set(fail, -EBADMSG, "it is damaged: %s", damage);
	diff_per_release(&events);
	reader_release(&reader);
	pool_free(pool);
	return r;
}

/* Nothing can be opened after entering the sandbox, so all files are opened before, and none is read until then. */
static int load(struct trace **traces, const struct diff_files files[2], const struct reading *reading,
		struct fail *fail)
{
	size_t nr = 0;
	int r = 0;

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; !r && i < files[side].nr; i++)
			r = trace_new(files[side].paths[i], &traces[nr++], fail);
	return r ? r : reading_load_all(traces, nr, reading, fail);
}

/* Says in which of the files it is, unless the message does. */
static int name_file(const char *path, int r, struct fail *fail)
{
	size_t len = strlen(path);

	return *fail->text == '\'' && !strncmp(fail->text + 1, path, len) && fail->text[len + 1] == '\'' ?
		       r :
		       fail_in(fail, r, "'%s'", path);
}

int diff_read(struct diff *diff, const struct diff_files files[2], const struct diff_reading *reading,
	      struct fail *fail)
{
	struct trace *traces[2 * DIFF_RUNS_MAX] = { NULL };
	size_t at = 0;
	int r = load(traces, files, reading->reading, fail);

	diff_per(diff, reading->per, reading->event);
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < files[side].nr; i++, at++) {
			if (!r) {
				r = diff_read_one(diff, side, traces[at], &files[side].query, reading, fail);
				if (r && !fail->usage)
					r = name_file(files[side].paths[i], r, fail);
			}
			trace_free(traces[at]);
		}
	return r;
}
