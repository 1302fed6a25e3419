// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/batches.h"
#include "lib/meaning/reader/extent.h"
#include "lib/meaning/reader/query.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/timeline/lanes.h"
#include "lib/meaning/timeline/timeline.h"
#include "lib/pages/trace/trace.h"
#include "lib/screen/view/bar_internal.h"
#include "lib/screen/view/picture_internal.h"

/*
 * A thread of its own reads all events of a time, and draws them as lanes (lib/meaning/timeline/lanes.h), while the
 * viewer goes on with what is there. Everything is exact when it has finished; until then it is exact up to the time
 * that it has reached, but for slices that have not ended.
 */
struct lanes_job_options {
	/* In units of event::ts. The survey also reads what came shortly before, because it says what was going on. */
	uint64_t from, to;
	uint64_t length; /* of the columns, at least */
	const char *const *counters;
	size_t nr_counters;
	size_t cells_max;
	size_t threads; /* 1: one thread does all; 2: another one reads ahead */
};

struct lanes_job_progress {
	uint64_t events;  /* so far */
	uint64_t reached; /* the time of the last one */
	bool ended;
	bool failed; /* it ended because of an error, or memory ran out: something is missing */
};

static const struct lanes_job_options *lanes_job_options(const struct lanes_job *lanes_job);
static struct lanes_job_progress lanes_job_progress(struct lanes_job *lanes_job);
static void lanes_job_free(struct lanes_job *lanes_job);
static const struct lanes *lanes_job_take(struct lanes_job *lanes_job);
static void lanes_job_release(struct lanes_job *lanes_job);

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
	return r ? r : reader_start(reader, &(struct reader_options){ .ahead = lanes_job->options.threads > 1 }, fail);
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

/* Borrows the trace, which other threads may read at the same time, and the query. */
static int lanes_job_start(struct trace *trace, const struct query *query, const struct lanes_job_options *options,
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

/* Ends the thread. */
static void lanes_job_free(struct lanes_job *lanes_job)
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

static struct lanes_job_progress lanes_job_progress(struct lanes_job *lanes_job)
{
	struct lanes_job_progress progress;

	lanes_job_take(lanes_job);
	progress = lanes_job->progress;
	lanes_job_release(lanes_job);
	return progress;
}

static const struct lanes_job_options *lanes_job_options(const struct lanes_job *lanes_job)
{
	return &lanes_job->options;
}

/* The lanes, which do not change until lanes_job_release(). The thread waits: this is for one frame. */
static const struct lanes *lanes_job_take(struct lanes_job *lanes_job)
{
	atomic_store(&lanes_job->wanted, true);
	pthread_mutex_lock(&lanes_job->lock);
	return lanes_job->lanes;
}

static void lanes_job_release(struct lanes_job *lanes_job)
{
	atomic_store(&lanes_job->wanted, false);
	pthread_cond_broadcast(&lanes_job->free);
	pthread_mutex_unlock(&lanes_job->lock);
}

/* Reads the start and the end of the file, and leaves from a fifth of COLUMNS to all of them between. */
static int lanes_job_span(struct trace *trace, const struct query *query, struct lanes_job_options *ret,
			  struct fail *fail)
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

/* Which rows a picture has, and in which order. */

static struct picture_row *add_row(struct picture *picture, enum picture_row_kind kind, const struct lane *lane,
				   size_t index)
{
	struct picture_row *row = vec_push(picture->rows, picture->nr_rows);

	if (!row)
		return NULL;
	*row = (struct picture_row){ .kind = kind, .lane = index };
	if (lane) {
		row->owner = lane->owner;
		row->of_task = lane->of_task;
		row->busy = lane->busy;
		row->waited = lane->waited;
		row->worst = lane->longest;
		row->worst_at = lane->longest_at;
	}
	return row;
}

static const char *const counter_names[] = { "frequency", "idle state", "memory" };

static bool add_lane(struct picture *picture, const struct lanes *lanes, size_t index)
{
	const struct lane *lane = lanes_at(lanes, index);
	static const enum picture_row_kind kinds[LANE_KINDS] = {
		[LANE_EVENTS] = PICTURE_EVENTS,   [LANE_CPU] = PICTURE_CPU,           [LANE_HARDIRQ] = PICTURE_IRQ,
		[LANE_SOFTIRQ] = PICTURE_IRQ,     [LANE_TASK] = PICTURE_TASK,         [LANE_CALLS] = PICTURE_CALLS,
		[LANE_COUNTER] = PICTURE_COUNTER, [LANE_FUNCTION] = PICTURE_FUNCTION, [LANE_MARK] = PICTURE_MARKS,
		[LANE_ASYNC] = PICTURE_MARKS,     [LANE_PAIR] = PICTURE_PAIRS,
	};
	struct picture_row *row = add_row(picture, kinds[lane->kind], lane, index);

	if (!row)
		return false;
	switch (lane->kind) {
	case LANE_CPU:
		snprintf(row->name, sizeof(row->name), "CPU %" PRIu32, lane->owner);
		break;
	case LANE_HARDIRQ:
		snprintf(row->name, sizeof(row->name), "  interrupts");
		break;
	case LANE_SOFTIRQ:
		snprintf(row->name, sizeof(row->name), "  softirqs");
		break;
	case LANE_TASK:
		snprintf(row->name, sizeof(row->name), "%s-%" PRIu32, lanes_label(lanes, lane->label), lane->owner);
		break;
	case LANE_CALLS:
		snprintf(row->name, sizeof(row->name), "  calls");
		break;
	case LANE_MARK:
		snprintf(row->name, sizeof(row->name), "  marks %u", lane->depth);
		break;
	case LANE_ASYNC:
		snprintf(row->name, sizeof(row->name), "  async marks");
		break;
	case LANE_PAIR:
		snprintf(row->name, sizeof(row->name), "  pairs");
		break;
	case LANE_FUNCTION:
		snprintf(row->name, sizeof(row->name), "  functions %u", lane->depth);
		break;
	case LANE_COUNTER:
		row->marked = lane->depth == TIMELINE_MARKED;
		if (row->marked)
			snprintf(row->name, sizeof(row->name), "%s", lanes_label(lanes, lane->label));
		else
			snprintf(row->name, sizeof(row->name), "%s %" PRIu32,
				 lane->depth < array_size(counter_names) ? counter_names[lane->depth] : "counter",
				 lane->owner);
		break;
	default:
		break;
	}
	return true;
}

/* A row of a lane, and what decides its place. */
struct order {
	size_t lane;
	unsigned group; /* the CPUs, the tasks, the counters */
	uint64_t key;   /* the larger, the earlier */
	const char *name;
	uint32_t owner;
	unsigned place; /* below the first row of its owner */
};

static int by_place(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	int r;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	r = strcmp(x->name, y->name);
	if (r)
		return r;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static uint64_t sort_key(const struct lane *lane, enum picture_sort sort)
{
	switch (sort) {
	case PICTURE_BY_RUN:
		return lane->busy;
	case PICTURE_BY_WAIT:
		return lane->waited;
	case PICTURE_BY_WORST:
		return lane->longest;
	default:
		return 0;
	}
}

static struct order order_of(const struct lanes *lanes, size_t index, enum picture_sort sort)
{
	const struct lane *lane = lanes_at(lanes, index), *task = lane;
	struct order order = { .lane = index, .owner = lane->owner, .name = "" };

	order.place = (unsigned)lane->kind * LANE_DEPTHS + lane->depth;
	if (lane->kind == LANE_COUNTER) {
		order.group = 2;
		order.place = lane->depth;
	} else if (lane->of_task) {
		order.group = 1;
		if (lane->kind != LANE_TASK)
			task = lanes_find(lanes,
					  &(struct lane){ .kind = LANE_TASK, .owner = lane->owner, .of_task = true },
					  NULL);
		if (task && sort != PICTURE_BY_PID)
			order.name = lanes_label(lanes, task->label);
		if (task)
			order.key = sort_key(task, sort);
	}
	return order;
}

int picture_arrange(struct picture *picture, enum picture_sort sort, struct fail *fail)
{
	bool ended = lanes_job_progress(picture->whole).ended, good;
	struct picture_row *events;
	const struct lanes *lanes;
	struct order *orders;
	size_t nr, some = 0;

	if (picture->arranged && picture->sort == sort)
		return 0;
	lanes = lanes_job_take(picture->whole);
	nr = lanes_count(lanes);
	orders = calloc(nr + 1, sizeof(*orders));
	picture->sort = sort;
	picture->nr_rows = 0;
	events = add_row(picture, PICTURE_EVENTS, NULL, 0);
	good = orders && events;
	if (events)
		snprintf(events->name, sizeof(events->name), "events");
	for (size_t i = 0; good && i < nr; i++)
		if (lanes_at(lanes, i)->kind != LANE_EVENTS)
			orders[some++] = order_of(lanes, i, sort);
	if (good)
		qsort(orders, some, sizeof(*orders), by_place);
	for (size_t i = 0; good && i < some; i++)
		good = add_lane(picture, lanes, orders[i].lane);
	lanes_job_release(picture->whole);
	free(orders);
	picture->arranged = good && ended;
	return good ? 0 : fail_memory(fail);
}

size_t picture_rows(const struct picture *picture)
{
	return picture->nr_rows;
}

const struct picture_row *picture_row(const struct picture *picture, size_t index)
{
	return &picture->rows[index];
}

/* What the columns of a row show. */

/* As lane_cell::nr: what the survey of a part did not know. */
enum { FROM_WHOLE = 2 };

#define NAME_NEAR (UINT32_C(1) << 31) /* of a name: it is in the survey of a part */

/* The time at which a column begins; where there is none behind the largest time, that. */
static uint64_t column_time(const struct picture *picture, size_t column)
{
	uint64_t ts;

	return __builtin_mul_overflow(picture->first + column, picture->length, &ts) ? UINT64_MAX : ts;
}

/* The columns of a lane whose own columns are no part of them: each shows the one in which it begins. */
static void rough_columns(const struct picture *picture, const struct lane *lane, struct lane_cell *ret)
{
	uint64_t shown = UINT64_MAX;
	struct lane_cell cell = { .nr = 0 };

	for (size_t i = 0; i < picture->nr; i++) {
		uint64_t column = column_time(picture, i) / lane->length;

		if (column != shown)
			lane_columns(lane, lane->length, column, 1, &cell);
		shown = column;
		ret[i] = cell;
	}
}

/* Adds the cells of one lane to those that are there: for the number of events, a sum over CPUs. */
static void add_cells(struct lane_cell *into, const struct lane_cell *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		into[i].nr |= from[i].nr;
		into[i].count += from[i].count;
		into[i].lost |= from[i].lost;
	}
}

static void columns_of(const struct picture *picture, const struct lane *lane, struct lane_cell *ret)
{
	if (picture->length % lane->length == 0)
		lane_columns(lane, picture->length, picture->first, picture->nr, ret);
	else
		rough_columns(picture, lane, ret);
}

/* The cells of all CPUs' events; `only` is a CPU, or -1. */
static void count_cells(const struct picture *picture, const struct lanes *lanes, int64_t only, struct lane_cell *ret)
{
	struct lane_cell *one = calloc(picture->nr, sizeof(*one));

	memset(ret, 0, picture->nr * sizeof(*ret));
	for (size_t i = 0; one && i < lanes_count(lanes); i++) {
		const struct lane *lane = lanes_at(lanes, i);

		if (lane->kind != LANE_EVENTS || (only >= 0 && lane->owner != (uint32_t)only))
			continue;
		columns_of(picture, lane, one);
		add_cells(ret, one, picture->nr);
	}
	free(one);
}

/* What the survey of a part does not know, because it began before it, the survey of the whole may. */
static void fill_in(struct picture *picture, const struct lane *lane)
{
	uint64_t width = lane->length > picture->length ? lane->length : picture->length;

	columns_of(picture, lane, picture->rough);
	for (size_t i = 0; i < picture->nr; i++) {
		struct lane_cell *rough = &picture->rough[i];

		/* Only a slice that fills the whole of the longer column. */
		if (picture->cells[i].nr || !rough->nr || rough->longest < width)
			continue;
		rough->count = 0;
		rough->busy = rough->busy ? picture->length : 0;
		rough->waited = rough->waited ? picture->length : 0;
		picture->cells[i] = *rough;
		picture->cells[i].nr = FROM_WHOLE;
	}
}

/* Reads the cells of a row into picture->cells. Returns the survey that they are from, and its lane in *ret_lane. */
static struct lanes_job *row_cells(struct picture *picture, const struct picture_row *row, struct lane *ret_lane)
{
	struct lanes_job *lanes_job = picture->whole;
	bool is_events = row->kind == PICTURE_EVENTS, is_near = picture_uses_near(picture);
	const struct lanes *lanes = lanes_job_take(picture->whole);
	char label[TIMELINE_NAME];
	const struct lane *near;

	*ret_lane = is_events ? (struct lane){ .kind = LANE_EVENTS, .length = lanes_coarsest(lanes) } :
				*lanes_at(lanes, row->lane);
	if (!is_near) {
		if (is_events)
			count_cells(picture, lanes, -1, picture->cells);
		else
			columns_of(picture, lanes_at(lanes, row->lane), picture->cells);
		lanes_job_release(picture->whole);
		return lanes_job;
	}
	memset(picture->cells, 0, sizeof(picture->cells));
	lanes_job = picture->near;
	snprintf(label, sizeof(label), "%s", lanes_label(lanes, ret_lane->label));
	lanes_job_release(picture->whole);
	lanes = lanes_job_take(lanes_job);
	if (is_events) {
		count_cells(picture, lanes, -1, picture->cells);
		ret_lane->length = lanes_coarsest(lanes);
	}
	near = is_events ? NULL : lanes_find(lanes, ret_lane, label);
	if (near) {
		columns_of(picture, near, picture->cells);
		ret_lane->length = near->length;
	}
	lanes_job_release(lanes_job);
	if (row->kind == PICTURE_CPU || row->kind == PICTURE_TASK) {
		lanes = lanes_job_take(picture->whole);
		fill_in(picture, lanes_at(lanes, row->lane));
		lanes_job_release(picture->whole);
	}
	return lanes_job;
}

static uint8_t state_of(uint8_t mode)
{
	if (mode == TASK_RUNNING)
		return PICTURE_RUN;
	if (state_waits(mode))
		return PICTURE_WAIT;
	if (mode == TASK_BLOCKED)
		return PICTURE_BLOCKED;
	if (mode == TASK_DEAD)
		return PICTURE_GONE;
	return mode == TASK_SLEEPING ? PICTURE_SLEEP : PICTURE_STOPPED;
}

/* Bars begin at 0, or at the smallest value if that is less. */
static uint8_t value_level(const struct lane *lane, int64_t value)
{
	uint64_t base = lane->smallest < 0 ? (uint64_t)lane->smallest : 0;

	return bar_level((uint64_t)value - base, lane->largest < 0 ? 0 - base : (uint64_t)lane->largest - base);
}

static void mark_cell(const struct picture *picture, const struct lane *lane, const struct lane_cell *cell,
		      uint64_t largest, struct picture_mark *mark)
{
	uint64_t width = picture->length;

	mark->name = cell->label;
	mark->lost = cell->lost;
	switch (lane->kind) {
	case LANE_CPU:
		mark->state = cell->busy ? PICTURE_RUN : PICTURE_IDLE;
		mark->level = bar_level(cell->busy, width);
		break;
	case LANE_TASK:
		mark->state = state_of(cell->mode);
		mark->level = bar_level(mark->state == PICTURE_WAIT ? cell->waited :
					mark->state == PICTURE_RUN  ? cell->busy :
								      cell->longest,
					width);
		break;
	case LANE_EVENTS:
		mark->state = PICTURE_VALUE;
		mark->level = bar_level(cell->count, largest);
		break;
	case LANE_COUNTER:
		mark->state = PICTURE_VALUE;
		mark->level = value_level(lane, (int64_t)cell->busy);
		break;
	default:
		mark->state = PICTURE_RUN;
		mark->level = bar_level(cell->busy ? cell->busy : 1, width);
		break;
	}
}

/* The last value of a counter in a column holds until the next one. */
static void carry_on(const struct picture *picture, const struct lane *lane, struct picture_mark *marks)
{
	const struct lane_cell *last = NULL;

	for (size_t i = 0; lane->kind == LANE_COUNTER && i < picture->nr; i++) {
		if (marks[i].state == PICTURE_VALUE)
			last = &picture->cells[i];
		else if (last && marks[i].state != PICTURE_OUTSIDE)
			marks[i] = (struct picture_mark){ .state = PICTURE_VALUE,
							  .level = value_level(lane, (int64_t)last->longest),
							  .goes_on = true };
	}
}

void picture_marks(struct picture *picture, size_t index, struct picture_mark *ret)
{
	const struct picture_row *row = &picture->rows[index];
	const struct lanes_job_options *span = lanes_job_options(picture->whole);
	struct lane lane;
	struct lanes_job *lanes_job = row_cells(picture, row, &lane);
	struct lanes_job_progress progress = lanes_job_progress(lanes_job);
	uint64_t largest = 1, before = 0;

	for (size_t i = 0; i < picture->nr; i++)
		if (picture->cells[i].count > largest)
			largest = picture->cells[i].count;
	for (size_t i = 0; i < picture->nr; i++) {
		uint64_t from = column_time(picture, i), to = column_time(picture, i + 1);
		const struct lane_cell *cell = &picture->cells[i];
		bool outside = from > span->to || to <= span->from || from == to;
		bool known = !outside && (progress.ended || from <= progress.reached);

		ret[i] = (struct picture_mark){ .state = outside ? PICTURE_OUTSIDE : PICTURE_UNKNOWN,
						.name = LABEL_NONE };
		if (cell->nr && !outside) {
			mark_cell(picture, &lane, cell, largest, &ret[i]);
			ret[i].goes_on = i && picture->cells[i - 1].nr && cell->start == before;
			if (lanes_job == picture->near && cell->nr != FROM_WHOLE && ret[i].name != LABEL_NONE)
				ret[i].name |= NAME_NEAR;
		} else if (known && lane.kind != LANE_CPU && lane.kind != LANE_TASK) {
			ret[i].state = PICTURE_NOTHING;
		} else if (!outside && (to <= lane.born || (lane.died && from >= lane.died))) {
			ret[i].state = PICTURE_GONE;
		} else if (!outside && to <= lane.first) {
			ret[i].state = PICTURE_BEFORE;
		}
		before = cell->start;
	}
	carry_on(picture, &lane, ret);
	if (row->kind == PICTURE_CPU) {
		const struct lanes *lanes = lanes_job_take(lanes_job);

		count_cells(picture, lanes, row->owner, picture->cells);
		lanes_job_release(lanes_job);
		for (size_t i = 0; i < picture->nr; i++)
			ret[i].lost |= picture->cells[i].lost;
	}
}

const char *picture_name(const struct picture *picture, uint32_t name)
{
	bool is_near = name != LABEL_NONE && name & NAME_NEAR;
	struct lanes_job *lanes_job = is_near ? picture->near : picture->whole;
	const char *text;

	if (name == LABEL_NONE || !lanes_job)
		return "";
	text = lanes_label(lanes_job_take(lanes_job), is_near ? name & ~NAME_NEAR : name);
	lanes_job_release(lanes_job);
	return text;
}

struct picture_facts picture_facts(struct picture *picture, size_t index, size_t column)
{
	const struct picture_row *row = &picture->rows[index];
	struct lane lane;
	struct lanes_job *lanes_job = row_cells(picture, row, &lane);
	const struct lane_cell *cell = &picture->cells[column < picture->nr ? column : 0];

	return (struct picture_facts){
		.from = column_time(picture, column),
		.to = column_time(picture, column + 1),
		.start = cell->start,
		.longest = cell->longest,
		.busy = cell->busy,
		.waited = cell->waited,
		.count = cell->count,
		.exact = lanes_job_progress(lanes_job).ended && picture->length % lane.length == 0,
	};
}

/*
 * A survey of a part has columns that are at least CLOSER times as short as those that are shown, so that the next
 * steps closer need no other. A part that is shorter than a PART of the file need not wait for the survey of the whole.
 */
enum { CLOSER = 4, PART = 8, NEAR_CELLS = 150000 };

int picture_new(struct trace *trace, const struct query *query, const char *const *counters, size_t nr_counters,
		struct picture **ret, struct fail *fail)
{
	struct lanes_job_options options;
	struct picture *picture = calloc(1, sizeof(*picture));
	int r;

	if (!picture)
		return fail_memory(fail);
	picture->trace = trace;
	picture->query = query;
	r = lanes_job_span(trace, query, &options, fail);
	options.counters = counters;
	options.nr_counters = nr_counters;
	if (!r)
		r = lanes_job_start(trace, query, &options, &picture->whole, fail);
	if (r)
		picture_free(picture);
	else
		*ret = picture;
	return r;
}

void picture_free(struct picture *picture)
{
	if (!picture)
		return;
	lanes_job_free(picture->whole);
	lanes_job_free(picture->near);
	free(picture->rows);
	free(picture);
}

void picture_span(const struct picture *picture, uint64_t *ret_from, uint64_t *ret_to)
{
	*ret_from = lanes_job_options(picture->whole)->from;
	*ret_to = lanes_job_options(picture->whole)->to;
}

bool picture_progress(struct picture *picture, unsigned *ret_percent, uint64_t *ret_events)
{
	const struct lanes_job_options *options = lanes_job_options(picture->whole);
	struct lanes_job_progress progress = lanes_job_progress(picture->whole);
	uint64_t span = options->to - options->from, done = 0;

	if (progress.reached > options->from)
		done = progress.reached - options->from;
	*ret_events = progress.events;
	*ret_percent = progress.ended || !span ? 100 : (unsigned)((double)done * 100 / (double)span);
	return progress.ended;
}

/* Whether this survey tells about a time up to `to`. */
static bool has_reached(struct lanes_job *lanes_job, uint64_t to)
{
	struct lanes_job_progress progress = lanes_job_progress(lanes_job);

	return progress.ended || progress.reached > to;
}

bool picture_number(struct picture *picture, uint64_t ts, uint64_t *ret_from, uint64_t *ret_number)
{
	const struct lanes *lanes;

	if (!has_reached(picture->whole, ts))
		return false;
	lanes = lanes_job_take(picture->whole);
	*ret_from = ts - ts % lanes_coarsest(lanes);
	*ret_number = 0;
	for (size_t i = 0; i < lanes_count(lanes); i++) {
		const struct lane *lane = lanes_at(lanes, i);

		if (lane->kind != LANE_EVENTS)
			continue;
		for (size_t at = 0; at < lane->nr_cells && lane->cells[at].column < *ret_from / lane->length; at++)
			*ret_number += lane->cells[at].count;
	}
	lanes_job_release(picture->whole);
	return true;
}

bool picture_numbered(struct picture *picture, uint64_t number, uint64_t *ret_from, uint64_t *ret_before)
{
	uint64_t low = 0, high, from, before;

	picture_span(picture, &low, &high);
	if (!has_reached(picture->whole, high))
		return false;
	/* The last column before which there are not more events. */
	*ret_from = low;
	*ret_before = 0;
	while (low <= high) {
		uint64_t ts = low + (high - low) / 2;

		if (!picture_number(picture, ts, &from, &before))
			return false;
		if (before <= number) {
			*ret_from = from;
			*ret_before = before;
			low = ts + 1;
		} else {
			high = ts - 1;
		}
	}
	return true;
}

uint64_t picture_grain(struct picture *picture)
{
	uint64_t length = lanes_coarsest(lanes_job_take(picture->whole));

	lanes_job_release(picture->whole);
	return length;
}

bool picture_suits(struct picture *picture, uint64_t length, size_t nr)
{
	const struct lanes_job_options *whole = lanes_job_options(picture->whole);
	uint64_t grain = picture_grain(picture);

	return length % grain == 0 || length < grain || length < (whole->to - whole->from) / PART / nr;
}

static bool near_has(const struct picture *picture, uint64_t from, uint64_t to)
{
	const struct lanes_job_options *options = picture->near ? lanes_job_options(picture->near) : NULL;

	return options && options->from <= from && options->to >= to && picture->length % options->length == 0;
}

/* Whether the survey of the whole tells enough, or will soon. */
static bool whole_does(struct picture *picture, uint64_t from, uint64_t to)
{
	const struct lanes_job_options *options = lanes_job_options(picture->whole);

	if (picture->length % picture_grain(picture))
		return false;
	return to - from > (options->to - options->from) / PART || has_reached(picture->whole, to);
}

/* The columns of a survey of a part: whole ones make those that are shown. */
static uint64_t near_length(uint64_t length)
{
	uint64_t best = 1;

	for (uint64_t next = 1; next <= length / CLOSER; next = lanes_length(next + 1))
		if (length % next == 0)
			best = next;
	return best;
}

/* The part of the recording that the columns show; false: none. */
static bool looked_at(const struct picture *picture, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct lanes_job_options *whole = lanes_job_options(picture->whole);
	uint64_t from = column_time(picture, 0), to = column_time(picture, picture->nr);

	*ret_from = from < whole->from ? whole->from : from;
	*ret_to = to > whole->to ? whole->to : to;
	return *ret_to > *ret_from;
}

int picture_look(struct picture *picture, uint64_t length, uint64_t first, size_t nr, struct fail *fail)
{
	const struct lanes_job_options *whole = lanes_job_options(picture->whole);
	struct lanes_job_options options = {
		.cells_max = NEAR_CELLS, .threads = 1, .counters = whole->counters, .nr_counters = whole->nr_counters
	};
	uint64_t from, to, half;

	picture->length = length;
	picture->first = first;
	picture->nr = nr < NR_MAX ? nr : NR_MAX;
	if (!looked_at(picture, &from, &to) || near_has(picture, from, to) || whole_does(picture, from, to))
		return 0;
	lanes_job_free(picture->near);
	picture->near = NULL;
	half = (to - from) / 2;
	options.from = from - whole->from > half ? from - half : whole->from;
	options.to = whole->to - to > half ? to + half : whole->to;
	options.length = near_length(length);
	return lanes_job_start(picture->trace, picture->query, &options, &picture->near, fail);
}

bool picture_uses_near(struct picture *picture)
{
	uint64_t from, to;

	return looked_at(picture, &from, &to) && near_has(picture, from, to) && !whole_does(picture, from, to);
}

bool picture_settled(struct picture *picture)
{
	if (picture_uses_near(picture))
		return lanes_job_progress(picture->near).ended;
	return has_reached(picture->whole, column_time(picture, picture->nr));
}
