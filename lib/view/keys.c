// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/fail.h"
#include "lib/view/pair_internal.h"
#include "lib/view/search_internal.h"
#include "lib/view/tape_internal.h"
#include "lib/view/view.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What keys do in every pane. Those that open a prompt or cover the panes are in screen.c. */

const char view_help[] =
	"1 ... 9          the panes: 1 events, 2 time line, 3 calls, 4 tables, 5 details\n"
	"Tab o O          the other pane; a second pane below; only this pane\n"
	":                go to: 15.633, +2ms (from the cursor), 50%, #1000 (event), @sched_switch, 10:30:00\n"
	"/ \\ n N          search forward, backward: a text, -f FILTER, -e EVENT, --pid N; again, other way\n"
	"[ ] { } ( )      previous and next event of this type, of this task, on this CPU\n"
	"%                the partner: entry and exit, waking and run\n"
	"w W              the next wakeup of this task that took longer than: 1ms; the one before\n"
	"&                a filter more, as report -f takes it, or -e EVENT, --pid N, --comm, --cpu\n"
	"f t C e          list of filters; follow this task, this CPU, this type of event\n"
	"a b A B          mark A, mark B; go to them. - takes both away\n"
	"m ' \"            set a bookmark (then a letter), go to it, list\n"
	"< >              back and forward through where you were\n"
	"y c              copy the line, or what the time line shows; the command line that prints what you see\n"
	"Esc              stops a search, leaves, drops the last filter\n"
	"M Ctrl-L Ctrl-Z  mouse off and on; draw again; stop weft (fg goes on)\n"
	":w q Q           save marks, filters and columns beside the file; leave the pane; leave weft\n";

static int follow(struct view *view, enum view_filter_kind kind, struct fail *fail)
{
	struct view_filter filter = { .kind = kind };
	struct tape *tape = NULL;
	struct walk_place place;
	struct event event;
	char text[160];
	int r;

	/* The same key again takes the filter away. */
	if (view->nr_filters && view->filters[view->nr_filters - 1].kind == kind) {
		view_unfilter(view);
		return 0;
	}
	r = tape_find(view, view->cursor, &tape, &event, &place, fail);
	if (r <= 0)
		return r;
	if (kind == VIEW_FILTER_CPU)
		snprintf(text, sizeof(text), "%u", event.cpu);
	else if (event.kind != EVENT_RECORD)
		snprintf(text, sizeof(text), "0");
	else if (kind == VIEW_FILTER_PID)
		snprintf(text, sizeof(text), "%d", event.pid);
	else if (event.type->format)
		snprintf(text, sizeof(text), "%s:%s", event.type->format->system, event.type->format->name);
	tape_free(tape);
	filter.text = text;
	return view_filter_add(view, &filter, fail);
}

static int partner(struct view *view, struct fail *fail)
{
	struct search_found found;
	struct pair pair;
	int r = pair_find(view, view->cursor, 0, &pair, &found, fail);

	if (r > 0)
		view_go(view, found.place);
	else if (!r)
		view_say(view, pair.what[0] ? "no %s is in the recording" : "this event has no partner", pair.what);
	return r < 0 ? r : 0;
}

static void set_mark(struct view *view, size_t index)
{
	view->marks[index].set = true;
	view->marks[index].place = view->cursor;
	if (view->marks[0].set && view->marks[1].set)
		view_filters_changed(view);
}

static void go_mark(struct view *view, size_t index)
{
	if (view->marks[index].set)
		view_go(view, view->marks[index].place);
	else
		view_say(view, "there is no mark %c: %c sets it", 'A' + (char)index, 'a' + (char)index);
}

static int again(struct view *view, bool other, struct fail *fail)
{
	if (!view->searched) {
		view_say(view, "nothing was searched: / begins");
		return 0;
	}
	return search_text(view, view->searched, view->searched_back == other, fail);
}

static int copy_command(struct view *view)
{
	struct pane *pane = view_pane(view);
	cleanup_buf struct buf text = BUF_INIT;

	if (!pane->ops->command || !pane->ops->command(pane, &text)) {
		view_say(view, "no command prints this pane");
		return 0;
	}
	buf_add_str(&text, " ");
	view_quote(view->path, &text);
	view_copy(view, buf_str(&text), text.len);
	view_say(view, "%.250s", buf_str(&text));
	return 0;
}

static void split(struct view *view)
{
	if (view->second) {
		if (view->in_second)
			view->shown = view->second;
		view->second = 0;
		view->in_second = false;
	} else {
		struct fail fail = FAIL_INIT;
		char letter = view->shown == 5 ? '1' : '5';

		view->second = view->shown;
		view->in_second = true;
		/* The pane that was there stays above. */
		if (view_show(view, letter, &fail)) {
			view->second = 0;
			view->in_second = false;
			return;
		}
		if (!view->panes[letter - '0']) {
			view->second = 0;
			view->in_second = false;
			return;
		}
		view->second = (unsigned)(letter - '0');
		view->in_second = false;
	}
}

/* Leaves a pane: the second one first. */
static void leave(struct view *view)
{
	if (view->second)
		split(view);
	else if (view->shown != 1)
		view->shown = 1;
	else
		view->quit = true;
}

static void escape(struct view *view)
{
	if (view->nr_filters && view_unfilter(view))
		view_say(view, "the last filter is gone");
	else if (!view_back(view))
		view_say(view, "q leaves the pane, Q leaves weft");
}

int view_key(struct view *view, const struct key *key, struct fail *fail)
{
	static const struct {
		char key, what;
		bool forward;
	} alike[] = { { '[', 't', false }, { ']', 't', true },  { '{', 'p', false },
		      { '}', 'p', true },  { '(', 'c', false }, { ')', 'c', true } };

	for (size_t i = 0; i < array_size(alike); i++)
		if (key_is(key, alike[i].key))
			return search_alike(view, alike[i].what, alike[i].forward, fail);
	if (key->kind == KEY_ESC) {
		escape(view);
		return 0;
	}
	if (key->kind == KEY_TAB) {
		if (view->second)
			view->in_second = !view->in_second;
		return 0;
	}
	if (key_is_ctrl(key, 'l')) {
		view->redraw = true;
		return 0;
	}
	if (key_is_ctrl(key, 'z')) {
		view->suspend = true;
		return 0;
	}
	if (key->kind == KEY_BACKSPACE) {
		view_back(view);
		return 0;
	}
	if (key->kind != KEY_RUNE || key->modifiers || key->rune >= 0x80)
		return 0;
	if (isdigit((int)key->rune))
		return view_show(view, (char)key->rune, fail);
	switch ((char)key->rune) {
	case 'q':
		leave(view);
		return 0;
	case 'Q':
		view->quit = true;
		return 0;
	case 'n':
	case 'N':
		return again(view, key->rune == 'N', fail);
	case 't':
		return follow(view, VIEW_FILTER_PID, fail);
	case 'C':
		return follow(view, VIEW_FILTER_CPU, fail);
	case 'e':
		return follow(view, VIEW_FILTER_EVENT, fail);
	case '%':
		return partner(view, fail);
	case 'a':
	case 'b':
		set_mark(view, key->rune == 'b');
		return 0;
	case 'A':
	case 'B':
		go_mark(view, key->rune == 'B');
		return 0;
	case '-':
		view->marks[0].set = view->marks[1].set = false;
		view_filters_changed(view);
		return 0;
	case '<':
		if (!view_back(view))
			view_say(view, "there is nothing before");
		return 0;
	case '>':
		if (!view_forward(view))
			view_say(view, "there is nothing behind");
		return 0;
	case 'c':
		return copy_command(view);
	case 'o':
		split(view);
		return 0;
	case 'O':
		view->wide = !view->wide;
		return 0;
	case 'M':
		view->mouse_off = !view->mouse_off;
		view_say(view, view->mouse_off ? "the mouse is the terminal's" : "the mouse is weft's");
		return 0;
	}
	return 0;
}
