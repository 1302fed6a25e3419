// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/folds_internal.h"

#include <errno.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/event/graph_events.h"
#include "lib/meaning/event/place.h"
#include "lib/screen/view/event_cursor_internal.h"
#include "lib/screen/view/pair_internal.h"

static enum graph_event graph_of(const struct event *event, int32_t *ret_depth)
{
	enum graph_event is = event->kind == EVENT_RECORD ? graph_event_of(event->type->format) : GRAPH_EVENT_NONE;
	struct place depth;

	*ret_depth = is && place_find(&depth, event->type, "depth") ? (int32_t)place_u64(&depth, event) : 0;
	return is;
}

static bool is_inside(const struct fold *fold, const struct event *event, struct walk_place place)
{
	return fold->buffer == event->buffer && fold->pid == event->pid && (fold->pid || fold->cpu == event->cpu) &&
	       walk_compare(place, fold->from) > 0 && walk_compare(place, fold->to) < 0;
}

bool folds_hide(const struct folds *folds, const struct event *event, struct walk_place place)
{
	int32_t depth, shown = folds->all ? 0 : INT32_MAX;

	if ((!folds->nr && !folds->all) || !graph_of(event, &depth))
		return false;
	for (size_t i = 0; i < folds->nr; i++) {
		const struct fold *fold = &folds->at[i];

		if (!is_inside(fold, event, place) || depth <= fold->depth)
			continue;
		if (!fold->open)
			return true;
		if (shown < fold->depth + 1)
			shown = fold->depth + 1;
	}
	return depth > shown;
}

static struct fold *find(struct folds *folds, struct walk_place from)
{
	for (size_t i = 0; i < folds->nr; i++)
		if (!walk_compare(folds->at[i].from, from))
			return &folds->at[i];
	return NULL;
}

bool folds_begin(const struct folds *folds, struct walk_place place)
{
	for (size_t i = 0; i < folds->nr; i++)
		if (!folds->at[i].open && !walk_compare(folds->at[i].from, place))
			return true;
	return false;
}

/* The call whose entry or exit is at the cursor. 0: there is none, and the user was told. */
static int find_call(struct view *view, struct fold *ret, struct fail *fail)
{
	struct search_found found = { .place = WALK_START };
	struct event_cursor *event_cursor = NULL;
	struct walk_place place;
	struct event event;
	enum graph_event is;
	struct pair pair;
	int r = event_cursor_find(view, view->cursor, &event_cursor, &event, &place, fail);

	if (r <= 0)
		return r;
	*ret = (struct fold){ .buffer = event.buffer, .cpu = event.cpu };
	ret->pid = event.kind == EVENT_RECORD ? event.pid : 0;
	is = graph_of(&event, &ret->depth);
	event_cursor_free(event_cursor);
	if (!is) {
		view_say(view, "z is for the calls of a function graph");
		return 0;
	}
	r = pair_find(view, place, 0, &pair, &found, fail);
	if (r == -ECANCELED)
		view_say(view, "stopped before the other end of the call was found");
	else if (!r && is == GRAPH_EVENT_EXIT)
		view_say(view, "the call began before the recording");
	if (r < 0 || (!r && is == GRAPH_EVENT_EXIT))
		return r == -ECANCELED ? 0 : r;
	/* A call that has not returned goes on to the end. */
	ret->from = is == GRAPH_EVENT_ENTRY ? place : found.place;
	ret->to = is == GRAPH_EVENT_EXIT ? place : r ? found.place : WALK_END;
	return 1;
}

int folds_toggle(struct folds *folds, struct view *view, struct fail *fail)
{
	struct fold call, *old;
	int r = find_call(view, &call, fail);

	if (r <= 0)
		return r;
	view_move(view, call.from);
	old = find(folds, call.from);
	if (old) {
		/* Again as all others are. */
		memmove(old, old + 1, (size_t)(folds->at + folds->nr - (old + 1)) * sizeof(*old));
		folds->nr--;
		return 0;
	}
	if (folds->nr == FOLDS_MAX)
		return fail_set(fail, -E2BIG, "%d calls are folded already: Z unfolds all", FOLDS_MAX);
	call.open = folds->all;
	folds->at[folds->nr++] = call;
	return 0;
}
