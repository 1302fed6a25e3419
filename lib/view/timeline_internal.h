/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_VIEW_TIMELINE_INTERNAL_H
#define WEFT_VIEW_TIMELINE_INTERNAL_H

#include "lib/view/picture_internal.h"
#include "lib/view/view.h"

/* Private to pane_timeline.c, which knows keys, and timeline_draw.c, which knows characters. */

enum { LABEL_COLUMNS = 20, MARKS_MAX = 1000, NAME_MIN = 3, SHIFT_MAX = 62, FIXED = 2 };

struct timeline_pane {
	struct pane pane;        /* first */
	struct picture *picture; /* the view's */
	bool fitted;             /* the window has been given columns of this width */
	unsigned width;          /* of the last drawing: columns of time */
	unsigned height;         /* rows below the axis */
	unsigned shift;          /* of a column */
	uint64_t first;          /* column at the left: a number of columns since time 0 */
	uint64_t from, to;       /* the view's window when they were found */
	size_t row, top;         /* among the shown ones */
	enum picture_sort sort;
	bool no_interrupts, no_calls, no_functions, no_counters;
	size_t *shown; /* the rows of the picture that are shown */
	size_t nr_shown;
	struct picture_mark marks[MARKS_MAX];
};

static inline uint64_t timeline_column(const struct timeline_pane *line)
{
	return UINT64_C(1) << line->shift;
}

/* The column of a time; SIZE_MAX: it is not on the screen. */
static inline size_t timeline_column_of(const struct timeline_pane *line, uint64_t ts)
{
	uint64_t column = ts >> line->shift;

	return column < line->first || column - line->first >= line->width ? SIZE_MAX : (size_t)(column - line->first);
}

/* The lines above the rows: what is shown, and where the cursor and the marks are. */
void timeline_put_head(struct timeline_pane *line, struct rows *rows);
void timeline_put_axis(struct timeline_pane *line, struct rows *rows);
void timeline_put_label(const struct timeline_pane *line, const char *name, bool chosen, struct rows *rows);
/* The marks of the row that line->marks has. */
void timeline_put_marks(struct timeline_pane *line, struct out *out);
/* The lines below: the column of the cursor in the row of the cursor, and the whole row. */
void timeline_put_facts(struct timeline_pane *line, struct rows *rows);
void timeline_put_totals(const struct timeline_pane *line, struct rows *rows);

#endif
