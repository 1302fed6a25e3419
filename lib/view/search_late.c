// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/search_internal.h"

#include "lib/base/fail.h"
#include "lib/event/place.h"
#include "lib/reader/back.h"
#include "lib/view/tape_internal.h"

#include <errno.h>
#include <string.h>

/* The wakeups of one task after which it got a CPU late, forward and backward. */

enum { ASK_EACH = 2048 };

enum late_step {
	LATE_NOTHING, /* the event is not about the task */
	LATE_LOST,    /* events are missing: nothing is known of the task */
	LATE_WOKEN,
	LATE_RUNS, /* it got a CPU, not late or nobody knows how late */
	LATE_FOUND,
};

struct late_search {
	int32_t pid;
	uint64_t ns, woken;
	bool waits;
};

/* The value of a field, by its name; each type is looked up for each of its events, of which there are few. */
static bool is_pid(const struct event *event, const char *field, int32_t pid)
{
	struct place place;

	return place_find(&place, event->type, field) && (int32_t)place_u64(&place, event) == pid;
}

static enum late_step see(struct late_search *search, const struct event *event)
{
	const char *name;
	bool late;

	if (event->kind != EVENT_RECORD) {
		search->waits = false;
		return LATE_LOST;
	}
	if (!event->type->format || strcmp(event->type->format->system, "sched"))
		return LATE_NOTHING;
	name = event->type->format->name;
	if (!strcmp(name, "sched_waking") || !strcmp(name, "sched_wakeup") || !strcmp(name, "sched_wakeup_new")) {
		if (!is_pid(event, "pid", search->pid))
			return LATE_NOTHING;
		if (!search->waits)
			search->woken = event->ts;
		search->waits = true;
		return LATE_WOKEN;
	}
	if (strcmp(name, "sched_switch") || !is_pid(event, "next_pid", search->pid))
		return LATE_NOTHING;
	late = search->waits && event->ts - search->woken > search->ns;
	search->waits = false;
	return late ? LATE_FOUND : LATE_RUNS;
}

static bool wants(void *arg, struct tape *tape, struct event *event)
{
	(void)tape;
	return see(arg, event) == LATE_FOUND;
}

/* What a window of time tells, which is read forward while the windows go back. */
struct late_window {
	struct search_found last; /* the last one that was found in it */
	bool found;
	/* The task got a CPU before the window says anything else of it: when it was woken is in a window before. */
	struct search_found first;
	bool unknown;
	bool any; /* the window says something of the task */
};

static int read_window(struct view *view, const struct back *back, struct late_search *late, struct late_window *ret,
		       uint64_t *asked, struct fail *fail)
{
	struct tape *tape = NULL;
	struct walk_place place;
	struct event event;
	int r = tape_open(view, back_since(back), back->before.ts, &tape, fail);

	*ret = (struct late_window){ .found = false };
	late->waits = false;
	while (!r && (r = tape_next(tape, &event, &place, fail)) > 0 && walk_compare(place, back->before) < 0) {
		enum late_step step = see(late, &event);

		r = 0;
		if (++*asked % ASK_EACH == 0 &&
		    view_waits(view, "looking for a wakeup", place.ts, view->extent.first, view->extent.last))
			r = -ECANCELED;
		if (step == LATE_FOUND) {
			ret->last = search_found_of(place, &event);
			ret->found = true;
		} else if (step == LATE_RUNS && !ret->any) {
			ret->first = search_found_of(place, &event);
			ret->unknown = true;
		}
		ret->any |= step != LATE_NOTHING;
	}
	tape_free(tape);
	return r < 0 ? r : 0;
}

static int find_back(struct view *view, struct late_search *late, struct search_found *ret, struct fail *fail)
{
	struct late_window window, later = { .unknown = false };
	uint64_t asked = 0;
	struct back back;
	int r = 0;

	back_init(&back, view->extent.first, view->counts);
	back_to(&back, view->cursor);
	while (!r && !back.at_start) {
		uint64_t since = back_since(&back);

		ret->stopped = back.before;
		r = read_window(view, &back, late, &window, &asked, fail);
		if (r)
			return r;
		if (later.unknown && late->waits && later.first.place.ts - late->woken > late->ns) {
			*ret = later.first;
			return 1;
		}
		if (window.found) {
			*ret = window.last;
			return 1;
		}
		if (window.any)
			later = window;
		back_to(&back, (struct walk_place){ since, 0 });
		back_longer(&back);
	}
	return r;
}

int search_late(struct view *view, int32_t pid, uint64_t ns, bool forward, struct fail *fail)
{
	struct late_search late = { .pid = pid, .ns = ns };
	const struct search search = { .wants = wants, .arg = &late, .all = true, .what = "looking for a wakeup" };
	struct search_found found = { .place = WALK_START };
	int r = forward ? search_find(view, view->cursor, true, &search, &found, fail) :
			  find_back(view, &late, &found, fail);

	return search_go(view, r, &found, forward, "later wakeup of this task", fail);
}
