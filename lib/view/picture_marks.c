// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the columns of a row show. */
#include "lib/view/picture_internal.h"

#include "lib/base/labels.h"
#include "lib/view/bar_internal.h"
#include "lib/view/survey_internal.h"

#include <stdlib.h>
#include <string.h>

/* As lane_cell::nr: what the survey of a part did not know. */
enum { FROM_WHOLE = 2 };

#define NAME_NEAR (UINT32_C(1) << 31) /* of a name: it is in the survey of a part */

/* The columns of a lane whose own columns may be longer: each of those is then shown several times. */
static void rough_columns(const struct lane *lane, unsigned shift, uint64_t first, size_t nr, struct lane_cell *ret,
			  struct lane_cell *room)
{
	unsigned coarser = lane->shift - shift;
	uint64_t begin = first >> coarser, last = first + nr - 1;
	size_t some;

	if (!nr)
		return;
	/* A damaged file has times up to the largest one: there are no columns behind it. */
	if (last < first)
		last = UINT64_MAX;
	some = (size_t)((last >> coarser) - begin + 1);
	if (some > NR_MAX)
		some = NR_MAX;
	lane_columns(lane, lane->shift, begin, some, room);
	for (size_t i = 0; i < nr; i++)
		ret[i] = i <= last - first ? room[((first + i) >> coarser) - begin] : (struct lane_cell){ .nr = 0 };
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

static void columns_of(const struct picture *picture, const struct lane *lane, struct lane_cell *ret,
		       struct lane_cell *room)
{
	if (lane->shift <= picture->shift)
		lane_columns(lane, picture->shift, picture->first, picture->nr, ret);
	else
		rough_columns(lane, picture->shift, picture->first, picture->nr, ret, room);
}

/* The cells of all CPUs' events; `only` is a CPU, or -1. */
static void count_cells(const struct picture *picture, const struct lanes *lanes, int64_t only, struct lane_cell *ret)
{
	struct lane_cell room[NR_MAX], *one = calloc(picture->nr, sizeof(*one));

	memset(ret, 0, picture->nr * sizeof(*ret));
	for (size_t i = 0; one && i < lanes_count(lanes); i++) {
		const struct lane *lane = lanes_at(lanes, i);

		if (lane->kind != LANE_EVENTS || (only >= 0 && lane->owner != (uint32_t)only))
			continue;
		columns_of(picture, lane, one, room);
		add_cells(ret, one, picture->nr);
	}
	free(one);
}

/* What the survey of a part does not know, because it began before it, the survey of the whole may. */
static void fill_in(struct picture *picture, const struct lane *lane)
{
	uint64_t width = UINT64_C(1) << lane->shift;
	struct lane_cell room[NR_MAX];

	columns_of(picture, lane, picture->rough, room);
	for (size_t i = 0; i < picture->nr; i++) {
		struct lane_cell *rough = &picture->rough[i];

		/* Only a slice that fills the whole of the longer column. */
		if (picture->cells[i].nr || !rough->nr || rough->longest < width)
			continue;
		rough->count = 0;
		rough->busy = rough->busy ? UINT64_C(1) << picture->shift : 0;
		rough->waited = rough->waited ? UINT64_C(1) << picture->shift : 0;
		picture->cells[i] = *rough;
		picture->cells[i].nr = FROM_WHOLE;
	}
}

/* Reads the cells of a row into picture->cells. Returns the survey that they are from, and its lane in *ret_lane. */
static struct survey *row_cells(struct picture *picture, const struct picture_row *row, struct lane *ret_lane)
{
	struct survey *survey = picture->whole;
	struct lane_cell *room = picture->rough;
	bool is_events = row->kind == PICTURE_EVENTS, is_near = picture_uses_near(picture);
	const struct lanes *lanes = survey_take(picture->whole);
	const struct lane *near;

	*ret_lane = is_events ? (struct lane){ .kind = LANE_EVENTS } : *lanes_at(lanes, row->lane);
	if (!is_near) {
		if (is_events)
			count_cells(picture, lanes, -1, picture->cells);
		else
			columns_of(picture, lanes_at(lanes, row->lane), picture->cells, room);
		survey_release(picture->whole);
		return survey;
	}
	memset(picture->cells, 0, sizeof(picture->cells));
	survey = picture->near;
	survey_release(picture->whole);
	lanes = survey_take(survey);
	if (is_events)
		count_cells(picture, lanes, -1, picture->cells);
	near = is_events ? NULL : lanes_find(lanes, ret_lane);
	if (near) {
		columns_of(picture, near, picture->cells, room);
		ret_lane->shift = near->shift;
	}
	survey_release(survey);
	if (row->kind == PICTURE_CPU || row->kind == PICTURE_TASK) {
		lanes = survey_take(picture->whole);
		fill_in(picture, lanes_at(lanes, row->lane));
		survey_release(picture->whole);
	}
	return survey;
}

static uint8_t state_of(uint8_t mode)
{
	if (mode == TASK_RUNNING)
		return PICTURE_RUN;
	if (state_waits(mode))
		return PICTURE_WAIT;
	if (mode == TASK_BLOCKED)
		return PICTURE_BLOCKED;
	return mode == TASK_SLEEPING ? PICTURE_SLEEP : PICTURE_STOPPED;
}

static void mark_cell(const struct picture *picture, const struct lane *lane, const struct lane_cell *cell,
		      uint64_t largest, struct picture_mark *mark)
{
	uint64_t width = UINT64_C(1) << picture->shift;

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
		mark->level = bar_level(cell->busy, lane->largest);
		break;
	default:
		mark->state = PICTURE_RUN;
		mark->level = bar_level(cell->busy ? cell->busy : 1, width);
		break;
	}
}

/* The value of a counter holds until the next one. */
static void carry_on(const struct lane *lane, struct picture_mark *marks, size_t nr, uint8_t level)
{
	bool known = level != UINT8_MAX;

	if (lane->kind != LANE_COUNTER)
		return;
	for (size_t i = 0; i < nr; i++) {
		if (marks[i].state == PICTURE_VALUE) {
			level = marks[i].level;
			known = true;
		} else if (known && marks[i].state != PICTURE_OUTSIDE) {
			marks[i] = (struct picture_mark){ .state = PICTURE_VALUE, .level = level, .goes_on = true };
		}
	}
}

void picture_marks(struct picture *picture, size_t index, struct picture_mark *ret)
{
	const struct picture_row *row = &picture->rows[index];
	const struct survey_options *span = survey_options(picture->whole);
	struct lane lane;
	struct survey *survey = row_cells(picture, row, &lane);
	struct survey_progress progress = survey_progress(survey);
	uint64_t largest = 1, before = 0;

	for (size_t i = 0; i < picture->nr; i++)
		if (picture->cells[i].count > largest)
			largest = picture->cells[i].count;
	for (size_t i = 0; i < picture->nr; i++) {
		uint64_t from = (picture->first + i) << picture->shift;
		const struct lane_cell *cell = &picture->cells[i];
		bool outside = from > span->to || from + ((UINT64_C(1) << picture->shift) - 1) < span->from;
		bool known = !outside && (progress.ended || from <= progress.reached);

		ret[i] = (struct picture_mark){ .state = outside ? PICTURE_OUTSIDE : PICTURE_UNKNOWN,
						.name = LABEL_NONE };
		if (cell->nr && !outside) {
			mark_cell(picture, &lane, cell, largest, &ret[i]);
			ret[i].goes_on = i && picture->cells[i - 1].nr && cell->start == before;
			if (survey == picture->near && cell->nr != FROM_WHOLE && ret[i].name != LABEL_NONE)
				ret[i].name |= NAME_NEAR;
		} else if (known && lane.kind != LANE_CPU && lane.kind != LANE_TASK) {
			ret[i].state = PICTURE_NOTHING;
		}
		before = cell->start;
	}
	carry_on(&lane, ret, picture->nr, UINT8_MAX);
	if (row->kind == PICTURE_CPU) {
		const struct lanes *lanes = survey_take(survey);

		count_cells(picture, lanes, row->owner, picture->cells);
		survey_release(survey);
		for (size_t i = 0; i < picture->nr; i++)
			ret[i].lost |= picture->cells[i].lost;
	}
}

const char *picture_name(const struct picture *picture, uint32_t name)
{
	bool is_near = name != LABEL_NONE && name & NAME_NEAR;
	struct survey *survey = is_near ? picture->near : picture->whole;
	const char *text;

	if (name == LABEL_NONE || !survey)
		return "";
	text = lanes_label(survey_take(survey), is_near ? name & ~NAME_NEAR : name);
	survey_release(survey);
	return text;
}

struct picture_facts picture_facts(struct picture *picture, size_t index, size_t column)
{
	const struct picture_row *row = &picture->rows[index];
	struct lane lane;
	struct survey *survey = row_cells(picture, row, &lane);
	const struct lane_cell *cell = &picture->cells[column < picture->nr ? column : 0];
	uint64_t from = (picture->first + column) << picture->shift;

	return (struct picture_facts){
		.from = from,
		.to = from + (UINT64_C(1) << picture->shift),
		.start = cell->start,
		.longest = cell->longest,
		.busy = cell->busy,
		.waited = cell->waited,
		.count = cell->count,
		.exact = survey_progress(survey).ended && lane.shift <= picture->shift,
	};
}
