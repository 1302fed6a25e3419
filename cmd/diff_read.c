// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/diff_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/command.h"
#include "cmd/options/reading.h"
#include "formats/export/interval_tables.h"
#include "lib/answers/frame/analysis.h"
#include "lib/answers/stats/diff_machines.h"
#include "lib/files/lake/lake.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/pool.h"
#include "lib/ground/base/sandbox.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/query/selection.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/reader.h"
#include "lib/pages/trace/trace.h"

enum diff_per diff_per_read(const char *text)
{
	if (!strcmp(text, "second"))
		return DIFF_PER_SECOND;
	if (!strcmp(text, "run"))
		return DIFF_PER_RUN;
	return strcmp(text, "cpu-second") != 0 ? DIFF_PER_EVENT : DIFF_PER_CPU_SECOND;
}

/* weft's own tasks have no rows, so their events are not counted. */
static int per_choose(const char *text, const struct context *context, struct selection **ret, struct fail *fail)
{
	uint64_t *left_out;
	int r = selection_new(context, ret, fail);

	if (!r)
		r = selection_leave_out_self(*ret, &left_out, fail);
	if (!r)
		r = strpbrk(text, "=<>&!~ ") ? selection_add_filter(*ret, text, false, fail) :
					       selection_add_events(*ret, text, fail);
	if (r) {
		selection_free(*ret);
		*ret = NULL;
	}
	return r;
}

int diff_per_choose(const char *text, const struct reader *reader, struct diff_per_events *ret, struct fail *fail)
{
	bool found = false;
	int r = 0;

	*ret = (struct diff_per_events){ .of_buffers = calloc(reader->nr_buffers, sizeof(struct selection *)) };
	if (!ret->of_buffers)
		return fail_memory(fail);
	ret->nr = reader->nr_buffers;
	for (size_t i = 0; i < ret->nr && (!r || r == -ENOENT); i++) {
		r = per_choose(text, reader->buffers[i].context, &ret->of_buffers[i], fail);
		found |= !r;
	}
	return r == -ENOENT && found ? 0 : r;
}

void diff_per_release(struct diff_per_events *events)
{
	for (size_t i = 0; i < events->nr; i++)
		selection_free(events->of_buffers[i]);
	free(events->of_buffers);
	*events = (struct diff_per_events){ .of_buffers = NULL };
}

bool diff_per_is(void *arg, const struct event *event)
{
	const struct diff_per_events *events = arg;
	struct selection *selection = event->buffer < events->nr ? events->of_buffers[event->buffer] : NULL;

	if (!selection)
		return false;
	if (event->kind == EVENT_RECORD)
		return selection_keep(selection, event);
	selection_gap(selection, event);
	return false;
}

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
	/* To follow all calls takes long: that of weft why is for those who name it. */
	return ops != &summary_analysis &&
	       (strcmp(of, "summary") ? is_in(of, ops->name) : ops->in_summary && ops != &why_analysis);
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

bool diff_are_lakes(const struct diff_files files[2])
{
	struct stat st;

	for (size_t side = 0; side < 2; side++)
		if (files[side].nr != 1 || stat(files[side].paths[0], &st) || !S_ISDIR(st.st_mode))
			return false;
	return true;
}

static const char *const lake_tables[] = { "recording", "rollup" };

struct lake_side {
	struct diff_machines *machines;
	bool is_new;
	struct {
		struct lake_input *at;
		size_t nr;
	} tables[array_size(lake_tables)];
};

static bool take_figure(void *arg, const struct interval_figure *figure)
{
	const struct lake_side *side = arg;

	if (!figure->kind.len)
		return diff_machines_recording(side->machines, side->is_new, figure->host, figure->release,
					       figure->dur);
	return diff_machines_bucket(side->machines, side->is_new,
				    &(struct diff_bucket){ .host = figure->host,
							   .kind = figure->kind,
							   .key = figure->key,
							   .detail = figure->detail,
							   .middle = figure->middle,
							   .count = figure->count,
							   .sum = figure->sum });
}

static int read_lake(const char *path, struct lake_side *side, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; i < array_size(lake_tables); i++)
		for (size_t k = 0; !r && k < side->tables[i].nr; k++) {
			r = interval_figures(side->tables[i].at[k].fd, i, take_figure, side, fail);
			if (r)
				r = fail_in(fail, r, "'%s/%s/%s'", path, lake_tables[i], side->tables[i].at[k].name);
		}
	return r;
}

int diff_read_lakes(const struct diff_files files[2], const struct reading *reading, struct diff **ret,
		    struct diff_machines **ret_machines, struct fail *fail)
{
	struct lake_side sides[2] = { { .is_new = false }, { .is_new = true } };
	struct stat st;
	int r = diff_machines_new(ret_machines, fail);

	for (size_t side = 0; side < 2; side++) {
		sides[side].machines = *ret_machines;
		for (size_t i = 0; !r && i < array_size(lake_tables); i++)
			r = lake_files(files[side].paths[0], lake_tables[i], &sides[side].tables[i].at,
				       &sides[side].tables[i].nr, fail);
	}
	if (!r && fstat(sides[0].tables[0].at[0].fd, &st))
		r = fail_set(fail, -errno, "cannot read '%s': %s", files[0].paths[0], strerror(errno));
	if (!r && !reading->no_sandbox)
		r = sandbox_enter(st.st_uid, st.st_gid, fail);
	for (size_t side = 0; side < 2; side++) {
		if (!r)
			r = read_lake(files[side].paths[0], &sides[side], fail);
		for (size_t i = 0; i < array_size(lake_tables); i++)
			lake_inputs_free(sides[side].tables[i].at, sides[side].tables[i].nr);
	}
	return r ? r : diff_machines_end(*ret_machines, ret, fail);
}
