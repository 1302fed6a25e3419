// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/screen/view/event_cursor_internal.h"
#include "lib/screen/view/pair_internal.h"
#include "lib/screen/view/search_internal.h"
#include "lib/screen/view/view.h"

/* What keys do in every pane. Those that open a prompt or cover the panes are in screen.c. */

const char view_help[] =
	"1 ... 9\tthe panes: 1 events, 2 time line, 3 calls, 4 tables, 5 details\n"
	"Tab o O\tthe other pane; a second pane below; only this pane\n"
	":\tgo to: 15.633, +2ms (from the cursor), 50%, #1000 (event), @sched_switch, 10:30:00\n"
	"/ \\ n N\tsearch forward, backward: a text, -f FILTER, -e EVENT, --pid N, a call of raw_syscalls "
	"-f 'id == 87'; again, other way\n"
	"[ ] { } ( )\tprevious and next event of this type, of this task, on this CPU\n"
	"%\tthe partner: entry and exit, waking and run\n"
	"X\texplain this call, wakeup, or wait before a switch: A and B around it, weft why in 4\n"
	"w W\tthe next wakeup of this task that took longer than: 1ms; the one before\n"
	"&\ta filter more, as report -f takes it, or -e EVENT, --pid N, --comm, --cpu\n"
	"f t C e\tlist of filters; follow this task, this CPU, this type of event\n"
	"a b A B\tmark A, mark B; go to them. - takes both away\n"
	"m ' \"\tset a bookmark (then a letter), go to it, list\n"
	"< >\tback and forward through where you were\n"
	"y c\tcopy the line, or what the time line shows; the command line that prints what you see\n"
	"Esc\tstops a search, takes a message away, leaves, drops the last filter, goes back\n"
	"M Ctrl-L Ctrl-Z\tmouse off and on; draw again; stop weft (fg goes on)\n"
	":w q Q\tsave marks, filters and columns beside the file; leave the pane; leave weft\n";

static int follow(struct view *view, enum view_filter_kind kind, struct fail *fail)
{
	struct view_filter filter = { .kind = kind };
	struct event_cursor *event_cursor = NULL;
	struct walk_place place;
	struct event event;
	char text[160];
	int r;

	/* The same key again takes the filter away. */
	if (view->nr_filters && view->filters[view->nr_filters - 1].kind == kind) {
		view_unfilter(view);
		return 0;
	}
	r = event_cursor_find(view, view->cursor, &event_cursor, &event, &place, fail);
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
	event_cursor_free(event_cursor);
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

static int explain_between(struct view *view, struct walk_place from, struct walk_place to, int32_t pid,
			   struct fail *fail)
{
	view->marks[0].set = view->marks[1].set = true;
	view->marks[0].place = from;
	view->marks[1].place = to;
	view->explained.pid = pid;
	view->explained.round++;
	view_filters_changed(view);
	return view_show(view, '4', fail);
}

static int explain(struct view *view, struct fail *fail)
{
	struct search_found found;
	struct pair pair;
	/* A switch ends a wait, and begins a run: the wait is what has a reason. */
	int r = pair_wait(view, view->cursor, &pair, &found, fail);

	if (r)
		return r < 0 ? r : explain_between(view, found.place, view->cursor, pair.pid, fail);
	r = pair_find(view, view->cursor, 0, &pair, &found, fail);
	if (r <= 0 || pair.task <= 0) {
		view_say(view,
			 pair.what[0] && !r ? "no %s is in the recording" :
					      "X explains calls and wakeups: this event is no end of one",
			 pair.what);
		return r < 0 ? r : 0;
	}
	return explain_between(view, pair.forward ? view->cursor : found.place,
			       pair.forward ? found.place : view->cursor, pair.task, fail);
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

/* What the user gave to view and what the command takes as well. */
static bool put_manner(const struct view *view, struct buf *into)
{
	static const char *const faces[] = { [FACE_WALL] = "wall", [FACE_UTC] = "utc", [FACE_RELATIVE] = "relative" };
	bool report = !strncmp(buf_str(into), "weft report ", 12),
	     columns = !strncmp(buf_str(into), "weft export ", 12);
	bool ok = true;

	if (view->decodes && (report || columns))
		ok &= buf_add_str(into, " --decode");
	if (view->decodes && (report || columns) && view->plugin_dir)
		ok &= buf_add_str(into, " --plugin-dir ") && view_quote(view->plugin_dir, into);
	if (view->nanoseconds && report)
		ok &= buf_add_str(into, " -t");
	if (view->face.kind != FACE_TRACE && !columns)
		ok &= buf_addf(into, " --time %s", faces[view->face.kind]);
	return ok && (!view->trusts_size || buf_add_str(into, " --trust-size"));
}

static void copy_command(struct view *view)
{
	struct pane *pane = view_pane(view);
	cleanup_buf struct buf text = BUF_INIT;

	if (!pane->ops->command || !pane->ops->command(pane, &text) || !put_manner(view, &text)) {
		view_say(view, "no command prints this pane");
		return;
	}
	buf_add_str(&text, " ");
	view_quote(view->path, &text);
	view_copy(view, buf_str(&text), text.len);
	view_say(view, "%.250s", buf_str(&text));
}

/* Shows a pane below the one that is there, with the keys. */
static int open_below(struct view *view, char letter, struct fail *fail)
{
	unsigned above = view->shown;
	int r = view_show(view, letter, fail);

	if (r)
		return r;
	view->second = view->shown;
	view->shown = above;
	view->in_second = true;
	return 0;
}

static void close_second(struct view *view)
{
	view->second = 0;
	view->in_second = view->wide = false;
}

/* Keeps the pane with the keys, or shows another one below it. */
static int split(struct view *view, struct fail *fail)
{
	int r;

	if (!view->second) {
		r = open_below(view, view->shown == 5 ? '1' : '5', fail);
		view->in_second = false;
		return r;
	}
	if (view->in_second)
		view->shown = view->second;
	close_second(view);
	return 0;
}

int view_details(struct view *view, struct fail *fail)
{
	if (!view->second && view->shown != 5)
		return open_below(view, '5', fail);
	view->in_second = view->second != 0;
	return view_show(view, '5', fail);
}

void view_leave(struct view *view)
{
	if (view->second) {
		if (!view->in_second)
			view->shown = view->second;
		close_second(view);
	} else if (view->shown != 1) {
		view->shown = 1;
	} else {
		view->quit = true;
	}
}

static void escape(struct view *view)
{
	if (view->nr_filters && view_unfilter(view))
		view_say(view, "the last filter is gone");
	else if (!view_back(view))
		view_say(view, "q leaves the pane, Q leaves weft");
}

/* Keys that are no characters: false for all others. */
static bool special_key(struct view *view, const struct key *key)
{
	if (key->kind == KEY_ESC)
		escape(view);
	else if (key->kind == KEY_TAB)
		view->in_second ^= view->second != 0;
	else if (key_is_ctrl(key, 'l'))
		view->redraw = true;
	else if (key_is_ctrl(key, 'z'))
		view->suspend = true;
	else if (key->kind == KEY_BACKSPACE)
		view_back(view);
	else
		return false;
	return true;
}

/* Marks, and where the cursor was: false for all other keys. */
static bool mark_key(struct view *view, char key)
{
	switch (key) {
	case 'a':
	case 'b':
		set_mark(view, key == 'b');
		return true;
	case 'A':
	case 'B':
		go_mark(view, key == 'B');
		return true;
	case '-':
		view->marks[0].set = view->marks[1].set = false;
		view_filters_changed(view);
		return true;
	case '<':
		if (!view_back(view))
			view_say(view, "there is nothing before");
		return true;
	case '>':
		if (!view_forward(view))
			view_say(view, "there is nothing behind");
		return true;
	}
	return false;
}

/* The panes as they are shown: false for all other keys. */
static bool layout_key(struct view *view, char key)
{
	switch (key) {
	case 'q':
		view_leave(view);
		return true;
	case 'Q':
		view->quit = true;
		return true;
	case 'c':
		copy_command(view);
		return true;
	case 'O':
		view->wide = !view->wide;
		return true;
	case 'M':
		view->mouse_off = !view->mouse_off;
		view_say(view, view->mouse_off ? "the mouse is the terminal's" : "the mouse is weft's");
		return true;
	}
	return false;
}

struct alike {
	char key, what;
	bool forward;
};

/* The key that goes to another event of this type, task or CPU; NULL: it is no such key. */
static const struct alike *alike_of(const struct key *key)
{
	static const struct alike keys[] = { { '[', 't', false }, { ']', 't', true },  { '{', 'p', false },
					     { '}', 'p', true },  { '(', 'c', false }, { ')', 'c', true } };

	for (size_t i = 0; i < array_size(keys); i++)
		if (key_is(key, keys[i].key))
			return &keys[i];
	return NULL;
}

/* Keys for which events are read, now or by a pane. */
static int event_key(struct view *view, char key, struct fail *fail)
{
	switch (key) {
	case 'n':
	case 'N':
		return again(view, key == 'N', fail);
	case 't':
		return follow(view, VIEW_FILTER_PID, fail);
	case 'C':
		return follow(view, VIEW_FILTER_CPU, fail);
	case 'e':
		return follow(view, VIEW_FILTER_EVENT, fail);
	case '%':
		return partner(view, fail);
	case 'X':
		return explain(view, fail);
	case 'o':
		return split(view, fail);
	}
	return 0;
}

int view_key(struct view *view, const struct key *key, struct fail *fail)
{
	const struct alike *alike = alike_of(key);
	char rune;

	if (alike)
		return search_alike(view, alike->what, alike->forward, fail);
	if (special_key(view, key) || key->kind != KEY_RUNE || key->modifiers || key->rune >= 0x80)
		return 0;
	rune = (char)key->rune;
	if (isdigit((unsigned char)rune))
		return view_show(view, rune, fail);
	return mark_key(view, rune) || layout_key(view, rune) ? 0 : event_key(view, rune, fail);
}
