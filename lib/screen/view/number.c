// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/reader/query.h"
#include "lib/screen/view/event_cursor_internal.h"
#include "lib/screen/view/picture_internal.h"
#include "lib/screen/view/view.h"

/*
 * The numbers of events, from 1 as they stand in the recording. The survey of the recording knows how many there are
 * before each of its columns, so only one column has to be read; without it they are counted from the start.
 */

/* COUNTED: a column with more events is not read for each step of the cursor. */
enum { ASK_EACH = 4096, COUNTED = 200000 };

int view_picture(struct view *view, struct fail *fail)
{
	const struct picture_options options = {
		.counters = view->counters, .nr_counters = view->nr_counters, .host = view->host, .guest = view->guest
	};

	return view->picture ? 0 : picture_new(view->trace, view->query, &options, &view->picture, fail);
}

/* The survey of a guest has no events of its host, which the list may have. */
static bool counts_all(const struct view *view)
{
	return !view->host || view->query->instance;
}

/* Counts the events from a time to the cursor. False: they are too many. */
static bool count(struct view *view, uint64_t from, uint64_t *ret)
{
	struct event_cursor *event_cursor = NULL;
	struct walk_place place;
	struct event event;
	uint64_t read = 0, nr = 0;
	int r = event_cursor_open(view, from, view->cursor.ts, &event_cursor, NULL);

	while (!r && (r = event_cursor_next(event_cursor, &event, &place, NULL)) > 0 &&
	       walk_compare(place, view->cursor) < 0) {
		nr += event.kind == EVENT_RECORD;
		r = ++read > COUNTED ? -E2BIG : 0;
	}
	event_cursor_free(event_cursor);
	*ret = nr;
	return r >= 0;
}

bool view_number(struct view *view, uint64_t *ret)
{
	struct view_numbered *numbered = &view->numbered;
	uint64_t from, before, nr, events;
	unsigned percent;

	if (!view->picture || !counts_all(view))
		return false;
	if (!numbered->looked || walk_compare(numbered->of, view->cursor)) {
		*numbered = (struct view_numbered){ .of = view->cursor, .looked = true };
		if (!picture_progress(view->picture, &percent, &events)) {
			/* It will be known soon. */
			numbered->looked = false;
			view->pending = true;
			return false;
		}
		/* The cursor may be behind all events. */
		numbered->known = view->cursor.ts <= view->extent.last && view->cursor.nth != UINT64_MAX &&
				  picture_number(view->picture, view->cursor.ts, &from, &before) &&
				  count(view, from, &nr);
		numbered->number = numbered->known ? before + nr + 1 : events;
		numbered->known |= view->cursor.nth == UINT64_MAX && view->cursor.ts == view->extent.last;
	}
	*ret = numbered->number;
	return numbered->known;
}

int view_go_number(struct view *view, uint64_t number, struct fail *fail)
{
	struct event_cursor *event_cursor = NULL;
	struct walk_place place;
	struct event event;
	uint64_t seen = 0, from = 0;
	int r;

	if (!number)
		return fail_set(fail, -ERANGE, "the first event is #1");
	r = counts_all(view) ? view_picture(view, fail) : 0;
	if (!r && (!counts_all(view) || !picture_numbered(view->picture, number - 1, &from, &seen)))
		from = seen = 0;
	if (!r)
		r = event_cursor_open(view, from, UINT64_MAX, &event_cursor, fail);
	while (!r && (r = event_cursor_next(event_cursor, &event, &place, fail)) > 0) {
		seen += event.kind == EVENT_RECORD;
		r = 0;
		if (seen == number && event.kind == EVENT_RECORD) {
			view_go(view, place);
			event_cursor_free(event_cursor);
			return 0;
		}
		if (seen % ASK_EACH == 0 && view_waits(view, "counting", seen, 0, number)) {
			view_say(view, "stopped at event %" PRIu64, seen);
			break;
		}
	}
	if (!r && !*view->message)
		r = fail_set(fail, -ERANGE, "there are only %" PRIu64 " events", seen);
	event_cursor_free(event_cursor);
	return r;
}
