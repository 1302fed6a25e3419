/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_COLUMNS_INTERNAL_H
#define WEFT_SCREEN_VIEW_COLUMNS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/columns/list.h"

struct buf;
struct event;
struct fail;
struct out;
struct rows;
struct view;

/*
 * The columns that a user chose for the list of events, in place of the kernel's text: of the event, as --fields of
 * export names them, and times that depend on other rows.
 */
enum { VIEW_COLUMNS_MAX = 24, VIEW_COLUMN_WIDTH = 40 };

struct view_columns {
	char *words; /* as the user wrote them */
	struct view_column {
		enum view_column_kind {
			VIEW_COLUMN_TIME,
			VIEW_COLUMN_DELTA, /* since the row above */
			VIEW_COLUMN_REL,   /* since the event of the cursor */
			VIEW_COLUMN_TASK,
			VIEW_COLUMN_OF_EVENT, /* the next one of `list` */
		} kind;
		char title[VIEW_COLUMN_WIDTH];
		const struct column *column;
	} at[VIEW_COLUMNS_MAX];
	size_t nr;
	struct column_list list;
};

/* Words with blanks or commas between them. -EINVAL, -ENOENT: no event has such a field. */
int must_check view_columns_new(const struct view *view, const char *words, struct view_columns **ret,
				struct fail *fail);
void view_columns_free(struct view_columns *columns);

/* The words that are no fields. NULL after the last. */
const char *view_columns_word(size_t index);

/*
 * The cells of an event, with a tab between them; those that depend on other rows are empty. Ends with a newline.
 * `close`: event_cursor_is_close().
 */
void view_columns_put(const struct view *view, const struct event *event, bool close, struct out *out);

/* A row as it stands in the list. */
struct view_columns_row {
	const char *text;
	size_t len;
	uint64_t ts, above; /* above: of the row before */
};

/* Writes the titles and the rows, in columns as wide as they need; ends no line that has no room. */
void view_columns_draw(const struct view *view, const struct view_columns_row *list, size_t nr, size_t cursor,
		       struct rows *rows);

/* The command line that prints the columns of events. */
bool view_columns_command(const struct view_columns *columns, struct buf *into);

#endif
