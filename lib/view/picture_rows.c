// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which rows a picture has, and in which order. */
#include "lib/view/picture_internal.h"

#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/view/survey_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		[LANE_COUNTER] = PICTURE_COUNTER, [LANE_FUNCTION] = PICTURE_FUNCTION,
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
	case LANE_FUNCTION:
		snprintf(row->name, sizeof(row->name), "  functions %u", lane->depth);
		break;
	case LANE_COUNTER:
		snprintf(row->name, sizeof(row->name), "%s %" PRIu32,
			 lane->depth < array_size(counter_names) ? counter_names[lane->depth] : "counter", lane->owner);
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
					  &(struct lane){ .kind = LANE_TASK, .owner = lane->owner, .of_task = true });
		if (task && sort != PICTURE_BY_PID)
			order.name = lanes_label(lanes, task->label);
		if (task)
			order.key = sort_key(task, sort);
	}
	return order;
}

int picture_arrange(struct picture *picture, enum picture_sort sort, struct fail *fail)
{
	bool ended = survey_progress(picture->whole).ended, good;
	struct picture_row *events;
	const struct lanes *lanes;
	struct order *orders;
	size_t nr, some = 0;

	if (picture->arranged && picture->sort == sort)
		return 0;
	lanes = survey_take(picture->whole);
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
	survey_release(picture->whole);
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
