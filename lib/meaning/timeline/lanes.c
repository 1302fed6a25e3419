// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/timeline/lanes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/timeline/timeline.h"

/* Importance. */
enum { RANK_LEAST, RANK_MOST };

enum { NEAR_LANES = 256, NEAR_LABELS = 256 };

struct lanes {
	struct lanes_options options;
	struct timeline *timeline;
	const struct state *state; /* the timeline's */
	struct lane *lanes;
	size_t nr;
	/* of all lanes of CPUs, and of all of tasks */
	struct half {
		size_t nr_cells;
		uint64_t length;
	} halves[2];
	struct u64_map by_key; /* uint32_t: index + 1 */
	/* What was found there last, by the low bits of owner and kind. */
	struct near_lane {
		uint64_t key;
		uint32_t index; /* index + 1; 0: no lane's */
	} near[NEAR_LANES];
	struct labels labels;
	struct u64_map known; /* uint32_t: label + 1, of slices that have a number, or a name that stays */
	/* What was found there last, by the low bits of the key. */
	struct near_label {
		uint64_t key;
		uint32_t label; /* label + 1; 0: none's */
	} near_labels[NEAR_LABELS];
	struct named {
		char comm[TASK_COMM_LEN];
		uint32_t label; /* label + 1 of that name */
	} * named;              /* by the index of the task in the state */
	size_t nr_named;
	/* by CPU and buffer, of the events: the last cell and its time; only small numbers */
	struct last_cell {
		uint64_t begins, length; /* length 0: there is none, or it has another place now */
		uint32_t lane, cell;
	} events[1 << 12];
	const struct context *first;
	uint64_t last_ts;
	bool starved;
};

/* The half to whose bound the cells of a lane count. */
static inline struct half *lanes_half(struct lanes *lanes, const struct lane *lane)
{
	return &lanes->halves[lane->kind == LANE_TASK || lane->kind == LANE_CALLS || lane->kind == LANE_MARK ||
			      lane->kind == LANE_ASYNC || lane->kind == LANE_PAIR || lane->kind == LANE_FUNCTION];
}

static void lanes_fold(struct lanes *lanes, struct half *half);

/* Keeps both halves within their bounds. Call it after cells were added; pointers to cells are then not valid. */
static inline void lanes_bound(struct lanes *lanes)
{
	for (size_t i = 0; i < array_size(lanes->halves); i++)
		if (__builtin_expect(lanes->halves[i].nr_cells > lanes->options.cells_max / 2, 0))
			lanes_fold(lanes, &lanes->halves[i]);
}

/* No column is longer. */
#define LENGTH_MAX UINT64_C(1000000000000000000)

/* The number of columns that become one: 1, 2, 10, 20, 100... */
static unsigned fold_of(uint64_t length)
{
	while (length % 10 == 0)
		length /= 10;
	return length == 1 ? 2 : 5;
}

uint64_t lanes_length(uint64_t least)
{
	uint64_t length = 1;

	while (length < least && length < LENGTH_MAX)
		length *= fold_of(length);
	return length;
}

/* The column of a time, which nearly always is the last one that the lane has. */
static inline uint64_t column_of(const struct lane *lane, uint64_t ts)
{
	const struct lane_cell *last = lane->nr_cells ? &lane->cells[lane->nr_cells - 1] : NULL;

	if (last && ts - last->column * lane->length < lane->length)
		return last->column;
	return ts / lane->length;
}

/* Puts a cell before cells[at]. */
static struct lane_cell *insert(struct lanes *lanes, struct lane *lane, size_t at, const struct lane_cell *cell)
{
	if (!vec_push(lane->cells, lane->nr_cells)) {
		lanes->starved = true;
		return NULL;
	}
	lanes_half(lanes, lane)->nr_cells++;
	memmove(&lane->cells[at + 1], &lane->cells[at], (lane->nr_cells - 1 - at) * sizeof(*lane->cells));
	lane->cells[at] = *cell;
	return &lane->cells[at];
}

/* Divides a cell of several columns so that cells[at] begins at `column`. */
static bool divide(struct lanes *lanes, struct lane *lane, size_t at, uint64_t column)
{
	struct lane_cell rest = lane->cells[at];

	rest.nr -= (uint32_t)(column - rest.column);
	rest.column = column;
	rest.count = 0;
	rest.lost = false;
	if (!insert(lanes, lane, at + 1, &rest))
		return false;
	lane->cells[at].nr -= rest.nr;
	return true;
}

/* Returns the cell of this one column if the lane has it, as a cell of its own. */
static struct lane_cell *cell_of(struct lanes *lanes, struct lane *lane, uint64_t column, size_t *ret_at)
{
	size_t low = 0, high = lane->nr_cells;

	/* Mostly it is behind the last cell, or that one. */
	if (high && lane->cells[high - 1].column + lane->cells[high - 1].nr <= column)
		low = high;
	else if (high && lane->cells[high - 1].column <= column)
		low = high - 1;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lane->cells[middle].column + lane->cells[middle].nr <= column)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_at = low;
	if (low == lane->nr_cells || lane->cells[low].column > column)
		return NULL;
	if (lane->cells[low].column < column) {
		if (!divide(lanes, lane, low, column))
			return NULL;
		*ret_at = ++low;
	}
	if (lane->cells[low].nr > 1 && !divide(lanes, lane, low, column + 1))
		return NULL;
	return &lane->cells[low];
}

static bool shows_rather(const struct lane_cell *a, const struct lane_cell *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	return a->longest > b->longest;
}

/* Adds what `more` has to a cell of one column. */
static inline void add_to(struct lane_cell *cell, const struct lane_cell *more)
{
	bool same = cell->start == more->start && cell->label == more->label && cell->mode == more->mode;
	uint64_t longest = cell->longest;

	if (same)
		longest += more->longest;
	if (shows_rather(more, cell)) {
		cell->start = more->start;
		cell->label = more->label;
		cell->mode = more->mode;
		cell->rank = more->rank;
		cell->longest = more->longest;
	}
	if (same)
		cell->longest = longest;
	cell->busy += more->busy;
	cell->waited += more->waited;
	cell->count += more->count;
	cell->modes |= more->modes;
	cell->lost |= more->lost;
}

/* A value is not time: the largest one is shown. */
static void add_value(struct lane_cell *cell, const struct lane_cell *more)
{
	cell->count += more->count;
	cell->longest = more->longest;
	if ((int64_t)more->busy < (int64_t)cell->busy)
		return;
	cell->busy = more->busy;
	cell->start = more->start;
}

/* Adds to one column what a cell has; column and nr of `from` are not looked at. */
static void lane_put_one(struct lanes *lanes, struct lane *lane, uint64_t column, const struct lane_cell *from)
{
	size_t at = lane->nr_cells - 1;
	struct lane_cell *cell = lane->nr_cells ? &lane->cells[at] : NULL;

	/* Nearly always it is the last one. */
	if (__builtin_expect(!cell || cell->column != column || cell->nr != 1, 0))
		cell = cell_of(lanes, lane, column, &at);
	if (cell && lane->kind == LANE_COUNTER) {
		add_value(cell, from);
	} else if (cell) {
		add_to(cell, from);
	} else {
		struct lane_cell fresh = *from;

		fresh.column = column;
		fresh.nr = 1;
		insert(lanes, lane, at, &fresh);
	}
}

/* Puts the same into several columns; nearly always the lane has nothing there. */
static void lane_put(struct lanes *lanes, struct lane *lane, uint64_t column, uint64_t nr, const struct lane_cell *from)
{
	const struct lane_cell *last = lane->nr_cells ? &lane->cells[lane->nr_cells - 1] : NULL;
	struct lane_cell fresh = *from;

	if (nr > 1 && (!last || last->column + last->nr <= column)) {
		for (; nr; column += fresh.nr, nr -= fresh.nr) {
			fresh.column = column;
			fresh.nr = nr < UINT32_MAX ? (uint32_t)nr : UINT32_MAX;
			if (!insert(lanes, lane, lane->nr_cells, &fresh))
				return;
		}
		return;
	}
	for (uint64_t i = 0; i < nr && !lanes->starved; i++)
		lane_put_one(lanes, lane, column + i, from);
}

/* What `times` equal columns together are: longest, busy and waited are sums of one slice's parts. */
static struct lane_cell sum_of(const struct lane_cell *cell, uint64_t times)
{
	struct lane_cell sum = *cell;

	sum.longest *= times;
	sum.busy *= times;
	sum.waited *= times;
	return sum;
}

/* Adds `nr` equal columns from `column` on to the coarse column in which they are. */
static void fold_part(struct lanes *lanes, struct lane *lane, const struct lane_cell *cell, uint64_t column,
		      uint64_t nr, unsigned fold)
{
	struct lane_cell part = lane->kind == LANE_COUNTER ? *cell : sum_of(cell, nr);

	/* Only the first one has the count. */
	if (column != cell->column) {
		part.count = 0;
		part.lost = false;
	}
	lane_put_one(lanes, lane, column / fold, &part);
}

static void fold_cell(struct lanes *lanes, struct lane *lane, const struct lane_cell *cell, unsigned fold)
{
	uint64_t column = cell->column, end = cell->column + cell->nr, head = fold - column % fold, whole;
	struct lane_cell all;

	/* What is behind the first one, and in whole columns, is the same in each. */
	if (head > cell->nr)
		head = cell->nr;
	fold_part(lanes, lane, cell, column, head, fold);
	column += head;
	whole = (end - column) / fold;
	if (whole) {
		all = lane->kind == LANE_COUNTER ? *cell : sum_of(cell, fold);
		all.count = 0;
		all.lost = false;
		lane_put(lanes, lane, column / fold, whole, &all);
		column += whole * fold;
	}
	if (column < end)
		fold_part(lanes, lane, cell, column, end - column, fold);
}

/* Makes one column of `fold`. */
static void fold_lane(struct lanes *lanes, struct lane *lane, unsigned fold)
{
	struct lane_cell *old = lane->cells;
	size_t nr = lane->nr_cells;

	lane->cells = NULL;
	lane->nr_cells = 0;
	lanes_half(lanes, lane)->nr_cells -= nr;
	for (size_t i = 0; i < nr && !lanes->starved; i++)
		fold_cell(lanes, lane, &old[i], fold);
	free(old);
	lane->length *= fold;
}

static void lanes_fold(struct lanes *lanes, struct half *half)
{
	memset(lanes->events, 0, sizeof(lanes->events));
	while (half->nr_cells > lanes->options.cells_max / 2 && half->length < LENGTH_MAX && !lanes->starved) {
		unsigned fold = fold_of(half->length);

		for (size_t i = 0; i < lanes->nr && !lanes->starved; i++)
			if (lanes_half(lanes, &lanes->lanes[i]) == half)
				fold_lane(lanes, &lanes->lanes[i], fold);
		half->length *= fold;
	}
}

/* Adds a cell's columns from `from` up to `to`, finer ones, to a coarse column. */
static void gather(const struct lane *lane, const struct lane_cell *cell, uint64_t from, uint64_t to,
		   struct lane_cell *into, uint64_t column)
{
	struct lane_cell part = *cell;

	if (from > cell->column) {
		part.count = 0;
		part.lost = false;
	}
	if (lane->kind != LANE_COUNTER)
		part = sum_of(&part, to - from);
	if (into->nr && lane->kind == LANE_COUNTER) {
		add_value(into, &part);
	} else if (into->nr) {
		add_to(into, &part);
	} else {
		*into = part;
		into->column = column;
		into->nr = 1;
	}
}

void lane_columns(const struct lane *lane, uint64_t length, uint64_t first, size_t nr, struct lane_cell *ret)
{
	uint64_t coarser = length / lane->length, begin, end;
	size_t low;

	memset(ret, 0, nr * sizeof(*ret));
	/* A damaged file has times up to the largest one: there are no columns behind it. */
	if (__builtin_mul_overflow(first, coarser, &begin))
		return;
	if (__builtin_mul_overflow(first + nr, coarser, &end) || first + nr < first)
		end = UINT64_MAX;
	low = vec_count(lane->nr_cells, i, lane->cells[i].column + lane->cells[i].nr <= begin);
	for (; low < lane->nr_cells && lane->cells[low].column < end; low++) {
		const struct lane_cell *cell = &lane->cells[low];
		uint64_t from = cell->column > begin ? cell->column : begin;
		uint64_t to = cell->column + cell->nr < end ? cell->column + cell->nr : end;

		while (from < to) {
			uint64_t column = from / coarser, part = coarser - from % coarser;
			uint64_t next = to - from < part ? to : from + part;

			gather(lane, cell, from, next, &ret[column - first], column);
			from = next;
		}
	}
}

static void see_slice(void *arg, const struct timeline_slice *slice);

int lanes_new(const struct lanes_options *options, bool preempt_rt, struct lanes **ret, struct fail *fail)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes));
	struct timeline_calls calls = {
		.arg = lanes, .wanted = UINT32_MAX, .slice = see_slice, .one_wait = true, .no_causes = true
	};

	if (!lanes)
		return fail_memory(fail);
	lanes->options = *options;
	for (size_t i = 0; i < array_size(lanes->halves); i++)
		lanes->halves[i].length = lanes_length(options->length);
	u64_map_init(&lanes->by_key, sizeof(uint32_t));
	u64_map_init(&lanes->known, sizeof(uint32_t));
	labels_init(&lanes->labels);
	lanes->timeline = timeline_new(&calls, preempt_rt);
	if (!lanes->timeline) {
		lanes_free(lanes);
		return fail_memory(fail);
	}
	lanes->state = timeline_state(lanes->timeline);
	timeline_count_fields(lanes->timeline, options->counters, options->nr_counters);
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

static struct lane *look_up_lane(struct lanes *lanes, enum lane_kind kind, uint16_t buffer, uint32_t owner,
				 uint8_t depth, bool of_task)
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
	lane->length = lanes_half(lanes, lane)->length;
	return lane;
}

static inline struct lane *lane_of(struct lanes *lanes, enum lane_kind kind, uint16_t buffer, uint32_t owner,
				   uint8_t depth, bool of_task)
{
	uint64_t key = lane_key(kind, buffer, owner, depth, of_task);
	struct near_lane *near = &lanes->near[(owner * LANE_KINDS + kind) % NEAR_LANES];
	struct lane *lane;

	if (__builtin_expect(near->index && near->key == key, 1))
		return &lanes->lanes[near->index - 1];
	lane = look_up_lane(lanes, kind, buffer, owner, depth, of_task);
	if (lane)
		*near = (struct near_lane){ key, (uint32_t)(lane - lanes->lanes) + 1 };
	return lane;
}

static uint32_t add_label(struct lanes *lanes, const char *text, size_t len)
{
	bool is_new;
	uint32_t label = labels_add(&lanes->labels, text, len, &is_new);

	lanes->starved |= label == LABEL_NONE;
	return label;
}

/* A call whose name is that of its number. */
static bool is_raw_call(const struct timeline_slice *slice)
{
	/* "sys_exit", or "sys_exit_..." */
	return slice->kind == TIMELINE_CALL && (uint64_t)slice->number <= UINT32_MAX &&
	       !slice->event->type->format->name[strlen("sys_exit")];
}

/* The key of a slice that has a number that tells its name; 0: it has none. */
static inline uint64_t label_key(const struct timeline_slice *slice)
{
	if (slice->kind == TIMELINE_FUNCTION)
		return slice->track->frames[slice->track->nr_frames - 1].func;
	if (slice->kind == TIMELINE_SOFTIRQ || slice->kind == TIMELINE_IRQ || is_raw_call(slice))
		return (uint64_t)slice->kind << 56 | (uint64_t)slice->buffer << 32 | (uint32_t)slice->number;
	return 0;
}

/* The label of a slice; for slices that have a key it is made once. */
static uint32_t find_label(struct lanes *lanes, const struct timeline_slice *slice, uint64_t key)
{
	char text[TIMELINE_NAME];
	uint32_t *known = NULL;
	const char *name = NULL;
	size_t len = 0;

	if (!key) {
		name = timeline_name(lanes->timeline, slice, text, &len);
		/* A name that is not made up here stays where it is. */
		key = name != text && slice->kind != TIMELINE_MARK && slice->kind != TIMELINE_ASYNC ? (uintptr_t)name :
												      0;
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

static inline uint32_t label_of(struct lanes *lanes, const struct timeline_slice *slice)
{
	uint64_t key = label_key(slice);
	struct near_label *near = &lanes->near_labels[key % NEAR_LABELS];
	uint32_t label;

	if (__builtin_expect(near->label && near->key == key, 1))
		return near->label - 1;
	label = find_label(lanes, slice, key);
	if (key && label != LABEL_NONE)
		*near = (struct near_label){ key, label + 1 };
	return label;
}

static uint32_t find_label_of_task(struct lanes *lanes, uint32_t index)
{
	const struct state_task *task = &lanes->state->tasks[index];
	struct named *named;
	struct task_name name;
	uint32_t label;

	while (lanes->nr_named <= index)
		if (!vec_push(lanes->named, lanes->nr_named)) {
			lanes->starved = true;
			return LABEL_NONE;
		}
	named = &lanes->named[index];
	memcpy(named->comm, task->comm, sizeof(named->comm));
	if (*task->comm && !task->idle) {
		label = add_label(lanes, task->comm, strnlen(task->comm, sizeof(task->comm)));
	} else {
		name = context_comm(lanes->first, task->pid, COMMS_LAST);
		label = add_label(lanes, name.text, name.len);
	}
	named->label = label == LABEL_NONE ? 0 : label + 1;
	return label;
}

/* The name that a task has now: a later one takes its place as the lane's. */
static inline uint32_t label_task(struct lanes *lanes, uint32_t index)
{
	const struct named *named = index < lanes->nr_named ? &lanes->named[index] : NULL;

	if (__builtin_expect(named && named->label &&
				     !memcmp(named->comm, lanes->state->tasks[index].comm, sizeof(named->comm)),
			     1))
		return named->label - 1;
	return find_label_of_task(lanes, index);
}

/* What a lane shows of a slice. */
struct shown {
	uint32_t label;
	uint16_t modes;
	uint8_t mode, rank;
	bool busy, waits;
};

static inline struct lane_cell cell_of_shown(const struct shown *shown, uint64_t start)
{
	return (struct lane_cell){
		.start = start, .label = shown->label, .modes = shown->modes, .mode = shown->mode, .rank = shown->rank
	};
}

static inline void set_lasted(struct lane_cell *cell, const struct shown *shown, uint64_t lasted)
{
	cell->longest = lasted;
	cell->busy = shown->busy ? lasted : 0;
	cell->waited = shown->waits ? lasted : 0;
}

/* Adds a slice, of which `lasted` is drawn, to what the lane says of all. */
static inline void count_slice(struct lane *lane, const struct timeline_slice *slice, const struct shown *shown,
			       uint64_t lasted)
{
	uint64_t length = slice->to - slice->start;

	lane->count++;
	lane->busy += shown->busy ? lasted : 0;
	lane->waited += shown->waits ? lasted : 0;
	if ((lane->kind == LANE_TASK ? shown->waits : shown->rank == RANK_MOST) && length > lane->longest) {
		lane->longest = length;
		lane->longest_at = slice->start;
	}
}

static void draw_columns(struct lanes *lanes, struct lane *lane, const struct timeline_slice *slice,
			 const struct shown *shown)
{
	uint64_t from = slice->start, to = slice->to, column, end;
	struct lane_cell cell = cell_of_shown(shown, slice->start);

	if (from < lanes->options.from)
		from = lanes->options.from;
	if (to > lanes->options.to)
		to = lanes->options.to;
	if (to < from || (to == from && slice->to != slice->start))
		return;
	cell.count = from == slice->start;
	column = column_of(lane, from);
	end = to - column * lane->length < lane->length ? column : to / lane->length;
	/* A slice that ends where a column begins is not in it, unless it is a moment. */
	if (end > column && to == end * lane->length)
		end--;
	for (uint64_t at = column;; at++) {
		uint64_t begins = at == column ? from : at * lane->length;
		uint64_t ends = at == end ? to : (at + 1) * lane->length;

		set_lasted(&cell, shown, ends - begins);
		/* Whole columns are the same. */
		if (at != column && at < end) {
			lane_put(lanes, lane, at, end - at, &cell);
			at = end - 1;
		} else {
			lane_put_one(lanes, lane, at, &cell);
		}
		/* It may be the last number. */
		if (at == end)
			break;
		cell.count = 0;
	}
	count_slice(lane, slice, shown, to - from);
}

/* Adds the columns of a slice to its lane. */
static inline void draw(struct lanes *lanes, struct lane *lane, const struct timeline_slice *slice,
			const struct shown *shown)
{
	struct lane_cell *last = lane->nr_cells ? &lane->cells[lane->nr_cells - 1] : NULL, cell;
	uint64_t begins = last ? last->column * lane->length : 0, start = slice->start, lasted = slice->to - start;

	/* Nearly always all of it is in the last column. */
	if (__builtin_expect(!last || last->nr != 1 || start - begins >= lane->length ||
				     slice->to - begins >= lane->length || start > slice->to ||
				     start < lanes->options.from || slice->to > lanes->options.to,
			     0)) {
		draw_columns(lanes, lane, slice, shown);
		return;
	}
	cell = cell_of_shown(shown, start);
	set_lasted(&cell, shown, lasted);
	cell.count = 1;
	add_to(last, &cell);
	count_slice(lane, slice, shown, lasted);
}

static void draw_run(struct lanes *lanes, const struct timeline_slice *slice)
{
	struct lane *lane = lane_of(lanes, LANE_CPU, 0, slice->cpu, 0, false);
	bool idle = lanes->state->tasks[slice->task].idle;

	if (lane)
		draw(lanes, lane, slice,
		     &(struct shown){ .label = label_task(lanes, slice->task),
				      .rank = idle ? RANK_LEAST : RANK_MOST,
				      .mode = TASK_RUNNING,
				      .busy = !idle });
}

static void draw_mode(struct lanes *lanes, const struct timeline_slice *slice)
{
	const struct state_task *task = &lanes->state->tasks[slice->task];
	uint8_t mode = slice->mode->mode;
	bool waits = state_waits(mode);
	struct lane *lane;

	if (task->idle || mode == TASK_UNKNOWN)
		return;
	lane = lane_of(lanes, LANE_TASK, 0, (uint32_t)slice->pid, 0, true);
	if (!lane)
		return;
	lane->label = label_task(lanes, slice->task);
	if (mode == TASK_NEW && !lane->nr_cells)
		lane->born = slice->start;
	if (!lane->nr_cells && !lanes->state->losses &&
	    (mode == TASK_RUNNING || mode == TASK_WAKING || mode == TASK_QUEUED))
		lane->first = slice->start;
	/* Another life of the same PID may follow. */
	lane->died = task->died ? slice->to : 0;
	draw(lanes, lane, slice,
	     &(struct shown){ .label = lane->label,
			      .rank = waits || mode == TASK_RUNNING || mode == TASK_BLOCKED ? RANK_MOST : RANK_LEAST,
			      .mode = mode,
			      .modes = (uint16_t)(1u << mode),
			      .busy = mode == TASK_RUNNING,
			      .waits = waits });
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
	draw(lanes, lane, slice, &(struct shown){ .label = label_of(lanes, slice), .rank = RANK_MOST, .busy = true });
}

static void draw_named(struct lanes *lanes, const struct timeline_slice *slice, enum lane_kind kind, uint32_t owner)
{
	bool of_task = kind == LANE_CALLS || kind == LANE_MARK || kind == LANE_ASYNC || slice->of_task;
	uint32_t depth = kind == LANE_MARK ? slice->depth : 0;
	struct lane *lane =
		depth < LANE_DEPTHS ? lane_of(lanes, kind, slice->buffer, owner, (uint8_t)depth, of_task) : NULL;

	if (lane)
		draw(lanes, lane, slice,
		     &(struct shown){ .label = label_of(lanes, slice), .rank = RANK_MOST, .busy = true });
}

/* A counter of a program: "queue (4711)"; a field has no owner: "sched_waking:pid". */
static uint32_t label_counter(struct lanes *lanes, const struct timeline_slice *slice)
{
	char text[TIMELINE_NAME];
	int len = snprintf(text, sizeof(text), "%.*s", (int)(slice->stem_len < 64 ? slice->stem_len : 64), slice->stem);

	if (slice->owner)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " (%" PRIu64 ")", slice->owner);
	return add_label(lanes, text, (size_t)len);
}

static void draw_counter(struct lanes *lanes, const struct timeline_slice *slice)
{
	bool marked = slice->counter == TIMELINE_MARKED;
	uint32_t owner = marked ? label_counter(lanes, slice) : (uint32_t)slice->owner;
	struct lane *lane = lane_of(lanes, LANE_COUNTER, slice->buffer, owner, (uint8_t)slice->counter, false);
	const struct lane_cell cell = { .start = slice->start,
					.busy = (uint64_t)slice->number,
					.longest = (uint64_t)slice->number,
					.count = 1,
					.label = LABEL_NONE };

	if (!lane || slice->start < lanes->options.from || slice->start > lanes->options.to)
		return;
	lane->label = marked ? owner : label_of(lanes, slice);
	if (!lane->count++ || slice->number > lane->largest)
		lane->largest = slice->number;
	if (lane->count == 1 || slice->number < lane->smallest)
		lane->smallest = slice->number;
	lane_put_one(lanes, lane, column_of(lane, slice->start), &cell);
}

/* NULL: it is not kept. */
static inline struct last_cell *last_cell_of(struct lanes *lanes, uint32_t cpu, uint16_t buffer)
{
	return cpu < 256 && buffer < 16 ? &lanes->events[cpu << 4 | buffer] : NULL;
}

static void draw_loss(struct lanes *lanes, const struct timeline_slice *slice)
{
	struct lane *lane = lane_of(lanes, LANE_EVENTS, slice->buffer, slice->cpu, 0, false);
	struct last_cell *last = last_cell_of(lanes, slice->cpu, slice->buffer);

	if (last)
		last->length = 0;
	if (lane && slice->start >= lanes->options.from && slice->start <= lanes->options.to)
		lane_put_one(lanes, lane, column_of(lane, slice->start),
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
	case TIMELINE_MARK:
		draw_named(lanes, slice, LANE_MARK, (uint32_t)slice->pid);
		break;
	case TIMELINE_ASYNC:
		draw_named(lanes, slice, LANE_ASYNC, (uint32_t)slice->owner);
		break;
	case TIMELINE_PAIR:
		if (slice->of_task || slice->on_cpu)
			draw_named(lanes, slice, LANE_PAIR, slice->of_task ? (uint32_t)slice->pid : slice->cpu);
		break;
	case TIMELINE_INSTANT: /* it is among the events */
		break;
	}
	lanes_bound(lanes);
}

static void find_cell_of_event(struct lanes *lanes, const struct event *event, struct last_cell *last)
{
	struct lane *lane = lane_of(lanes, LANE_EVENTS, event->buffer, event->cpu, 0, false);
	uint64_t column;

	if (!lane)
		return;
	lane->count++;
	column = column_of(lane, event->ts);
	if (lane->nr_cells && lane->cells[lane->nr_cells - 1].column == column)
		lane->cells[lane->nr_cells - 1].count++;
	else
		lane_put_one(lanes, lane, column,
			     &(struct lane_cell){ .start = event->ts, .label = LABEL_NONE, .count = 1 });
	if (last && lane->nr_cells && lane->cells[lane->nr_cells - 1].column == column)
		*last = (struct last_cell){ .begins = column * lane->length,
					    .length = lane->length,
					    .lane = (uint32_t)(lane - lanes->lanes),
					    .cell = (uint32_t)(lane->nr_cells - 1) };
	lanes_bound(lanes);
}

static inline void count_event(struct lanes *lanes, const struct event *event)
{
	struct last_cell *last = last_cell_of(lanes, event->cpu, event->buffer);
	struct lane *lane;

	if (__builtin_expect(!last || event->ts - last->begins >= last->length, 0)) {
		find_cell_of_event(lanes, event, last);
		return;
	}
	lane = &lanes->lanes[last->lane];
	lane->count++;
	lane->cells[last->cell].count++;
}

/* sched_wakeup_new begins the life of a task, whose first slice ends later. */
static void see_birth(struct lanes *lanes, const struct state *state)
{
	struct lane *lane = lane_of(lanes, LANE_TASK, 0, (uint32_t)state->tasks[state->step.task].pid, 0, true);

	if (lane && !lane->nr_cells && !lane->born)
		lane->born = state->now;
}

void lanes_see(struct lanes *lanes, const struct event *event)
{
	const struct state *state = lanes->state;

	timeline_see(lanes->timeline, event);
	if (state->step.kind == STEP_WOKEN && state->step.first && state->step.task != STATE_NO_TASK)
		see_birth(lanes, state);
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

const struct lane *lanes_find(const struct lanes *lanes, const struct lane *like, const char *label)
{
	bool labelled = like->kind == LANE_COUNTER && like->depth == TIMELINE_MARKED;
	const uint32_t *index;

	for (size_t i = 0; labelled && i < lanes->nr; i++) {
		const struct lane *lane = &lanes->lanes[i];

		if (lane->kind == like->kind && lane->depth == like->depth && lane->buffer == like->buffer &&
		    !strcmp(lanes_label(lanes, lane->label), label))
			return lane;
	}
	index = labelled ? NULL :
			   u64_map_find(&lanes->by_key,
					lane_key(like->kind, like->buffer, like->owner, like->depth, like->of_task));
	return index && *index ? &lanes->lanes[*index - 1] : NULL;
}

uint64_t lanes_coarsest(const struct lanes *lanes)
{
	uint64_t a = lanes->halves[0].length, b = lanes->halves[1].length;

	return a > b ? a : b;
}

const char *lanes_label(const struct lanes *lanes, uint32_t label)
{
	return label < lanes->labels.nr ? lanes->labels.at[label].text : "";
}
