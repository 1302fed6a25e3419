// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
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
#include "lib/meaning/reader/query.h"
#include "lib/meaning/timeline/lanes.h"
#include "lib/meaning/timeline/timeline.h"
#include "lib/pages/trace/trace.h"
#include "lib/screen/view/bar_internal.h"
#include "lib/screen/view/lanes_job_internal.h"
#include "lib/screen/view/picture_internal.h"
#include "lib/screen/view/vcpu_rows_internal.h"

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

/* Below the row of a guest's CPU, that of the thread of the host which it is. */
static bool add_vcpu(struct picture *picture, const struct vcpus *vcpus, const struct lane *lane, size_t index)
{
	int32_t pid = vcpus && lane->kind == LANE_CPU ? vcpus_thread(vcpus, lane->owner) : 0;
	struct picture_row *row = pid ? add_row(picture, PICTURE_VCPU, NULL, index) : NULL;
	const char *name = pid ? vcpus_name(vcpus, lane->owner) : "";

	if (row) {
		row->owner = lane->owner;
		snprintf(row->name, sizeof(row->name), "  %s-%" PRId32, *name ? name : "vCPU", pid);
	}
	return row || !pid;
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
	const struct vcpus *vcpus;
	struct order *orders;
	const char *why;
	size_t nr, some = 0;

	ended &= picture_host(picture, &why) != PICTURE_HOST_READ;
	vcpus = picture_vcpus(picture);
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
		good = add_lane(picture, lanes, orders[i].lane) &&
		       add_vcpu(picture, vcpus, lanes_at(lanes, orders[i].lane), orders[i].lane);
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

static const uint8_t of_modes[VCPU_MODES] = { [VCPU_RAN] = PICTURE_RUN,
					      [VCPU_WAITED] = PICTURE_WAIT,
					      [VCPU_EXIT] = PICTURE_EXIT,
					      [VCPU_HALTED] = PICTURE_SLEEP,
					      [VCPU_UNKNOWN] = PICTURE_UNKNOWN };

static void vcpu_marks(const struct picture *picture, const struct vcpus *vcpus, uint32_t cpu, struct picture_mark *ret)
{
	const struct lanes_job_options *span = lanes_job_options(picture->whole);
	struct vcpu_most most;

	for (size_t i = 0; i < picture->nr; i++) {
		uint64_t from = column_time(picture, i), to = column_time(picture, i + 1);

		ret[i] = (struct picture_mark){ .state = PICTURE_OUTSIDE, .name = LABEL_NONE };
		if (from > span->to || to <= span->from || from == to)
			continue;
		most = vcpu_rows_most(vcpus, cpu, from, to);
		ret[i].state = of_modes[most.mode];
		ret[i].level = bar_level(most.time, to - from);
	}
}

/* After the marks of a guest's CPU, whose cells are picture->cells: where its vCPU did not run meanwhile. */
static void mark_tasks(const struct picture *picture, const struct vcpus *vcpus, const struct lane *lane,
		       struct picture_mark *marks)
{
	for (size_t i = 0; i < picture->nr && picture->length % lane->length == 0; i++) {
		uint64_t from = column_time(picture, i), to = column_time(picture, i + 1);
		struct vcpu_most off;
		bool sure;

		if (marks[i].state != PICTURE_RUN ||
		    !vcpu_rows_off(vcpus, lane->owner, from, to, picture->cells[i].busy, &off, &sure))
			continue;
		marks[i].state = sure ? of_modes[off.mode] : PICTURE_UNSURE;
		marks[i].level = bar_level(off.time, to - from);
	}
}

void picture_marks(struct picture *picture, size_t index, struct picture_mark *ret)
{
	const struct picture_row *row = &picture->rows[index];
	const struct vcpus *vcpus = picture_vcpus(picture);
	const struct lanes_job_options *span = lanes_job_options(picture->whole);
	struct lanes_job_progress progress;
	struct lanes_job *lanes_job;
	struct lane lane;
	uint64_t largest = 1, before = 0;

	if (row->kind == PICTURE_VCPU && vcpus) {
		vcpu_marks(picture, vcpus, row->owner, ret);
		return;
	}
	lanes_job = row_cells(picture, row, &lane);
	progress = lanes_job_progress(lanes_job);
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
	if (row->kind == PICTURE_CPU && vcpus)
		mark_tasks(picture, vcpus, &lane, ret);
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

/* Adds what the vCPU of a row did in the column. */
static void add_vcpu_facts(const struct picture_row *row, const struct vcpus *vcpus, struct picture_facts *facts)
{
	uint64_t exits[VCPU_REASONS + 1] = { 0 };
	unsigned most = VCPU_REASONS;
	uint64_t longest = 0;

	facts->has_vcpu = true;
	vcpus_time(vcpus, row->owner, facts->from, facts->to, &facts->vcpu, exits);
	for (unsigned i = 0; i < VCPU_REASONS; i++)
		if (exits[i] > longest) {
			longest = exits[i];
			most = i;
		}
	facts->exit = vcpus_reason(vcpus, most);
	if (row->kind == PICTURE_VCPU) {
		facts->exact = true;
		facts->start = vcpus_span(vcpus, row->owner, facts->from).from;
	}
}

struct picture_facts picture_facts(struct picture *picture, size_t index, size_t column)
{
	const struct picture_row *row = &picture->rows[index];
	const struct vcpus *vcpus = picture_vcpus(picture);
	struct picture_facts facts;
	struct lane lane;
	struct lanes_job *lanes_job;
	const struct lane_cell *cell;

	facts = (struct picture_facts){ .from = column_time(picture, column), .to = column_time(picture, column + 1) };
	if (row->kind != PICTURE_VCPU) {
		lanes_job = row_cells(picture, row, &lane);
		cell = &picture->cells[column < picture->nr ? column : 0];
		facts.start = cell->start;
		facts.longest = cell->longest;
		facts.busy = cell->busy;
		facts.waited = cell->waited;
		facts.count = cell->count;
		facts.exact = lanes_job_progress(lanes_job).ended && picture->length % lane.length == 0;
	}
	if (vcpus && (row->kind == PICTURE_VCPU || row->kind == PICTURE_CPU))
		add_vcpu_facts(row, vcpus, &facts);
	return facts;
}

/*
 * A survey of a part has columns that are at least CLOSER times as short as those that are shown, so that the next
 * steps closer need no other. A part that is shorter than a PART of the file need not wait for the survey of the whole.
 */
enum { CLOSER = 4, PART = 8, NEAR_CELLS = 150000 };

int picture_new(struct trace *trace, const struct query *query, const struct picture_options *options,
		struct picture **ret, struct fail *fail)
{
	struct lanes_job_options survey;
	struct picture *picture = calloc(1, sizeof(*picture));
	int r;

	if (!picture)
		return fail_memory(fail);
	picture->trace = trace;
	picture->query = query;
	if (options->host) {
		picture->of_guest = *query;
		picture->of_guest.instance = options->guest;
		picture->query = &picture->of_guest;
	}
	r = lanes_job_span(trace, picture->query, &survey, fail);
	survey.counters = options->counters;
	survey.nr_counters = options->nr_counters;
	if (!r)
		r = lanes_job_start(trace, picture->query, &survey, &picture->whole, fail);
	if (!r && options->host)
		r = host_job_start(options->host, lanes_job_context(picture->whole), &picture->host, fail);
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
	host_job_free(picture->host);
	lanes_job_free(picture->whole);
	lanes_job_free(picture->near);
	free(picture->rows);
	free(picture);
}

enum picture_host picture_host(const struct picture *picture, const char **ret_why)
{
	const struct vcpus *vcpus;

	*ret_why = NULL;
	if (!picture->host)
		return PICTURE_NO_HOST;
	if (!host_job_ended(picture->host, &vcpus, ret_why))
		return PICTURE_HOST_READ;
	return vcpus ? PICTURE_HOST_KNOWN : PICTURE_HOST_FAILED;
}

const struct vcpus *picture_vcpus(const struct picture *picture)
{
	const struct vcpus *vcpus = NULL;
	const char *why;

	if (picture->host)
		(void)host_job_ended(picture->host, &vcpus, &why);
	return vcpus;
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
	const char *why;

	if (picture_host(picture, &why) == PICTURE_HOST_READ)
		return false;
	if (picture_uses_near(picture))
		return lanes_job_progress(picture->near).ended;
	return has_reached(picture->whole, column_time(picture, picture->nr));
}
