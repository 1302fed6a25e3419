// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/picture_internal.h"

#include "lib/base/fail.h"
#include "lib/timeline/lanes.h"
#include "lib/view/survey_internal.h"

#include <stdlib.h>

/*
 * A survey of a part has columns that are 2^CLOSER times as short as those that are shown, so that the next steps
 * closer need no other. A part that is shorter than a PART of the file need not wait for the survey of the whole.
 */
enum { CLOSER = 2, PART = 8, NEAR_CELLS = 150000 };

int picture_new(struct trace *trace, const struct query *query, struct picture **ret, struct fail *fail)
{
	struct survey_options options;
	struct picture *picture = calloc(1, sizeof(*picture));
	int r;

	if (!picture)
		return fail_memory(fail);
	picture->trace = trace;
	picture->query = query;
	r = survey_span(trace, query, &options, fail);
	if (!r)
		r = survey_start(trace, query, &options, &picture->whole, fail);
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
	survey_free(picture->whole);
	survey_free(picture->near);
	free(picture->rows);
	free(picture);
}

void picture_span(const struct picture *picture, uint64_t *ret_from, uint64_t *ret_to)
{
	*ret_from = survey_options(picture->whole)->from;
	*ret_to = survey_options(picture->whole)->to;
}

bool picture_progress(struct picture *picture, unsigned *ret_percent, uint64_t *ret_events)
{
	const struct survey_options *options = survey_options(picture->whole);
	struct survey_progress progress = survey_progress(picture->whole);
	uint64_t span = options->to - options->from, done = 0;

	if (progress.reached > options->from)
		done = progress.reached - options->from;
	*ret_events = progress.events;
	*ret_percent = progress.ended || !span ? 100 : (unsigned)((double)done * 100 / (double)span);
	return progress.ended;
}

/* Whether this survey tells about a time up to `to`. */
static bool has_reached(struct survey *survey, uint64_t to)
{
	struct survey_progress progress = survey_progress(survey);

	return progress.ended || progress.reached > to;
}

bool picture_number(struct picture *picture, uint64_t ts, uint64_t *ret_from, uint64_t *ret_number)
{
	const struct lanes *lanes;
	unsigned shift;

	if (!has_reached(picture->whole, ts))
		return false;
	lanes = survey_take(picture->whole);
	shift = lanes_coarsest(lanes);
	*ret_from = ts >> shift << shift;
	*ret_number = 0;
	for (size_t i = 0; i < lanes_count(lanes); i++) {
		const struct lane *lane = lanes_at(lanes, i);

		if (lane->kind != LANE_EVENTS)
			continue;
		for (size_t at = 0; at < lane->nr_cells && lane->cells[at].column < *ret_from >> lane->shift; at++)
			*ret_number += lane->cells[at].count;
	}
	survey_release(picture->whole);
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

/* The coarsest columns of any lane of the survey of the whole. */
static unsigned whole_shift(struct picture *picture)
{
	unsigned shift = lanes_coarsest(survey_take(picture->whole));

	survey_release(picture->whole);
	return shift;
}

static bool near_has(const struct picture *picture, uint64_t from, uint64_t to)
{
	const struct survey_options *options = picture->near ? survey_options(picture->near) : NULL;

	return options && options->from <= from && options->to >= to && options->shift <= picture->shift;
}

/* Whether the survey of the whole tells enough, or will soon. */
static bool whole_does(struct picture *picture, uint64_t from, uint64_t to)
{
	const struct survey_options *options = survey_options(picture->whole);

	if (whole_shift(picture) > picture->shift)
		return false;
	return to - from > (options->to - options->from) / PART || has_reached(picture->whole, to);
}

int picture_look(struct picture *picture, unsigned shift, uint64_t first, size_t nr, struct fail *fail)
{
	struct survey_options options = { .cells_max = NEAR_CELLS, .threads = 1 };
	const struct survey_options *whole = survey_options(picture->whole);
	uint64_t from = first << shift, to = (first + nr) << shift, half;

	picture->shift = shift;
	picture->first = first;
	picture->nr = nr < NR_MAX ? nr : NR_MAX;
	from = from < whole->from ? whole->from : from;
	to = to > whole->to ? whole->to : to;
	if (to <= from || near_has(picture, from, to) || whole_does(picture, from, to))
		return 0;
	survey_free(picture->near);
	picture->near = NULL;
	half = (to - from) / 2;
	options.from = from - whole->from > half ? from - half : whole->from;
	options.to = whole->to - to > half ? to + half : whole->to;
	options.shift = shift > CLOSER ? shift - CLOSER : 0;
	return survey_start(picture->trace, picture->query, &options, &picture->near, fail);
}

bool picture_uses_near(struct picture *picture)
{
	const struct survey_options *whole = survey_options(picture->whole);
	uint64_t from = picture->first << picture->shift, to = (picture->first + picture->nr) << picture->shift;

	from = from < whole->from ? whole->from : from;
	to = to > whole->to ? whole->to : to;
	return to > from && near_has(picture, from, to) && !whole_does(picture, from, to);
}

bool picture_settled(struct picture *picture)
{
	uint64_t to = (picture->first + picture->nr) << picture->shift;

	if (picture_uses_near(picture))
		return survey_progress(picture->near).ended;
	return has_reached(picture->whole, to);
}
