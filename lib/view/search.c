// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/search_internal.h"

#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/base/text.h"
#include "lib/reader/back.h"
#include "lib/view/tape_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_EACH = 2048 };

struct search_found search_found_of(struct walk_place place, const struct event *event)
{
	struct search_found found = { .place = place, .event = *event };

	if (event->kind == EVENT_RECORD && event->type->format)
		snprintf(found.name, sizeof(found.name), "%.60s", event->type->format->name);
	found.event.data = NULL;
	found.event.type = NULL;
	return found;
}

/* Reads a tape up to a place, and keeps the first or the last event that is wanted. */
static int read_tape(struct view *view, struct tape *tape, struct walk_place after, struct walk_place until, bool first,
		     const struct search *search, uint64_t *asked, struct search_found *ret, bool *ret_any,
		     struct fail *fail)
{
	struct walk_place place;
	struct event event;
	int r = search->begin ? search->begin(search->arg, tape, fail) : 0;

	while (!r && (r = tape_next(tape, &event, &place, fail)) > 0 && walk_compare(place, until) < 0) {
		bool keeps = search->all || tape_keeps(tape, &event), wants;

		r = 0;
		if ((++*asked % ASK_EACH == 0 &&
		     view_waits(view, search->what, place.ts, view->extent.first, view->extent.last)) ||
		    (search->most && *asked > search->most)) {
			ret->stopped = place;
			return -ECANCELED;
		}
		wants = keeps && search->wants(search->arg, tape, &event);
		if (!wants || walk_compare(place, after) <= 0)
			continue;
		*ret = search_found_of(place, &event);
		*ret_any = true;
		if (first)
			return 0;
	}
	return r < 0 ? r : 0;
}

static int find_forward(struct view *view, struct walk_place from, const struct search *search,
			struct search_found *ret, struct fail *fail)
{
	struct tape *tape = NULL;
	uint64_t asked = 0;
	bool any = false;
	int r = tape_open(view, from.ts, UINT64_MAX, &tape, fail);

	if (!r)
		r = read_tape(view, tape, from, WALK_END, true, search, &asked, ret, &any, fail);
	tape_free(tape);
	return r ? r : any;
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
		struct tape *tape = NULL;

		r = tape_open(view, since, back.before.ts, &tape, fail);
		if (!r)
			r = read_tape(view, tape, WALK_START, back.before, false, search, &asked, ret, &any, fail);
		tape_free(tape);
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

static int text_begin(void *arg, struct tape *tape, struct fail *fail)
{
	(void)arg;
	return tape_print(tape, false, fail);
}

static bool text_wants(void *arg, struct tape *tape, struct event *event)
{
	struct text_search *search = arg;

	out_clear(&search->line);
	tape_text(tape, event, &search->line);
	out_char(&search->line, '\0');
	if (search->line.failed)
		return false;
	return (search->any_case ? strcasestr(search->line.start, search->text) :
				   strstr(search->line.start, search->text)) != NULL;
}

struct filter_search {
	const struct view_filter *filter;
};

static int filter_begin(void *arg, struct tape *tape, struct fail *fail)
{
	const struct filter_search *search = arg;

	return tape_search(tape, search->filter, fail);
}

static bool filter_wants(void *arg, struct tape *tape, struct event *event)
{
	(void)arg;
	return tape_matches(tape, event);
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

int search_text(struct view *view, const char *text, bool forward, struct fail *fail)
{
	struct view_filter filter;
	struct text_search plain = { .text = text, .any_case = !has_capital(text) };
	int r;

	if (search_option(text, &filter)) {
		struct filter_search by = { &filter };
		const struct search search = {
			.wants = filter_wants, .begin = filter_begin, .arg = &by, .what = "searching"
		};

		r = view_filter_check(view, &filter, fail);
		return r ? r : go(view, forward, &search, "such event", fail);
	}
	if (!out_init(&plain.line, 1024))
		return fail_memory(fail);
	r = go(view, forward,
	       &(struct search){ .wants = text_wants, .begin = text_begin, .arg = &plain, .what = "searching" },
	       "such text", fail);
	out_release(&plain.line);
	return r;
}

struct alike_search {
	char what;
	struct event event;
};

static bool alike_wants(void *arg, struct tape *tape, struct event *event)
{
	const struct alike_search *search = arg;

	(void)tape;
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
	struct tape *tape = NULL;
	struct walk_place place;
	int r = tape_find(view, view->cursor, &tape, &alike.event, &place, fail);

	if (r <= 0)
		return r;
	tape_free(tape);
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
