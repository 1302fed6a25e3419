// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/timeline/lanes_internal.h"

#include "lib/base/fail.h"
#include "lib/base/vec.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/event/tasks.h"
#include "lib/timeline/timeline.h"

#include <stdlib.h>
#include <string.h>

static void see_slice(void *arg, const struct timeline_slice *slice);

int lanes_new(const struct lanes_options *options, bool preempt_rt, struct lanes **ret, struct fail *fail)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes));
	struct timeline_calls calls = { .arg = lanes, .wanted = UINT32_MAX, .slice = see_slice, .one_wait = true };

	if (!lanes)
		return fail_memory(fail);
	lanes->options = *options;
	for (size_t i = 0; i < array_size(lanes->halves); i++)
		lanes->halves[i].shift = options->shift;
	u64_map_init(&lanes->by_key, sizeof(uint32_t));
	u64_map_init(&lanes->known, sizeof(uint32_t));
	labels_init(&lanes->labels);
	lanes->timeline = timeline_new(&calls, preempt_rt);
	if (!lanes->timeline) {
		lanes_free(lanes);
		return fail_memory(fail);
	}
	*ret = lanes;
	return 0;
}

void lanes_free(struct lanes *lanes)
{
	if (!lanes)
		return;
	for (size_t i = 0; i < lanes->nr; i++)
		free(lanes->lanes[i].cells);
	free(lanes->lanes);
	free(lanes->named);
	u64_map_release(&lanes->by_key);
	u64_map_release(&lanes->known);
	labels_release(&lanes->labels);
	timeline_free(lanes->timeline);
	free(lanes);
}

bool lanes_add_buffer(struct lanes *lanes, uint16_t buffer, const struct context *context)
{
	if (!lanes->first)
		lanes->first = context;
	return timeline_add(lanes->timeline, buffer, context);
}

static uint64_t lane_key(enum lane_kind kind, uint16_t buffer, uint32_t owner, uint8_t depth, bool of_task)
{
	return (uint64_t)kind << 57 | (uint64_t)depth << 49 | (uint64_t)of_task << 48 | (uint64_t)buffer << 32 | owner;
}

static struct lane *lane_of(struct lanes *lanes, enum lane_kind kind, uint16_t buffer, uint32_t owner, uint8_t depth,
			    bool of_task)
{
	uint32_t *index = u64_map_get(&lanes->by_key, lane_key(kind, buffer, owner, depth, of_task));
	struct lane *lane;

	if (index && *index)
		return &lanes->lanes[*index - 1];
	lane = index ? vec_push(lanes->lanes, lanes->nr) : NULL;
	if (!lane) {
		lanes->starved = true;
		return NULL;
	}
	*index = (uint32_t)lanes->nr;
	*lane = (struct lane){
		.kind = kind, .buffer = buffer, .owner = owner, .depth = depth, .of_task = of_task, .label = LABEL_NONE
	};
	lane->shift = lanes_half(lanes, lane)->shift;
	return lane;
}

static uint32_t add_label(struct lanes *lanes, const char *text, size_t len)
{
	bool is_new;
	uint32_t label = labels_add(&lanes->labels, text, len, &is_new);

	lanes->starved |= label == LABEL_NONE;
	return label;
}

/* The label of a slice; for slices that have a number that tells their name it is made once. */
static uint32_t label_of(struct lanes *lanes, const struct timeline_slice *slice)
{
	char text[TIMELINE_NAME];
	uint32_t *known = NULL;
	const char *name = NULL;
	uint64_t key = 0;
	size_t len = 0;

	if (slice->kind == TIMELINE_FUNCTION)
		key = slice->track->frames[slice->track->nr_frames - 1].func;
	else if (slice->kind == TIMELINE_SOFTIRQ || slice->kind == TIMELINE_IRQ)
		key = (uint64_t)slice->kind << 56 | (uint64_t)slice->buffer << 32 | (uint32_t)slice->number;
	if (!key) {
		name = timeline_name(lanes->timeline, slice, text, &len);
		/* A name that is not made up here stays where it is. */
		key = name != text ? (uintptr_t)name : 0;
	}
	if (key) {
		known = u64_map_get(&lanes->known, key);
		if (known && *known)
			return *known - 1;
	}
	if (!name)
		name = timeline_name(lanes->timeline, slice, text, &len);
	key = add_label(lanes, name, len);
	if (known && key != LABEL_NONE)
		*known = (uint32_t)key + 1;
	return (uint32_t)key;
}

/* The name that a task has now: a later one takes its place as the lane's. */
static uint32_t label_task(struct lanes *lanes, uint32_t index)
{
	const struct state_task *task = &timeline_state(lanes->timeline)->tasks[index];
	struct named *named;
	struct task_name name;
	uint32_t label;

	while (lanes->nr_named <= index)
		if (!vec_push(lanes->named, lanes->nr_named)) {
			lanes->starved = true;
			return LABEL_NONE;
		}
	named = &lanes->named[index];
	if (named->label && !memcmp(named->comm, task->comm, sizeof(named->comm)))
		return named->label - 1;
	memcpy(named->comm, task->comm, sizeof(named->comm));
	if (*task->comm && !task->idle) {
		label = add_label(lanes, task->comm, strnlen(task->comm, sizeof(task->comm)));
	} else {
		name = task_name(lanes->first->tasks, task->pid);
		label = add_label(lanes, name.text, name.len);
	}
	named->label = label == LABEL_NONE ? 0 : label + 1;
	return label;
}

/* Adds the columns of a slice to its lane. */
static void draw(struct lanes *lanes, struct lane *lane, const struct timeline_slice *slice,
		 const struct lane_cell *shown)
{
	uint64_t from = slice->start, to = slice->to, width = UINT64_C(1) << lane->shift, column, end;
	struct lane_cell cell = *shown;
	bool is_busy = shown->busy, waits = shown->waited;

	if (from < lanes->options.from)
		from = lanes->options.from;
	if (to > lanes->options.to)
		to = lanes->options.to;
	if (to < from || (to == from && slice->to != slice->start))
		return;
	cell.start = slice->start;
	cell.count = from == slice->start;
	column = from >> lane->shift;
	end = to >> lane->shift;
	/* A slice that ends where a column begins is not in it, unless it is a moment. */
	if (end > column && !(to & (width - 1)))
		end--;
	for (uint64_t at = column; at <= end; at++) {
		uint64_t begins = at == column ? from : at << lane->shift;
		uint64_t ends = at == end ? to : (at + 1) << lane->shift;

		cell.longest = ends - begins;
		cell.busy = is_busy ? cell.longest : 0;
		cell.waited = waits ? cell.longest : 0;
		/* Whole columns are the same. */
		if (at != column && at < end) {
			lane_put(lanes, lane, at, end - at, &cell);
			at = end - 1;
		} else {
			lane_put_one(lanes, lane, at, &cell);
		}
		cell.count = 0;
	}
	lane->count++;
	if (is_busy)
		lane->busy += to - from;
	if (waits)
		lane->waited += to - from;
	if ((lane->kind == LANE_TASK ? waits : shown->rank == RANK_MOST) && slice->to - slice->start > lane->longest) {
		lane->longest = slice->to - slice->start;
		lane->longest_at = slice->start;
	}
}

static void draw_run(struct lanes *lanes, const struct timeline_slice *slice)
{
	struct lane *lane = lane_of(lanes, LANE_CPU, 0, slice->cpu, 0, false);
	bool idle = timeline_state(lanes->timeline)->tasks[slice->task].idle;

	if (lane)
		draw(lanes, lane, slice,
		     &(struct lane_cell){ .label = label_task(lanes, slice->task),
					  .rank = idle ? RANK_LEAST : RANK_MOST,
					  .mode = TASK_RUNNING,
					  .busy = !idle });
}

static void draw_mode(struct lanes *lanes, const struct timeline_slice *slice)
{
	uint8_t mode = slice->mode->mode;
	bool waits = state_waits(mode);
	struct lane *lane;

	if (timeline_state(lanes->timeline)->tasks[slice->task].idle || mode == TASK_UNKNOWN)
		return;
	lane = lane_of(lanes, LANE_TASK, 0, (uint32_t)slice->pid, 0, true);
	if (!lane)
		return;
	lane->label = label_task(lanes, slice->task);
	draw(lanes, lane, slice,
	     &(struct lane_cell){ .label = lane->label,
				  .rank = waits || mode == TASK_RUNNING || mode == TASK_BLOCKED ? RANK_MOST :
												  RANK_LEAST,
				  .mode = mode,
				  .modes = (uint16_t)(1u << mode),
				  .busy = mode == TASK_RUNNING,
				  .waited = waits });
}

static void draw_function(struct lanes *lanes, const struct timeline_slice *slice)
{
	const struct track *track = slice->track;
	int32_t depth = track->frames[track->nr_frames - 1].depth;
	bool of_task = !track->interrupt && track->pid;
	struct lane *lane;

	if (depth < 0 || depth >= LANE_DEPTHS)
		return;
	lane = lane_of(lanes, LANE_FUNCTION, slice->buffer, of_task ? (uint32_t)track->pid : track->cpu, (uint8_t)depth,
		       of_task);
	if (!lane)
		return;
	draw(lanes, lane, slice, &(struct lane_cell){ .label = label_of(lanes, slice), .rank = RANK_MOST, .busy = 1 });
}

static void draw_named(struct lanes *lanes, const struct timeline_slice *slice, enum lane_kind kind, uint32_t owner)
{
	struct lane *lane = lane_of(lanes, kind, slice->buffer, owner, 0, kind == LANE_CALLS);

	if (lane)
		draw(lanes, lane, slice,
		     &(struct lane_cell){ .label = label_of(lanes, slice), .rank = RANK_MOST, .busy = 1 });
}

static void draw_counter(struct lanes *lanes, const struct timeline_slice *slice)
{
	struct lane *lane =
		lane_of(lanes, LANE_COUNTER, slice->buffer, (uint32_t)slice->owner, (uint8_t)slice->counter, false);
	uint64_t value = slice->number > 0 ? (uint64_t)slice->number : 0;
	const struct lane_cell cell = { .start = slice->start, .busy = value, .count = 1, .label = LABEL_NONE };

	if (!lane || slice->start < lanes->options.from || slice->start > lanes->options.to)
		return;
	lane->label = label_of(lanes, slice);
	lane->count++;
	if (value > lane->largest)
		lane->largest = value;
	lane_put_one(lanes, lane, slice->start >> lane->shift, &cell);
}

static void draw_loss(struct lanes *lanes, const struct timeline_slice *slice)
{
	struct lane *lane = lane_of(lanes, LANE_EVENTS, slice->buffer, slice->cpu, 0, false);

	if (lane && slice->start >= lanes->options.from && slice->start <= lanes->options.to)
		lane_put_one(lanes, lane, slice->start >> lane->shift,
			     &(struct lane_cell){ .start = slice->start, .label = LABEL_NONE, .lost = true });
}

static void see_slice(void *arg, const struct timeline_slice *slice)
{
	struct lanes *lanes = arg;

	switch (slice->kind) {
	case TIMELINE_RUN:
		draw_run(lanes, slice);
		break;
	case TIMELINE_STATE:
		draw_mode(lanes, slice);
		break;
	case TIMELINE_CALL:
		draw_named(lanes, slice, LANE_CALLS, (uint32_t)slice->pid);
		break;
	case TIMELINE_IRQ:
	case TIMELINE_VECTOR:
		draw_named(lanes, slice, LANE_HARDIRQ, slice->cpu);
		break;
	case TIMELINE_SOFTIRQ:
	case TIMELINE_TASKLET:
		draw_named(lanes, slice, LANE_SOFTIRQ, slice->cpu);
		break;
	case TIMELINE_FUNCTION:
		draw_function(lanes, slice);
		break;
	case TIMELINE_COUNTER:
		draw_counter(lanes, slice);
		break;
	case TIMELINE_LOSS:
		draw_loss(lanes, slice);
		break;
	}
	lanes_bound(lanes);
}

static void count_event(struct lanes *lanes, const struct event *event)
{
	uint32_t *index =
		event->cpu < 256 && event->buffer < 16 ? &lanes->events[event->cpu << 4 | event->buffer] : NULL;
	struct lane *lane;
	struct lane_cell *last;
	uint64_t column;

	if (index && *index) {
		lane = &lanes->lanes[*index - 1];
	} else {
		lane = lane_of(lanes, LANE_EVENTS, event->buffer, event->cpu, 0, false);
		if (!lane)
			return;
		if (index)
			*index = (uint32_t)(lane - lanes->lanes) + 1;
	}
	lane->count++;
	column = event->ts >> lane->shift;
	last = lane->nr_cells ? &lane->cells[lane->nr_cells - 1] : NULL;
	if (__builtin_expect(last && last->column == column, 1)) {
		last->count++;
		return;
	}
	lane_put_one(lanes, lane, column, &(struct lane_cell){ .start = event->ts, .label = LABEL_NONE, .count = 1 });
	lanes_bound(lanes);
}

void lanes_see(struct lanes *lanes, const struct event *event)
{
	timeline_see(lanes->timeline, event);
	if (event->ts > lanes->last_ts)
		lanes->last_ts = event->ts;
	if (event->kind == EVENT_RECORD && event->ts >= lanes->options.from && event->ts <= lanes->options.to)
		count_event(lanes, event);
}

void lanes_end(struct lanes *lanes)
{
	timeline_end(lanes->timeline, lanes->last_ts);
}

bool lanes_starved(const struct lanes *lanes)
{
	return lanes->starved || timeline_starved(lanes->timeline);
}

size_t lanes_count(const struct lanes *lanes)
{
	return lanes->nr;
}

const struct lane *lanes_at(const struct lanes *lanes, size_t index)
{
	return &lanes->lanes[index];
}

const struct lane *lanes_find(const struct lanes *lanes, const struct lane *like)
{
	const uint32_t *index = u64_map_find(&lanes->by_key, lane_key(like->kind, like->buffer, like->owner,
								      like->depth, like->of_task));

	return index && *index ? &lanes->lanes[*index - 1] : NULL;
}

unsigned lanes_coarsest(const struct lanes *lanes)
{
	unsigned a = lanes->halves[0].shift, b = lanes->halves[1].shift;

	return a > b ? a : b;
}

const char *lanes_label(const struct lanes *lanes, uint32_t label)
{
	return label < lanes->labels.nr ? lanes->labels.at[label].text : "";
}
