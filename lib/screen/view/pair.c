// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/pair_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/state/state.h"
#include "lib/screen/view/event_cursor_internal.h"

static bool is_waking(const struct event *event, int32_t *ret_pid)
{
	uint8_t role = state_role_of(event, ret_pid);

	return role == STATE_WAKING || role == STATE_WAKEUP || role == STATE_WAKEUP_NEW;
}

/* The task whose time lies between an event and its partner: the one that is woken, or that gets the CPU. */
static int32_t task_of(const struct event *event)
{
	int32_t pid;

	return is_waking(event, &pid) || state_role_of(event, &pid) == STATE_SWITCH ? pid : event->pid;
}

static void waker_of(const struct event *event, struct pair *pair)
{
	int32_t pid = task_of(event);

	if (!pid)
		return;
	pair->waking = true;
	pair->pid = pid;
	pair->forward = false;
	snprintf(pair->what, sizeof(pair->what), "waking of task %d", pid);
}

static const char *shared(const struct pair_end *end)
{
	if (end->on_cpu)
		return "on this CPU";
	if (end->kind->name && !strcmp(end->kind->name, "function"))
		return "of this call";
	return end->nr_keys == 1 && end->keys[0].of == PAIR_KEY_TASK ? "of this task" : "that fits";
}

void pair_of(const struct event *event, bool waker, struct pair *ret)
{
	bool named = event->kind == EVENT_RECORD && event->type->format;

	*ret = (struct pair){ .what = "", .context = named ? event->type->context : NULL };
	if (named && waker)
		waker_of(event, ret);
	if (!named || waker || !pair_end_find(&ret->end, event->type))
		return;
	pair_end_values(&ret->end, event, ret->values);
	pair_end_partner(&ret->end, ret->name);
	ret->forward = ret->end.begins;
	ret->task = task_of(event);
	snprintf(ret->what, sizeof(ret->what), "%.60s %s", ret->name, shared(&ret->end));
}

static bool wants(void *arg, struct event_cursor *event_cursor, struct event *event)
{
	const struct pair *pair = arg;
	uint64_t values[PAIRS_KEYS_MAX];
	struct pair_end other;
	int32_t pid;

	(void)event_cursor;
	if (event->kind != EVENT_RECORD || !event->type->format ||
	    !context_is_beside(pair->context, event->type->context))
		return false;
	if (pair->waking)
		return is_waking(event, &pid) && pid == pair->pid;
	if (!pair_end_fits(&pair->end, event->type, &other))
		return false;
	pair_end_values(&other, event, values);
	return !memcmp(values, pair->values, sizeof(values));
}

int pair_search(struct view *view, struct walk_place place, const struct pair *pair, uint64_t most,
		struct search_found *ret, struct fail *fail)
{
	struct pair wanted = *pair;
	const struct search search = {
		.wants = wants, .arg = &wanted, .all = true, .most = most, .what = "looking for the partner"
	};

	return search_find(view, place, pair->forward, &search, ret, fail);
}

int pair_wakeup(struct view *view, struct walk_place place, const struct pair *waker, uint64_t most,
		struct search_found *ret_waking, struct search_found *ret_queued, struct fail *fail)
{
	struct search_found waking;
	int r = pair_search(view, place, waker, most, ret_queued, fail);

	if (r <= 0)
		return r;
	waking = *ret_queued;
	if (strcmp(waking.name, "sched_waking")) {
		r = pair_search(view, ret_queued->place, waker, most, &waking, fail);
		if (r < 0 && r != -ECANCELED)
			return r;
		if (r <= 0 || strcmp(waking.name, "sched_waking"))
			waking = *ret_queued;
	}
	*ret_waking = waking;
	return search_woke(view, waker->context, waking.place, place, waker->pid, fail);
}

int pair_wait(struct view *view, struct walk_place place, struct pair *ret, struct search_found *ret_waking,
	      struct fail *fail)
{
	struct event_cursor *event_cursor = NULL;
	struct search_found queued;
	struct walk_place at;
	struct event event;
	bool gives;
	int r = event_cursor_find(view, place, &event_cursor, &event, &at, fail);

	*ret = (struct pair){ .what = "" };
	if (r <= 0)
		return r;
	gives = event.kind == EVENT_RECORD && event.type->format && !strcmp(event.type->format->name, "sched_switch");
	if (gives)
		pair_of(&event, true, ret);
	event_cursor_free(event_cursor);
	return *ret->what ? pair_wakeup(view, at, ret, 0, ret_waking, &queued, fail) : 0;
}

int pair_find(struct view *view, struct walk_place place, uint64_t most, struct pair *ret,
	      struct search_found *ret_found, struct fail *fail)
{
	struct event_cursor *event_cursor = NULL;
	struct walk_place at;
	struct event event;
	int r = event_cursor_find(view, place, &event_cursor, &event, &at, fail);

	*ret = (struct pair){ .what = "" };
	if (r <= 0)
		return r;
	pair_of(&event, false, ret);
	event_cursor_free(event_cursor);
	return *ret->what ? pair_search(view, at, ret, most, ret_found, fail) : 0;
}
