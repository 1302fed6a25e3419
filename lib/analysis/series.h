/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_SERIES_H
#define WEFT_ANALYSIS_SERIES_H

#include "lib/analysis/findings.h"
#include "lib/base/cleanup.h"
#include "lib/base/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * How the figures of an analysis go on over intervals of equal length. Text has one table for each table of the
 * analysis whose rows stay the same things (findings_course()): a row's figure over all, its rate, the least and the
 * most of an interval, and a line of characters as high as the figures. The figure is that of the column that orders
 * the rows. CSV has the whole tables of all intervals, JSON an object for each interval and one for all.
 *
 * Use: set the first members; series_take() with the findings of each interval and of all, as struct intervals gives
 * them; series_release().
 */
struct series {
	uint64_t every_ns;
	struct findings_options print;
	bool utf8;        /* of the text: draws with U+2581 to U+2588, else with digits */
	struct out *into; /* borrowed */
	/* Private: */
	struct series_value {
		char *key; /* owned: the table's name, then the cells that name the row, each behind a tab */
		size_t interval;
		uint64_t value;
	} * values;
	size_t nr_values, nr_intervals;
	uint64_t first; /* where the intervals begin */
	bool begun;
	struct series_csv {
		const char *name; /* borrowed */
		struct out out;
	} * csv;
	size_t nr_csv;
};

/* A span has at most this many intervals. Callers refuse more. */
enum { SERIES_INTERVALS_MAX = 100000 };

/* -ENOENT: no table has the column that the user named; -E2BIG: there are too many intervals. */
int must_check series_take(struct series *series, struct findings *findings, const struct findings_span *span,
			   struct fail *fail);
void series_release(struct series *series);

#endif
