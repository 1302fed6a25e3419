// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/screen.h"

#include "lib/base/fail.h"
#include "lib/view/prompt_internal.h"
#include "lib/view/screen_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int screen_new(struct view *view, const char *title, struct screen **ret, struct fail *fail)
{
	struct screen *screen = calloc(1, sizeof(*screen));

	if (!screen)
		return fail_memory(fail);
	screen->view = view;
	screen->title = strdup(title);
	if (!screen->title || !out_init(&screen->text, 1024)) {
		screen_free(screen);
		return fail_memory(fail);
	}
	*ret = screen;
	return 0;
}

void screen_free(struct screen *screen)
{
	if (!screen)
		return;
	if (screen->text.start)
		out_release(&screen->text);
	free(screen->title);
	free(screen);
}

static void uncover(struct screen *screen)
{
	screen->cover = COVER_NONE;
	screen->cover_top = 0;
	out_clear(&screen->text);
}

static void cover(struct screen *screen, enum cover what)
{
	uncover(screen);
	screen->cover = what;
}

/* A message of several lines, such as a filter and a caret below it, covers the panes. */
static void tell(struct screen *screen, const struct fail *fail)
{
	if (!strchr(fail->text, '\n')) {
		view_say(screen->view, "%.255s", fail->text);
		return;
	}
	cover(screen, COVER_TEXT);
	out_str(&screen->text, fail->text);
	out_char(&screen->text, '\n');
}

static void put_filters(struct screen *screen)
{
	static const char *const kinds[] = {
		[VIEW_FILTER_EXPRESSION] = "-f", [VIEW_FILTER_EVENT] = "-e",  [VIEW_FILTER_PID] = "--pid",
		[VIEW_FILTER_COMM] = "--comm",   [VIEW_FILTER_CPU] = "--cpu", [VIEW_FILTER_QUERY] = "the command line's"
	};
	const struct view *view = screen->view;
	struct out *out = &screen->text;

	out_clear(out);
	out_str(out, "The filters: all that are on must be met. A digit switches one; Esc leaves.\n\n");
	for (size_t i = 0; i < view->nr_filters; i++)
		out_f(out, "%zu  %-4s %s%s %s\n", i + 1, view->filters[i].off ? "off" : "on",
		      view->filters[i].negated ? "-v " : "", kinds[view->filters[i].kind], view->filters[i].text);
	if (!view->nr_filters)
		out_str(out, "There are none: & adds one.\n");
}

static void put_bookmarks(struct screen *screen)
{
	const struct view *view = screen->view;
	struct out *out = &screen->text;
	bool any = false;

	out_clear(out);
	out_str(out, "Bookmarks: a letter goes to one; Esc leaves.\n\n");
	for (unsigned i = 0; i < VIEW_BOOKMARKS; i++) {
		if (!view->bookmarked[i])
			continue;
		any = true;
		out_f(out, "%c  ", 'a' + (char)i);
		view_put_time(view, view->bookmarks[i].ts, out);
		out_char(out, '\n');
	}
	if (!any)
		out_str(out, "There are none: m and a letter set one.\n");
}

static void put_help(struct screen *screen)
{
	const struct pane *pane = view_pane(screen->view);

	cover(screen, COVER_TEXT);
	out_f(&screen->text, "Keys of the pane '%s'\n%s\nKeys everywhere\n%s", pane->ops->name, pane->ops->help,
	      view_help);
}

static void go_bookmark(struct view *view, uint32_t letter)
{
	unsigned index = letter - 'a';

	if (index >= VIEW_BOOKMARKS || !view->bookmarked[index])
		view_say(view, "there is no such bookmark");
	else
		view_go(view, view->bookmarks[index]);
}

/* The letter behind m and '. */
static void pending_key(struct screen *screen, const struct key *key)
{
	struct view *view = screen->view;
	char what = screen->pending;

	screen->pending = 0;
	if (key->kind != KEY_RUNE || key->modifiers || key->rune < 'a' || key->rune > 'z')
		return;
	if (what == '\'') {
		go_bookmark(view, key->rune);
		return;
	}
	view->bookmarks[key->rune - 'a'] = view->cursor;
	view->bookmarked[key->rune - 'a'] = true;
	view_say(view, "bookmark %c: ' and %c go there", (char)key->rune, (char)key->rune);
}

static size_t count_lines(const struct out *out)
{
	size_t nr = 0;

	for (const char *at = out->start; (at = memchr(at, '\n', (size_t)(out->at - at))); at++)
		nr++;
	return nr;
}

/* False: the key leaves the cover, and means nothing else. */
static bool cover_key(struct screen *screen, const struct key *key)
{
	struct view *view = screen->view;
	size_t lines = count_lines(&screen->text);

	if (key->kind == KEY_DOWN || key_is(key, 'j') || (key->kind == KEY_MOUSE && key->act == MOUSE_WHEEL_DOWN)) {
		screen->cover_top += screen->cover_top + 1 < lines;
		return true;
	}
	if (key->kind == KEY_UP || key_is(key, 'k') || (key->kind == KEY_MOUSE && key->act == MOUSE_WHEEL_UP)) {
		screen->cover_top -= screen->cover_top > 0;
		return true;
	}
	if (key->kind == KEY_PAGE_DOWN || key_is(key, ' ')) {
		screen->cover_top += screen->cover_top + 10 < lines ? 10 : 0;
		return true;
	}
	if (key->kind == KEY_MOUSE || key->kind == KEY_NONE)
		return true;
	if (screen->cover == COVER_FILTERS && key->kind == KEY_RUNE && key->rune >= '1' &&
	    key->rune < '1' + view->nr_filters) {
		view->filters[key->rune - '1'].off = !view->filters[key->rune - '1'].off;
		view_filters_changed(view);
		put_filters(screen);
		return true;
	}
	if (screen->cover == COVER_BOOKMARKS && key->kind == KEY_RUNE && key->rune >= 'a' && key->rune <= 'z')
		go_bookmark(view, key->rune);
	uncover(screen);
	return false;
}

static int prompt_typed(struct screen *screen, const struct key *key, struct fail *fail)
{
	struct out choices;
	enum prompt_answer answer;
	int r = 0;

	if (!out_init(&choices, 256))
		return fail_memory(fail);
	answer = prompt_key(&screen->prompt, screen->view, key, &choices);
	uncover(screen);
	if (out_len(&choices)) {
		cover(screen, COVER_TEXT);
		out_mem(&screen->text, choices.start, out_len(&choices));
	}
	out_release(&choices);
	if (answer == PROMPT_DONE)
		r = prompt_do(&screen->prompt, screen->view, fail);
	return r;
}

/* The keys that open a prompt or a cover. */
static bool opens(struct screen *screen, const struct key *key)
{
	static const char prompts[] = ":/\\&wW";
	struct view *view = screen->view;

	if (key->kind == KEY_FUNCTION && key->rune == 1) {
		put_help(screen);
		return true;
	}
	if (key->kind != KEY_RUNE || key->modifiers || key->rune >= 0x80 || !key->rune)
		return false;
	if (strchr(prompts, (char)key->rune)) {
		prompt_open(&screen->prompt, (char)key->rune, "");
		return true;
	}
	switch ((char)key->rune) {
	case '?':
		put_help(screen);
		return true;
	case 'f':
		cover(screen, COVER_FILTERS);
		put_filters(screen);
		return true;
	case '"':
		cover(screen, COVER_BOOKMARKS);
		put_bookmarks(screen);
		return true;
	case 'm':
	case '\'':
		screen->pending = (char)key->rune;
		view_say(view, key->rune == 'm' ? "bookmark: a letter" : "go to bookmark: a letter");
		return true;
	}
	return false;
}

/* Appends a text without the sequences of colours that panes put into it. */
static bool put_plain(const char *text, size_t len, struct buf *into)
{
	bool ok = true;

	for (const char *end = text + len; ok && text < end;) {
		const char *escape = memchr(text, '\033', (size_t)(end - text));

		ok = buf_add(into, text, (size_t)((escape ? escape : end) - text));
		text = escape ? memchr(escape, 'm', (size_t)(end - escape)) : end;
		text = text && escape ? text + 1 : end;
	}
	return ok;
}

/* Copies the row of the cursor; of a pane without one, all that it shows. */
static int copy_rows(struct screen *screen, struct fail *fail)
{
	struct view *view = screen->view;
	struct pane *pane = view_pane(view);
	unsigned which = view->second && view->in_second && !view->wide;
	struct rows rows = { .width = screen->width, .height = screen->height[which], .cursor = SIZE_MAX };
	cleanup_buf struct buf text = BUF_INIT;
	const char *at;
	int r;

	if (!out_init(&rows.text, 8192))
		return fail_memory(fail);
	r = pane->ops->draw(pane, &rows, fail);
	at = rows.text.start;
	for (size_t i = 0; !r && at < rows.text.at; i++) {
		const char *newline = memchr(at, '\n', (size_t)(rows.text.at - at));
		size_t len = (size_t)((newline ? newline : rows.text.at) - at);

		if ((rows.cursor == SIZE_MAX || i == rows.cursor) &&
		    (!put_plain(at, len, &text) || (rows.cursor == SIZE_MAX && !buf_add_str(&text, "\n"))))
			r = fail_memory(fail);
		at += len + 1;
	}
	out_release(&rows.text);
	if (r)
		return r;
	view_copy(view, buf_str(&text), text.len);
	view_say(view, rows.cursor == SIZE_MAX ? "copied what the pane shows" : "copied: %.230s", buf_str(&text));
	return 0;
}

/* The pane below the mouse gets its keys, with rows that count from its own first one. */
static void aim(struct screen *screen, struct key *key)
{
	struct view *view = screen->view;

	for (unsigned i = 0; i < 2; i++) {
		if (key->row < screen->top[i] || key->row >= screen->top[i] + screen->height[i])
			continue;
		if (view->second && !view->wide)
			view->in_second = i == 1;
		key->row = (uint16_t)(key->row - screen->top[i]);
		return;
	}
	*key = (struct key){ .kind = KEY_NONE };
}

static int dispatch(struct screen *screen, const struct key *typed, struct fail *fail)
{
	struct view *view = screen->view;
	struct key key = *typed;
	struct pane *pane;
	int r;

	if (screen->prompt.sign)
		return key.kind == KEY_MOUSE ? 0 : prompt_typed(screen, &key, fail);
	if (key.kind == KEY_MOUSE && screen->cover == COVER_NONE)
		aim(screen, &key);
	if (key.kind == KEY_NONE || key.kind == KEY_PASTE)
		return 0;
	*view->message = '\0';
	if (screen->pending) {
		pending_key(screen, &key);
		return 0;
	}
	if (screen->cover != COVER_NONE) {
		cover_key(screen, &key);
		return 0;
	}
	pane = view_pane(view);
	r = pane->ops->key(pane, &key, fail);
	if (r)
		return r < 0 ? r : 0;
	if (key_is(&key, 'y'))
		return copy_rows(screen, fail);
	return opens(screen, &key) ? 0 : view_key(view, &key, fail);
}

int screen_key(struct screen *screen, const struct key *key, struct fail *fail)
{
	struct fail why = FAIL_INIT;
	int r = dispatch(screen, key, &why);

	if (r == -ENOMEM)
		return fail_memory(fail);
	if (r && r != -ECANCELED)
		tell(screen, &why);
	return 0;
}
