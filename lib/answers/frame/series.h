/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_SERIES_H
#define WEFT_ANSWERS_FRAME_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/findings.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/labels.h"
#include "lib/ground/base/out.h"

struct fail;

/*
 * How the figures of an analysis go on over intervals of equal length. Text has one table for each table of the
 * analysis whose rows stay the same things (SAME columns): a row's figure over all, its rate, the least and the
 * most of an interval, and a line of characters as high as the figures. The figure is that of the column that orders
 * the rows. CSV has the whole tables of all intervals, JSON an object for each interval and one for all.
 *
 * Use: series_init(); set the first members; series_take() with the findings of each interval and of all, as struct
 * intervals gives them; series_release().
 */
struct series {
	uint64_t every_ns;
	struct findings_options print;
	bool utf8;        /* of the text: draws with U+2581 to U+2588, else with digits */
	struct out *into; /* borrowed */
	/* Private: */
	struct series_value {
		uint32_t row; /* index in keys */
		uint32_t interval;
		uint64_t value;
	} * values;
	size_t nr_values, nr_intervals;
	struct labels keys; /* of rows: the table's name, then the cells that name the row, each behind a tab */
	uint64_t first;     /* where the intervals begin */
	bool begun;
	struct series_csv {
		char *name; /* of the table; owned */
		struct out out;
	} * csv;
	size_t nr_csv;
};

/* Limits, so that memory does not depend on how short the intervals are: more are -E2BIG. */
enum { SERIES_INTERVALS_MAX = 100000, SERIES_VALUES_MAX = 1 << 24, SERIES_CSV_MAX = 1 << 28 };

void series_init(struct series *series);
/* -ENOENT: no table has the column that the user named; -E2BIG: a limit is exceeded. */
int must_check series_take(struct series *series, struct findings *findings, const struct findings_span *span,
			   struct fail *fail);
void series_release(struct series *series);

#endif
