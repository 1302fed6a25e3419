// SPDX-License-Identifier: LGPL-2.1-or-later
/* The cells of lanes: how slices are added to columns, and columns become longer ones. */
#include "lib/timeline/lanes_internal.h"

#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { SHIFT_MAX = 62 };

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

	/* Nearly always it is the last cell, or behind it. */
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
static void add_to(struct lane_cell *cell, const struct lane_cell *more)
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
	if (more->busy < cell->busy)
		return;
	cell->busy = more->busy;
	cell->start = more->start;
}

void lane_put_one(struct lanes *lanes, struct lane *lane, uint64_t column, const struct lane_cell *from)
{
	size_t at;
	struct lane_cell *cell = cell_of(lanes, lane, column, &at), fresh = *from;

	if (cell && lane->kind == LANE_COUNTER) {
		add_value(cell, from);
	} else if (cell) {
		add_to(cell, from);
	} else {
		fresh.column = column;
		fresh.nr = 1;
		insert(lanes, lane, at, &fresh);
	}
}

/* Puts the same into several columns; nearly always the lane has nothing there. */
void lane_put(struct lanes *lanes, struct lane *lane, uint64_t column, uint64_t nr, const struct lane_cell *from)
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

/* Makes one column of two. */
static void fold_lane(struct lanes *lanes, struct lane *lane)
{
	struct lane_cell *old = lane->cells;
	size_t nr = lane->nr_cells;
	bool is_value = lane->kind == LANE_COUNTER;

	lane->cells = NULL;
	lane->nr_cells = 0;
	lanes_half(lanes, lane)->nr_cells -= nr;
	for (size_t i = 0; i < nr && !lanes->starved; i++) {
		struct lane_cell cell = old[i], both;
		uint64_t first = cell.column, end = cell.column + cell.nr;

		/* The columns at both ends may be halves; and only the first one has the count. */
		lane_put_one(lanes, lane, first / 2,
			     is_value || first % 2 || cell.nr == 1 ? &cell : (both = sum_of(&cell, 2), &both));
		first = first % 2 || cell.nr == 1 ? first + 1 : first + 2;
		cell.count = 0;
		cell.lost = false;
		both = is_value ? cell : sum_of(&cell, 2);
		if (end > first + 1)
			lane_put(lanes, lane, first / 2, (end - first) / 2, &both);
		if (end > first && end % 2)
			lane_put_one(lanes, lane, end / 2, &cell);
	}
	free(old);
	lane->shift++;
}

void lanes_fold(struct lanes *lanes, struct half *half)
{
	while (half->nr_cells > lanes->options.cells_max / 2 && half->shift < SHIFT_MAX && !lanes->starved) {
		for (size_t i = 0; i < lanes->nr && !lanes->starved; i++)
			if (lanes_half(lanes, &lanes->lanes[i]) == half)
				fold_lane(lanes, &lanes->lanes[i]);
		half->shift++;
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

void lane_columns(const struct lane *lane, unsigned shift, uint64_t first, size_t nr, struct lane_cell *ret)
{
	unsigned coarser = shift - lane->shift;
	uint64_t begin = first << coarser, end = (first + nr) << coarser;
	size_t low = 0, high = lane->nr_cells;

	memset(ret, 0, nr * sizeof(*ret));
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lane->cells[middle].column + lane->cells[middle].nr <= begin)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < lane->nr_cells && lane->cells[low].column < end; low++) {
		const struct lane_cell *cell = &lane->cells[low];
		uint64_t from = cell->column > begin ? cell->column : begin;
		uint64_t to = cell->column + cell->nr < end ? cell->column + cell->nr : end;

		while (from < to) {
			uint64_t column = from >> coarser, next = (column + 1) << coarser;

			gather(lane, cell, from, next < to ? next : to, &ret[column - first], column);
			from = next;
		}
	}
}
