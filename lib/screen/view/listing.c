// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/listing_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/event.h"
#include "lib/screen/view/columns_internal.h"
#include "lib/screen/view/event_cursor_internal.h"
#include "lib/screen/view/folds_internal.h"

enum {
	ROWS_MAX = 4096,  /* rows in memory */
	ROWS_KEPT = 2048, /* of them after a cut */
	BACK_ROWS = 512,  /* rows that a window of time brings at most */
	ASK_EACH = 2048,  /* events between two looks at the keyboard */
	LINE_MAX_LEN = 8192,
};

void listing_init(struct listing *listing, struct view *view)
{
	*listing = (struct listing){ .view = view };
	back_init(&listing->back, view->extent.first, view->counts);
}

static void drop_rows(struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(rows[i].text);
}

static void clear(struct listing *listing)
{
	drop_rows(listing->rows, listing->nr);
	listing->nr = 0;
	event_cursor_free(listing->ahead);
	listing->ahead = NULL;
}

void listing_release(struct listing *listing)
{
	clear(listing);
	free(listing->rows);
	listing->rows = NULL;
}

static int make_room(struct listing *listing, struct fail *fail)
{
	if (!listing->rows)
		listing->rows = calloc(ROWS_MAX, sizeof(*listing->rows));
	return listing->rows ? 0 : fail_memory(fail);
}

/* Fills rows with the lines of an event; returns their number. */
static int make_rows(const struct event *event, struct walk_place place, bool close, const struct out *text,
		     struct row *rows, size_t max, struct fail *fail)
{
	const char *at = text->start;
	size_t nr = 0;

	while (at < text->at && nr < max) {
		const char *newline = memchr(at, '\n', (size_t)(text->at - at));
		size_t len = (size_t)((newline ? newline : text->at) - at);
		size_t kept = len < LINE_MAX_LEN ? len : LINE_MAX_LEN;
		struct row *row = &rows[nr];

		*row = (struct row){ .place = place,
				     .line = (uint16_t)nr,
				     .cpu = event->cpu,
				     .buffer = event->buffer,
				     .kind = event->kind,
				     .close = close,
				     .id = event->kind == EVENT_RECORD ? event->id : 0,
				     .pid = event->kind == EVENT_RECORD ? event->pid : 0,
				     .text = strndup(at, kept),
				     .len = (uint32_t)kept };
		if (!row->text) {
			drop_rows(rows, nr);
			return fail_memory(fail);
		}
		nr++;
		at += len + 1;
	}
	return (int)nr;
}

enum { LINES_MAX = 64 };

/* Reads the next event that is shown. Returns the number of its rows; 0: there is none, or *ret_stopped. */
static int next_rows(struct listing *listing, struct event_cursor *event_cursor, struct walk_place until,
		     struct row *rows, size_t *asked, bool *ret_stopped, struct fail *fail)
{
	struct view *view = listing->view;
	struct event event;
	struct walk_place place;
	struct out text;
	int r;

	if (!out_init(&text, 1024))
		return fail_memory(fail);
	while ((r = event_cursor_next(event_cursor, &event, &place, fail)) > 0 && walk_compare(place, until) < 0) {
		if (++*asked % ASK_EACH == 0 &&
		    view_waits(view, "looking for events", place.ts, view->extent.first, view->extent.last)) {
			*ret_stopped = true;
			r = 0;
			break;
		}
		if (!event_cursor_keeps(event_cursor, &event) || folds_hide(view->folds, &event, place))
			continue;
		out_clear(&text);
		if (view->columns)
			view_columns_put(view, &event, event_cursor_is_close(event_cursor), &text);
		else
			event_cursor_text(event_cursor, &event, &text);
		r = text.failed ?
			    fail_memory(fail) :
			    make_rows(&event, place, event_cursor_is_close(event_cursor), &text, rows, LINES_MAX, fail);
		if (r)
			break;
	}
	/* The event at the end of a window. */
	if (r > 0 && walk_compare(place, until) >= 0)
		r = 0;
	out_release(&text);
	return r;
}

static int open_printing(struct view *view, uint64_t since, uint64_t until, struct event_cursor **ret,
			 struct fail *fail)
{
	struct event_cursor *event_cursor = NULL;
	int r = event_cursor_open(view, since, until, &event_cursor, fail);

	if (!r)
		r = event_cursor_print(event_cursor, view->color, fail);
	if (r)
		event_cursor_free(event_cursor);
	else
		*ret = event_cursor;
	return r;
}

int listing_seek(struct listing *listing, struct walk_place place, struct fail *fail)
{
	int r = make_room(listing, fail);

	clear(listing);
	listing->at_end = listing->stopped = false;
	listing->back.before = place;
	listing->back.at_start = false;
	return r ? r : open_printing(listing->view, place.ts, UINT64_MAX, &listing->ahead, fail);
}

/* Opens the cursor behind the last row. */
static int reopen(struct listing *listing, struct fail *fail)
{
	uint64_t since = listing->nr ? listing->rows[listing->nr - 1].place.ts : listing->back.before.ts;

	return open_printing(listing->view, since, UINT64_MAX, &listing->ahead, fail);
}

/* Whether a row was there before: the cursor begins with all events of a time. */
static bool is_old(const struct listing *listing, struct walk_place place)
{
	if (listing->nr)
		return walk_compare(place, listing->rows[listing->nr - 1].place) <= 0;
	return walk_compare(place, listing->back.before) < 0;
}

static void cut_front(struct listing *listing)
{
	size_t cut = listing->nr - ROWS_KEPT;

	/* The rows of one event stay together. */
	while (cut && listing->rows[cut].line)
		cut--;
	drop_rows(listing->rows, cut);
	listing->nr -= cut;
	memmove(listing->rows, listing->rows + cut, listing->nr * sizeof(*listing->rows));
	back_to(&listing->back, listing->rows[0].place);
}

int listing_ahead(struct listing *listing, size_t rows, struct fail *fail)
{
	const struct walk_place end = { UINT64_MAX, UINT64_MAX };
	size_t added = 0, asked = 0;
	int r = 0;

	listing->stopped = false;
	if (!listing->ahead && !listing->at_end)
		r = reopen(listing, fail);
	while (!r && added < rows && !listing->at_end && !listing->stopped) {
		struct row next[LINES_MAX];

		r = next_rows(listing, listing->ahead, end, next, &asked, &listing->stopped, fail);
		if (!r && !listing->stopped)
			listing->at_end = true;
		if (r <= 0)
			break;
		if (is_old(listing, next[0].place)) {
			drop_rows(next, (size_t)r);
			r = 0;
			continue;
		}
		if (listing->nr + (size_t)r > ROWS_MAX)
			cut_front(listing);
		memcpy(listing->rows + listing->nr, next, (size_t)r * sizeof(*next));
		listing->nr += (size_t)r;
		added += (size_t)r;
		r = 0;
	}
	return r < 0 ? r : 0;
}

/* The last rows of a window of time. */
struct last_rows {
	struct row rows[BACK_ROWS + LINES_MAX];
	size_t nr;
};

static void last_add(struct last_rows *last, const struct row *rows, size_t nr)
{
	memcpy(last->rows + last->nr, rows, nr * sizeof(*rows));
	last->nr += nr;
	if (last->nr > BACK_ROWS) {
		/* Half of them go at once. */
		size_t cut = last->nr - BACK_ROWS / 2;

		while (cut && last->rows[cut].line)
			cut--;
		drop_rows(last->rows, cut);
		last->nr -= cut;
		memmove(last->rows, last->rows + cut, last->nr * sizeof(*last->rows));
	}
}

static void put_front(struct listing *listing, const struct last_rows *last)
{
	if (listing->nr + last->nr > ROWS_MAX) {
		size_t keep = ROWS_KEPT;

		while (keep && listing->rows[keep].line)
			keep--;
		drop_rows(listing->rows + keep, listing->nr - keep);
		listing->nr = keep;
		event_cursor_free(listing->ahead);
		listing->ahead = NULL;
		listing->at_end = false;
	}
	memmove(listing->rows + last->nr, listing->rows, listing->nr * sizeof(*listing->rows));
	memcpy(listing->rows, last->rows, last->nr * sizeof(*last->rows));
	listing->nr += last->nr;
}

/* Reads a window of time before the first row, and prepends its last rows. */
static int read_window(struct listing *listing, size_t *asked, size_t *ret_rows, struct fail *fail)
{
	struct last_rows *last = calloc(1, sizeof(*last));
	struct back *back = &listing->back;
	struct walk_place until = back->before;
	uint64_t since = back_since(back);
	struct event_cursor *event_cursor = NULL;
	bool stopped = false;
	size_t total = 0;
	int r;

	if (!last)
		return fail_memory(fail);
	r = open_printing(listing->view, since, until.ts, &event_cursor, fail);
	while (!r) {
		struct row next[LINES_MAX];

		r = next_rows(listing, event_cursor, until, next, asked, &stopped, fail);
		if (r <= 0)
			break;
		last_add(last, next, (size_t)r);
		total += (size_t)r;
		r = 0;
	}
	event_cursor_free(event_cursor);
	if (r < 0 || stopped) {
		/* A part of a window is of no use: it is read again, and then it is shorter. */
		drop_rows(last->rows, last->nr);
		if (stopped)
			back_shorter(back);
		listing->stopped |= stopped;
	} else {
		*ret_rows = last->nr;
		put_front(listing, last);
		back_to(back, total > last->nr ? last->rows[0].place : (struct walk_place){ since, 0 });
		if (total < BACK_ROWS / 2)
			back_longer(back);
		else if (total > (size_t)BACK_ROWS * 4)
			back_shorter(back);
	}
	free(last);
	return r < 0 ? r : 0;
}

int listing_back(struct listing *listing, size_t rows, struct fail *fail)
{
	size_t added = 0, asked = 0;
	int r = make_room(listing, fail);

	listing->stopped = false;
	while (!r && added < rows && !listing->back.at_start && !listing->stopped) {
		size_t here = 0;

		r = read_window(listing, &asked, &here, fail);
		added += here;
	}
	return r;
}

size_t listing_find(const struct listing *listing, struct walk_place place)
{
	return vec_count(listing->nr, i, walk_compare(listing->rows[i].place, place) < 0);
}
