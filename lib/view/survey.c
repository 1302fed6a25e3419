// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/survey_internal.h"

#include "lib/base/fail.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/reader/batches.h"
#include "lib/reader/extent.h"
#include "lib/reader/query.h"
#include "lib/reader/reader.h"
#include "lib/timeline/lanes.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/*
 * STEP: events for which the lanes are locked. BEYOND: events read behind the window, for the ends of what began in it.
 * COLUMNS: of a whole file.
 */
enum { STEP = 512, BEYOND = 50000, COLUMNS = 4096, CELLS = 200000, SHIFT_MAX = 62 };

struct survey {
	struct survey_options options;
	struct reader reader;
	struct lanes *lanes;
	pthread_t thread;
	bool runs; /* there is a thread to wait for */
	pthread_mutex_t lock;
	pthread_cond_t free;
	/* Protected by the lock: */
	struct survey_progress progress;
	atomic_bool wanted, ending;
	uint64_t beyond; /* events behind the window so far */
	struct fail fail;
};

static bool sees(struct survey *survey, const struct event *event)
{
	if (event->ts > survey->options.to && ++survey->beyond > BEYOND)
		return false;
	lanes_see(survey->lanes, event);
	survey->progress.events += event->kind == EVENT_RECORD;
	survey->progress.reached = event->ts;
	return true;
}

/* Shows a few events to the lanes. Whoever wants the lanes comes first. */
static bool show(struct survey *survey, const struct event *events, size_t nr)
{
	bool goes_on = true;

	pthread_mutex_lock(&survey->lock);
	/* Once only: a viewer that asks all the time must not hold it up for ever. */
	if (atomic_load(&survey->wanted))
		pthread_cond_wait(&survey->free, &survey->lock);
	for (size_t i = 0; i < nr && goes_on; i++)
		goes_on = sees(survey, &events[i]);
	pthread_mutex_unlock(&survey->lock);
	return goes_on && !atomic_load(&survey->ending);
}

static int read_all(struct survey *survey)
{
	struct batches *batches = NULL;
	const struct event *events = NULL;
	bool goes_on = true;
	int r = batches_new(&survey->reader, &batches, &survey->fail);

	while (!r && goes_on && (r = batches_next(batches, &events, &survey->fail)) > 0) {
		size_t nr = (size_t)r;

		for (size_t at = 0; at < nr && goes_on; at += STEP)
			goes_on = show(survey, events + at, nr - at < STEP ? nr - at : STEP);
		r = 0;
	}
	batches_free(batches);
	return r;
}

static void *run(void *arg)
{
	struct survey *survey = arg;
	int r = read_all(survey);

	pthread_mutex_lock(&survey->lock);
	lanes_end(survey->lanes);
	survey->progress.ended = true;
	survey->progress.failed = r < 0 || lanes_starved(survey->lanes);
	pthread_mutex_unlock(&survey->lock);
	return NULL;
}

/* Part of the window as long again is read before it, so that most of what went on at its start is known. */
static uint64_t begin_of(const struct survey_options *options)
{
	uint64_t length = options->to - options->from;

	return length < options->from ? options->from - length : 0;
}

static int start_reader(struct survey *survey, struct trace *trace, const struct query *query, struct fail *fail)
{
	struct query_manner manner = { .times_only = true };
	struct reader *reader = &survey->reader;
	uint64_t begin = begin_of(&survey->options);
	int r = query_add(query, &manner, trace, reader, fail);

	for (size_t i = 0; !r && i < reader->nr_buffers; i++) {
		struct events_options *window = &reader->buffers[i].window;

		if (window->since < begin)
			window->since = begin;
	}
	if (!r && !reader->nr_buffers)
		r = fail_set(fail, -ENODATA, "the file has no events");
	return r ? r : reader_start(reader, &(struct reader_options){ .ahead = survey->options.threads > 1 }, fail);
}

static int start_lanes(struct survey *survey, struct fail *fail)
{
	const struct survey_options *options = &survey->options;
	struct lanes_options lanes = {
		.shift = options->shift, .cells_max = options->cells_max, .from = options->from, .to = options->to
	};
	struct reader *reader = &survey->reader;
	int r = lanes_new(&lanes, reader->buffers[0].context->preempt_rt, &survey->lanes, fail);

	for (size_t i = 0; !r && i < reader->nr_buffers; i++)
		if (!lanes_add_buffer(survey->lanes, (uint16_t)i, reader->buffers[i].context))
			r = fail_memory(fail);
	return r;
}

int survey_start(struct trace *trace, const struct query *query, const struct survey_options *options,
		 struct survey **ret, struct fail *fail)
{
	struct survey *survey = calloc(1, sizeof(*survey));
	int r;

	if (!survey)
		return fail_memory(fail);
	survey->options = *options;
	reader_init(&survey->reader);
	pthread_mutex_init(&survey->lock, NULL);
	pthread_cond_init(&survey->free, NULL);
	r = start_reader(survey, trace, query, fail);
	if (!r && !reader_is_merged(&survey->reader))
		r = fail_set(fail, -EINVAL, "the buffers have different clocks; choose one with -B");
	if (!r)
		r = reader_is_of_one(&survey->reader, fail);
	if (!r)
		r = start_lanes(survey, fail);
	if (!r && pthread_create(&survey->thread, NULL, run, survey))
		r = fail_set(fail, -EAGAIN, "no thread can be started");
	survey->runs = !r;
	if (r)
		survey_free(survey);
	else
		*ret = survey;
	return r;
}

void survey_free(struct survey *survey)
{
	if (!survey)
		return;
	atomic_store(&survey->ending, true);
	if (survey->runs)
		pthread_join(survey->thread, NULL);
	lanes_free(survey->lanes);
	reader_release(&survey->reader);
	pthread_cond_destroy(&survey->free);
	pthread_mutex_destroy(&survey->lock);
	free(survey);
}

struct survey_progress survey_progress(struct survey *survey)
{
	struct survey_progress progress;

	survey_take(survey);
	progress = survey->progress;
	survey_release(survey);
	return progress;
}

const struct survey_options *survey_options(const struct survey *survey)
{
	return &survey->options;
}

const struct lanes *survey_take(struct survey *survey)
{
	atomic_store(&survey->wanted, true);
	pthread_mutex_lock(&survey->lock);
	return survey->lanes;
}

void survey_release(struct survey *survey)
{
	atomic_store(&survey->wanted, false);
	pthread_cond_broadcast(&survey->free);
	pthread_mutex_unlock(&survey->lock);
}

int survey_span(struct trace *trace, const struct query *query, struct survey_options *ret, struct fail *fail)
{
	struct extent extent = { .known = false };
	struct reader reader;
	int r;

	reader_init(&reader);
	r = query_add(query, &(struct query_manner){ .times_only = true }, trace, &reader, fail);
	if (!r && !reader.nr_buffers)
		r = fail_set(fail, -ENODATA, "the file has no events");
	if (!r)
		r = extent_find(reader.buffers[0].context, &extent, fail);
	if (!r && !extent.found)
		r = fail_set(fail, -ENODATA, "the file has no events");
	*ret = (struct survey_options){ .from = extent.first, .to = extent.last, .cells_max = CELLS, .threads = 2 };
	if (!r && reader.buffers[0].window.since > ret->from)
		ret->from = reader.buffers[0].window.since;
	if (!r && reader.buffers[0].window.until < ret->to)
		ret->to = reader.buffers[0].window.until;
	while (!r && ret->shift < SHIFT_MAX && (ret->to - ret->from) >> ret->shift > COLUMNS)
		ret->shift++;
	reader_release(&reader);
	return r;
}
