/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_TIMELINE_LANES_INTERNAL_H
#define WEFT_TIMELINE_LANES_INTERNAL_H

#include "lib/base/labels.h"
#include "lib/base/u64_map.h"
#include "lib/timeline/lanes.h"

/* Private to lanes.c, which knows slices, and lane_cells.c, which knows columns. */

/* Importance. */
enum { RANK_LEAST, RANK_MOST };

struct lanes {
	struct lanes_options options;
	struct timeline *timeline;
	struct lane *lanes;
	size_t nr;
	/* of all lanes of CPUs, and of all of tasks */
	struct half {
		size_t nr_cells;
		unsigned shift;
	} halves[2];
	struct u64_map by_key; /* uint32_t: index + 1 */
	struct labels labels;
	struct u64_map known; /* uint32_t: label + 1, of slices that have a number, or a name that stays */
	struct named {
		char comm[STATE_COMM];
		uint32_t label; /* label + 1 of that name */
	} * named;              /* by the index of the task in the state */
	size_t nr_named;
	/* by CPU and buffer, of the events: index + 1; only small numbers */
	uint32_t events[1 << 12];
	const struct context *first;
	uint64_t last_ts;
	bool starved;
};

/* The half to whose bound the cells of a lane count. */
static inline struct half *lanes_half(struct lanes *lanes, const struct lane *lane)
{
	return &lanes->halves[lane->kind == LANE_TASK || lane->kind == LANE_CALLS || lane->kind == LANE_FUNCTION];
}

/* Adds to one column what a cell has; column and nr of `from` are not looked at. */
void lane_put_one(struct lanes *lanes, struct lane *lane, uint64_t column, const struct lane_cell *from);
/* Adds the same to several columns. */
void lane_put(struct lanes *lanes, struct lane *lane, uint64_t column, uint64_t nr, const struct lane_cell *from);

void lanes_fold(struct lanes *lanes, struct half *half);

/* Keeps both halves within their bounds. Call it after cells were added; pointers to cells are then not valid. */
static inline void lanes_bound(struct lanes *lanes)
{
	for (size_t i = 0; i < array_size(lanes->halves); i++)
		if (__builtin_expect(lanes->halves[i].nr_cells > lanes->options.cells_max / 2, 0))
			lanes_fold(lanes, &lanes->halves[i]);
}

#endif
