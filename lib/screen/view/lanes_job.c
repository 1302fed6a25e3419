// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/lanes_job_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/batches.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/timeline/lanes.h"

/*
 * STEP: events for which the lanes are locked. BEYOND: events read behind the window, for the ends of what began in it.
 * COLUMNS: of a whole file, at
 * most.
 */
enum { STEP = 512, BEYOND = 50000, COLUMNS = 8192, CELLS = 200000 };

struct lanes_job {
	struct lanes_job_options options;
	struct reader reader;
	struct lanes *lanes;
	pthread_t thread;
	bool runs; /* there is a thread to wait for */
	pthread_mutex_t lock;
	pthread_cond_t free;
	/* Protected by the lock: */
	struct lanes_job_progress progress;
	atomic_bool wanted, ending;
	uint64_t beyond; /* events behind the window so far */
	struct fail fail;
};

static bool sees(struct lanes_job *lanes_job, const struct event *event)
{
	if (event->ts > lanes_job->options.to && ++lanes_job->beyond > BEYOND)
		return false;
	lanes_see(lanes_job->lanes, event);
	lanes_job->progress.events += event->kind == EVENT_RECORD;
	lanes_job->progress.reached = event->ts;
	return true;
}

/* Shows a few events to the lanes. Whoever wants the lanes comes first. */
static bool show(struct lanes_job *lanes_job, const struct event *events, size_t nr)
{
	bool goes_on = true;

	pthread_mutex_lock(&lanes_job->lock);
	/* Once only: a viewer that asks all the time must not hold it up for ever. */
	if (atomic_load(&lanes_job->wanted))
		pthread_cond_wait(&lanes_job->free, &lanes_job->lock);
	for (size_t i = 0; i < nr && goes_on; i++) {
		batches_ask_ahead(&events[i], events + nr);
		goes_on = sees(lanes_job, &events[i]);
	}
	pthread_mutex_unlock(&lanes_job->lock);
	return goes_on && !atomic_load(&lanes_job->ending);
}

static int read_all(struct lanes_job *lanes_job)
{
	struct batches *batches = NULL;
	const struct event *events = NULL;
	bool goes_on = true;
	int r = batches_new(&lanes_job->reader, &batches, &lanes_job->fail);

	while (!r && goes_on && (r = batches_next(batches, &events, &lanes_job->fail)) > 0) {
		size_t nr = (size_t)r;

		for (size_t at = 0; at < nr && goes_on; at += STEP)
			goes_on = show(lanes_job, events + at, nr - at < STEP ? nr - at : STEP);
		r = 0;
	}
	batches_free(batches);
	return r;
}

static void *run(void *arg)
{
	struct lanes_job *lanes_job = arg;
	int r = read_all(lanes_job);

	pthread_mutex_lock(&lanes_job->lock);
	lanes_end(lanes_job->lanes);
	lanes_job->progress.ended = true;
	lanes_job->progress.failed = r < 0 || lanes_starved(lanes_job->lanes);
	pthread_mutex_unlock(&lanes_job->lock);
	return NULL;
}

/* Part of the window as long again is read before it, so that most of what went on at its start is known. */
static uint64_t begin_of(const struct lanes_job_options *options)
{
	uint64_t length = options->to - options->from;

	return length < options->from ? options->from - length : 0;
}

static int start_reader(struct lanes_job *lanes_job, struct trace *trace, const struct query *query, struct fail *fail)
{
	struct query_manner manner = { .times_only = true };
	struct reader *reader = &lanes_job->reader;
	uint64_t begin = begin_of(&lanes_job->options);
	int r = query_add(query, &manner, trace, reader, fail);

	for (size_t i = 0; !r && i < reader->nr_buffers; i++) {
		struct events_options *window = &reader->buffers[i].window;

		if (window->since < begin)
			window->since = begin;
	}
	if (!r && !reader->nr_buffers)
		r = fail_set(fail, -ENODATA, "the file has no events");
	const struct reader_options reading = { .ahead = lanes_job->options.threads > 1, .tells_ends = true };
	return r ? r : reader_start(reader, &reading, fail);
}

static int start_lanes(struct lanes_job *lanes_job, struct fail *fail)
{
	const struct lanes_job_options *options = &lanes_job->options;
	struct lanes_options lanes = { .length = options->length,
				       .cells_max = options->cells_max,
				       .from = options->from,
				       .to = options->to,
				       .counters = options->counters,
				       .nr_counters = options->nr_counters };
	struct reader *reader = &lanes_job->reader;
	int r = lanes_new(&lanes, reader->buffers[0].context->preempt_rt, &lanes_job->lanes, fail);

	for (size_t i = 0; !r && i < reader->nr_buffers; i++)
		if (!lanes_add_buffer(lanes_job->lanes, (uint16_t)i, reader->buffers[i].context))
			r = fail_memory(fail);
	return r;
}

int lanes_job_start(struct trace *trace, const struct query *query, const struct lanes_job_options *options,
		    struct lanes_job **ret, struct fail *fail)
{
	struct lanes_job *lanes_job = calloc(1, sizeof(*lanes_job));
	int r;

	if (!lanes_job)
		return fail_memory(fail);
	lanes_job->options = *options;
	reader_init(&lanes_job->reader);
	pthread_mutex_init(&lanes_job->lock, NULL);
	pthread_cond_init(&lanes_job->free, NULL);
	r = start_reader(lanes_job, trace, query, fail);
	if (!r && !reader_is_merged(&lanes_job->reader))
		r = fail_set(fail, -EINVAL, "the buffers have different clocks; choose one with -B");
	if (!r)
		r = reader_is_of_one(&lanes_job->reader, fail);
	if (!r)
		r = start_lanes(lanes_job, fail);
	if (!r && pthread_create(&lanes_job->thread, NULL, run, lanes_job))
		r = fail_set(fail, -EAGAIN, "no thread can be started");
	lanes_job->runs = !r;
	if (r)
		lanes_job_free(lanes_job);
	else
		*ret = lanes_job;
	return r;
}

void lanes_job_free(struct lanes_job *lanes_job)
{
	if (!lanes_job)
		return;
	atomic_store(&lanes_job->ending, true);
	if (lanes_job->runs)
		pthread_join(lanes_job->thread, NULL);
	lanes_free(lanes_job->lanes);
	reader_release(&lanes_job->reader);
	pthread_cond_destroy(&lanes_job->free);
	pthread_mutex_destroy(&lanes_job->lock);
	free(lanes_job);
}

struct lanes_job_progress lanes_job_progress(struct lanes_job *lanes_job)
{
	struct lanes_job_progress progress;

	lanes_job_take(lanes_job);
	progress = lanes_job->progress;
	lanes_job_release(lanes_job);
	return progress;
}

const struct lanes_job_options *lanes_job_options(const struct lanes_job *lanes_job)
{
	return &lanes_job->options;
}

const struct lanes *lanes_job_take(struct lanes_job *lanes_job)
{
	atomic_store(&lanes_job->wanted, true);
	pthread_mutex_lock(&lanes_job->lock);
	return lanes_job->lanes;
}

void lanes_job_release(struct lanes_job *lanes_job)
{
	atomic_store(&lanes_job->wanted, false);
	pthread_cond_broadcast(&lanes_job->free);
	pthread_mutex_unlock(&lanes_job->lock);
}

int lanes_job_span(struct trace *trace, const struct query *query, struct lanes_job_options *ret, struct fail *fail)
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
	*ret = (struct lanes_job_options){ .from = extent.first, .to = extent.last, .cells_max = CELLS, .threads = 2 };
	if (!r && reader.buffers[0].window.since > ret->from)
		ret->from = reader.buffers[0].window.since;
	if (!r && reader.buffers[0].window.until < ret->to)
		ret->to = reader.buffers[0].window.until;
	ret->length = lanes_length((ret->to - ret->from) / COLUMNS + 1);
	reader_release(&reader);
	return r;
}

const struct context *lanes_job_context(const struct lanes_job *lanes_job)
{
	return lanes_job->reader.buffers[0].context;
}
