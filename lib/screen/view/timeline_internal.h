/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_TIMELINE_INTERNAL_H
#define WEFT_SCREEN_VIEW_TIMELINE_INTERNAL_H

#include "lib/screen/view/picture_internal.h"
#include "lib/screen/view/view.h"

/* Private to pane_timeline.c, which knows keys, and timeline_draw.c, which knows characters. */

/* FIXED: the lines above the rows. */
enum { LABEL_COLUMNS = 20, LABEL_NARROW = 14, NARROW = 60, MARKS_MAX = 1000, NAME_MIN = 3, FIXED = 3 };

struct timeline_pane {
	struct pane pane;        /* first */
	struct picture *picture; /* the view's */
	bool fitted, zoomed;     /* the window has been given columns of this width; the user chose their length */
	unsigned width;          /* of the last drawing: columns of time */
	unsigned height;         /* rows below the axis and the path */
	unsigned fixed;          /* lines above them */
	unsigned label;          /* columns of the names at the left */
	uint64_t length;         /* of a column */
	uint64_t first;          /* column at the left: a number of columns since time 0 */
	uint64_t from, to;       /* the view's window when they were found, */
	uint64_t grain;          /* and picture_grain() */
	size_t row, top;         /* among the shown ones */
	enum picture_sort sort;
	bool no_interrupts, no_calls, no_functions, no_counters, no_marks;
	size_t *shown; /* the rows of the picture that are shown */
	size_t nr_shown;
	struct picture_mark marks[MARKS_MAX];
};

/* The time at which a column of the screen begins; where there is none behind the largest time, that. */
static inline uint64_t timeline_time(const struct timeline_pane *line, size_t column)
{
	uint64_t ts;

	return __builtin_mul_overflow(line->first + column, line->length, &ts) ? UINT64_MAX : ts;
}

/* The column of a time; SIZE_MAX: it is not on the screen. */
static inline size_t timeline_column_of(const struct timeline_pane *line, uint64_t ts)
{
	uint64_t column = ts / line->length;

	return column < line->first || column - line->first >= line->width ? SIZE_MAX : (size_t)(column - line->first);
}

/* The lines above the rows: what is shown, times, and where the cursor and the marks are. */
void timeline_put_head(struct timeline_pane *line, struct rows *rows);
void timeline_put_ruler(const struct timeline_pane *line, struct rows *rows);
void timeline_put_axis(struct timeline_pane *line, struct rows *rows);
/* The path that weft why explained; timeline_has_path(): a part of it is in the columns. */
bool timeline_has_path(const struct timeline_pane *line);
void timeline_put_path(struct timeline_pane *line, struct rows *rows);
void timeline_put_label(const struct timeline_pane *line, const char *name, bool chosen, struct rows *rows);
/* The marks of the row that line->marks has. */
void timeline_put_marks(struct timeline_pane *line, struct out *out);
/* The lines below: the column of the cursor in the row of the cursor, and the whole row. */
void timeline_put_facts(struct timeline_pane *line, struct rows *rows);
void timeline_put_totals(const struct timeline_pane *line, struct rows *rows);

#endif
