// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/back.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/uapi/names.h"
#include "lib/screen/view/event_cursor_internal.h"
#include "lib/screen/view/search_internal.h"

/*
 * The wakeups of one task after which it got a CPU late, forward and backward. What a wakeup is, lib/meaning/state
 * knows.
 */

enum { ASK_EACH = 2048 };

struct late_search {
	struct view *view;
	const struct context *context; /* the task is of its machine: others have the same numbers */
	int32_t pid;
	uint64_t ns;
	struct state state; /* begins anew with each cursor: what was before it is unknown */
};

static void begin_state(struct late_search *late)
{
	const struct reader *reader = &late->view->reader;

	state_release(&late->state);
	state_init(&late->state, late->context->preempt_rt);
	for (size_t i = 0; i < reader->nr_buffers; i++)
		if (context_is_beside(late->context, reader->buffers[i].context))
			state_restrict(&late->state, reader->buffers[i].context);
}

/* Follows the events of the task's machine. Returns whether this is one. */
static bool follow(struct late_search *late, const struct event *event)
{
	struct event gap;

	if (!context_is_beside(late->context, reader_context(&late->view->reader, event)))
		return false;
	if (state_rest(&late->state, event, &gap))
		state_see(&late->state, &gap);
	state_see(&late->state, event);
	return true;
}

static int begin(void *arg, struct event_cursor *event_cursor, struct fail *fail)
{
	(void)event_cursor;
	(void)fail;
	begin_state(arg);
	return 0;
}

/* Whether the task gets a CPU with this event, late after its wakeup. */
static bool see(struct late_search *late, const struct event *event)
{
	const struct state_step *step = &late->state.step;
	uint64_t since;

	if (!follow(late, event) || step->kind != STEP_SWITCH || !step->intact ||
	    late->state.tasks[step->task].pid != late->pid)
		return false;
	since = step->waking ? step->waking : step->woken;
	return since && !step->first && late->state.now - since > late->ns;
}

static bool wants(void *arg, struct event_cursor *event_cursor, struct event *event)
{
	(void)event_cursor;
	return see(arg, event);
}

/* Whether the task was woken, at a time that is known, and waits. */
static bool waits(const struct late_search *late)
{
	uint32_t id = state_task_of(&late->state, late->pid);
	const struct state_task *task = id == STATE_NO_TASK ? NULL : &late->state.tasks[id];

	return task && (task->waking || task->woken) && state_waits((enum task_mode)task->mode);
}

/*
 * Finds the last one of a window of time before `cursor`. If the task waits when the window ends, its wait is followed
 * to its end: in the window behind, its beginning was unknown.
 */
static int read_window(struct late_search *late, const struct back *back, struct walk_place cursor, uint64_t *asked,
		       struct search_found *ret, struct fail *fail)
{
	struct event_cursor *event_cursor = NULL;
	struct walk_place place;
	struct event event;
	bool found = false;
	int r = event_cursor_open(late->view, back_since(back), cursor.ts, &event_cursor, fail);

	begin_state(late);
	while (!r && (r = event_cursor_next(event_cursor, &event, &place, fail)) > 0 &&
	       walk_compare(place, cursor) < 0) {
		r = 0;
		if (walk_compare(place, back->before) >= 0 && !waits(late))
			break;
		if (++*asked % ASK_EACH == 0 && view_waits(late->view, "looking for a wakeup", place.ts,
							   late->view->extent.first, late->view->extent.last))
			r = -ECANCELED;
		if (see(late, &event)) {
			*ret = search_found_of(place, &event);
			found = true;
		}
	}
	event_cursor_free(event_cursor);
	return r < 0 ? r : found;
}

static int late_find_back(struct late_search *late, struct search_found *ret, struct fail *fail)
{
	struct view *view = late->view;
	uint64_t asked = 0;
	struct back back;
	int r = 0;

	back_init(&back, view->extent.first, view->counts);
	back_to(&back, view->cursor);
	while (!r && !back.at_start) {
		ret->stopped = back.before;
		r = read_window(late, &back, view->cursor, &asked, ret, fail);
		back_to(&back, (struct walk_place){ back_since(&back), 0 });
		back_longer(&back);
	}
	return r;
}

int search_woke(struct view *view, const struct context *context, struct walk_place waking, struct walk_place at,
		int32_t pid, struct fail *fail)
{
	struct late_search late = { .view = view, .context = context, .pid = pid };
	const struct state_step *step = &late.state.step;
	struct event_cursor *event_cursor = NULL;
	struct walk_place place;
	struct event event;
	bool woke = false;
	uint32_t id;
	int r = event_cursor_open(view, waking.ts, at.ts, &event_cursor, fail);

	begin_state(&late);
	while (!r && (r = event_cursor_next(event_cursor, &event, &place, fail)) > 0 && walk_compare(place, at) <= 0) {
		r = 0;
		if (!follow(&late, &event))
			continue;
		id = state_task_of(&late.state, pid);
		/* A switch to a task that had lost its CPU, and not slept, is no end of a wakeup. */
		woke = step->kind == STEP_SWITCH && step->task == id ?
			       step->waking || step->woken :
			       id != STATE_NO_TASK && late.state.tasks[id].waker.pid >= 0;
	}
	event_cursor_free(event_cursor);
	if (r >= 0 && late.state.failed)
		r = fail_memory(fail);
	state_release(&late.state);
	return r < 0 ? r : woke;
}

int search_late(struct view *view, const struct context *context, int32_t pid, uint64_t ns, bool forward,
		struct fail *fail)
{
	struct late_search late = { .view = view, .context = context, .pid = pid, .ns = ns };
	const struct search search = {
		.wants = wants, .begin = begin, .arg = &late, .all = true, .what = "looking for a wakeup"
	};
	struct search_found found = { .place = WALK_START };
	int r;

	state_init(&late.state, false);
	r = forward ? search_find(view, view->cursor, true, &search, &found, fail) :
		      late_find_back(&late, &found, fail);
	if (r >= 0 && late.state.failed)
		r = fail_memory(fail);
	state_release(&late.state);
	return search_go(view, r, &found, forward, "later wakeup of this task", fail);
}

struct search_found search_found_of(struct walk_place place, const struct event *event)
{
	struct search_found found = { .place = place, .event = *event };

	if (event->kind == EVENT_RECORD && event->type->format)
		snprintf(found.name, sizeof(found.name), "%.60s", event->type->format->name);
	found.event.data = NULL;
	found.event.type = NULL;
	return found;
}

/* Reads a cursor up to a place, and keeps the first or the last event that is wanted. */
static int read_tape(struct view *view, struct event_cursor *event_cursor, struct walk_place after,
		     struct walk_place until, bool first, const struct search *search, uint64_t *asked,
		     struct search_found *ret, bool *ret_any, struct fail *fail)
{
	struct walk_place place;
	struct event event;
	int r = search->begin ? search->begin(search->arg, event_cursor, fail) : 0;

	while (!r && (r = event_cursor_next(event_cursor, &event, &place, fail)) > 0 &&
	       walk_compare(place, until) < 0) {
		bool keeps = search->all || event_cursor_keeps(event_cursor, &event), wants;

		r = 0;
		if ((++*asked % ASK_EACH == 0 &&
		     view_waits(view, search->what, place.ts, view->extent.first, view->extent.last)) ||
		    (search->most && *asked > search->most)) {
			ret->stopped = place;
			return -ECANCELED;
		}
		wants = keeps && search->wants(search->arg, event_cursor, &event);
		if (!wants || walk_compare(place, after) <= 0)
			continue;
		*ret = search_found_of(place, &event);
		*ret_any = true;
		if (first)
			return 0;
	}
	return r < 0 ? r : 0;
}

/* Reads from a time on, and keeps the first event behind `after`. */
static int read_forward(struct view *view, uint64_t since, struct walk_place after, struct walk_place until,
			const struct search *search, uint64_t *asked, struct search_found *ret, struct fail *fail)
{
	struct event_cursor *event_cursor = NULL;
	bool any = false;
	int r = event_cursor_open(view, since, UINT64_MAX, &event_cursor, fail);

	if (!r)
		r = read_tape(view, event_cursor, after, until, true, search, asked, ret, &any, fail);
	event_cursor_free(event_cursor);
	return r ? r : any;
}

/* -EAGAIN: not a cursor that begins later, but all that is behind the place has to be read. */
static int find_ahead(struct view *view, struct walk_place from, const struct search *search, uint64_t *asked,
		      struct search_found *ret, struct fail *fail)
{
	uint64_t ts = from.ts;
	int r;

	if (!search->ahead || from.ts == UINT64_MAX)
		return -EAGAIN;
	/* The events of the same time, of which some are behind the place. */
	r = read_forward(view, from.ts, from, (struct walk_place){ from.ts + 1, 0 }, search, asked, ret, fail);
	if (!r)
		r = search->ahead(search->arg, view, from.ts + 1, &ts);
	else
		return r;
	if (r == -ECANCELED)
		ret->stopped = (struct walk_place){ ts, 0 };
	return r > 0 ? read_forward(view, ts, from, WALK_END, search, asked, ret, fail) : r;
}

static int find_forward(struct view *view, struct walk_place from, const struct search *search,
			struct search_found *ret, struct fail *fail)
{
	uint64_t asked = 0;
	int r = find_ahead(view, from, search, &asked, ret, fail);

	return r == -EAGAIN ? read_forward(view, from.ts, from, WALK_END, search, &asked, ret, fail) : r;
}

static int find_back(struct view *view, struct walk_place from, const struct search *search, struct search_found *ret,
		     struct fail *fail)
{
	uint64_t asked = 0;
	struct back back;
	bool any = false;
	int r = 0;

	back_init(&back, view->extent.first, view->counts);
	back_to(&back, from);
	while (!r && !any && !back.at_start) {
		uint64_t since = back_since(&back);
		struct event_cursor *event_cursor = NULL;

		r = event_cursor_open(view, since, back.before.ts, &event_cursor, fail);
		if (!r)
			r = read_tape(view, event_cursor, WALK_START, back.before, false, search, &asked, ret, &any,
				      fail);
		event_cursor_free(event_cursor);
		/* What was found in a part of a window is not the last one. */
		if (r == -ECANCELED)
			ret->stopped = back.before;
		back_to(&back, (struct walk_place){ since, 0 });
		back_longer(&back);
	}
	return r ? r : any;
}

int search_find(struct view *view, struct walk_place from, bool forward, const struct search *search,
		struct search_found *ret, struct fail *fail)
{
	/* WALK_START is before the first event, which may be at time 0. */
	return forward ? find_forward(view, from, search, ret, fail) : find_back(view, from, search, ret, fail);
}

int search_go(struct view *view, int r, const struct search_found *found, bool forward, const char *what,
	      struct fail *fail)
{
	if (r == -ECANCELED) {
		struct out text;

		if (!out_init(&text, 64))
			return fail_memory(fail);
		view_put_time(view, found->stopped.ts, &text);
		out_char(&text, '\0');
		view_say(view, "stopped at %s, after which there may be more: n goes on from the cursor", text.start);
		out_release(&text);
		return 0;
	}
	if (r < 0)
		return r;
	if (r)
		view_go(view, found->place);
	else
		view_say(view, "no %s %s", what, forward ? "behind the cursor" : "before the cursor");
	return 0;
}

static int go(struct view *view, bool forward, const struct search *search, const char *what, struct fail *fail)
{
	struct search_found found = { .place = WALK_START };
	int r = search_find(view, view->cursor, forward, search, &found, fail);

	return search_go(view, r, &found, forward, what, fail);
}

struct text_search {
	const char *text;
	bool any_case;
	struct out line;
	bool failed;
};

static int text_begin(void *arg, struct event_cursor *event_cursor, struct fail *fail)
{
	(void)arg;
	return event_cursor_print(event_cursor, false, fail);
}

static bool text_wants(void *arg, struct event_cursor *event_cursor, struct event *event)
{
	struct text_search *search = arg;

	out_clear(&search->line);
	event_cursor_text(event_cursor, event, &search->line);
	if (search->line.failed)
		return false;
	return search_has(search->line.start, out_len(&search->line), search->text, search->any_case);
}

static int text_ahead(void *arg, struct view *view, uint64_t since, uint64_t *ret)
{
	const struct text_search *search = arg;

	return search_ahead(view, since, search->text, search->any_case, ret);
}

struct filter_search {
	const struct view_filter *filter;
};

static int filter_begin(void *arg, struct event_cursor *event_cursor, struct fail *fail)
{
	const struct filter_search *search = arg;

	return event_cursor_search(event_cursor, search->filter, fail);
}

static bool filter_wants(void *arg, struct event_cursor *event_cursor, struct event *event)
{
	(void)arg;
	return event_cursor_matches(event_cursor, event);
}

bool search_option(const char *text, struct view_filter *ret)
{
	static const struct {
		const char *option;
		enum view_filter_kind kind;
		bool negated;
	} options[] = {
		{ "-v -f ", VIEW_FILTER_EXPRESSION, true }, { "-f ", VIEW_FILTER_EXPRESSION, false },
		{ "-e ", VIEW_FILTER_EVENT, false },        { "--pid ", VIEW_FILTER_PID, false },
		{ "-P ", VIEW_FILTER_PID, false },          { "--comm ", VIEW_FILTER_COMM, false },
		{ "--cpu ", VIEW_FILTER_CPU, false },
	};

	for (size_t i = 0; i < array_size(options); i++) {
		size_t len = strlen(options[i].option);

		if (strncmp(text, options[i].option, len))
			continue;
		text += len + strspn(text + len, " ");
		*ret = (struct view_filter){ .kind = options[i].kind,
					     .text = (char *)(uintptr_t)text,
					     .negated = options[i].negated };
		return true;
	}
	return false;
}

static bool has_capital(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

/* The text of raw_syscalls has the number of a call and not its name, so that a search for the name finds nothing. */
static bool tell_call(struct view *view, const char *name)
{
	for (size_t i = 0; i < view->reader.nr_buffers; i++) {
		const struct context *context = view->reader.buffers[i].context;
		int32_t number = system_call_number(context->machine, name);

		if (number < 0 || schema_find(context->schema, "raw_syscalls", "sys_enter") < 0)
			continue;
		view_say(view, "no such text; raw_syscalls have no names: -f 'id == %" PRId32 "' finds %s", number,
			 name);
		return true;
	}
	return false;
}

int search_text(struct view *view, const char *text, bool forward, struct fail *fail)
{
	struct view_filter filter;
	struct text_search plain = { .text = text, .any_case = !has_capital(text) };
	const struct search search = {
		.wants = text_wants, .begin = text_begin, .arg = &plain, .what = "searching", .ahead = text_ahead
	};
	struct search_found found = { .place = WALK_START };
	int r;

	if (search_option(text, &filter)) {
		struct filter_search by = { &filter };
		const struct search events = {
			.wants = filter_wants, .begin = filter_begin, .arg = &by, .what = "searching"
		};

		r = view_filter_check(view, &filter, fail);
		return r ? r : go(view, forward, &events, "such event", fail);
	}
	if (!out_init(&plain.line, 1024))
		return fail_memory(fail);
	r = search_find(view, view->cursor, forward, &search, &found, fail);
	if (r || !tell_call(view, text))
		r = search_go(view, r, &found, forward, "such text", fail);
	out_release(&plain.line);
	return r;
}

struct alike_search {
	char what;
	struct event event;
};

static bool alike_wants(void *arg, struct event_cursor *event_cursor, struct event *event)
{
	const struct alike_search *search = arg;

	(void)event_cursor;
	if (event->kind != EVENT_RECORD)
		return search->what == 'c' && event->cpu == search->event.cpu;
	switch (search->what) {
	case 't':
		return event->id == search->event.id && event->buffer == search->event.buffer;
	case 'p':
		return event->pid == search->event.pid;
	}
	return event->cpu == search->event.cpu;
}

int search_alike(struct view *view, char what, bool forward, struct fail *fail)
{
	struct alike_search alike = { .what = what };
	struct event_cursor *event_cursor = NULL;
	struct walk_place place;
	int r = event_cursor_find(view, view->cursor, &event_cursor, &alike.event, &place, fail);

	if (r <= 0)
		return r;
	event_cursor_free(event_cursor);
	if (alike.event.kind != EVENT_RECORD && what != 'c') {
		view_say(view, "lost events have no task and no type");
		return 0;
	}
	return go(view, forward, &(struct search){ .wants = alike_wants, .arg = &alike, .what = "searching" },
		  what == 't' ? "event of this type" :
		  what == 'p' ? "event of this task" :
				"event of this CPU",
		  fail);
}
