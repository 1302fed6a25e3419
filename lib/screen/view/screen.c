// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/screen.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/utf8.h"
#include "lib/screen/term/frame.h"
#include "lib/screen/view/prompt_internal.h"
#include "lib/screen/view/view.h"

/* A text that covers the panes. Help is wrapped; what was wrong with a filter has a mark below, and is not. */
enum cover { COVER_NONE, COVER_TEXT, COVER_HELP, COVER_FILTERS, COVER_BOOKMARKS };

struct screen {
	struct view *view;
	struct prompt prompt;
	char *title;
	enum cover cover;
	struct out text;                          /* of the cover */
	size_t cover_top, cover_last, cover_page; /* lines: the first one shown, the last one that may be; of a page */
	bool escaped;                             /* the last key was Esc, so a message is its own */
	char pending;                             /* 'm' or '\'': the next key is a letter */
	/* Where the panes were drawn last, for the mouse. */
	unsigned top[2], height[2], width;
	unsigned tabs[VIEW_PANES_MAX]; /* where each name in the first line ends */
};

/* HELP_COLUMN: where what the keys do begins, on a screen that is wide enough. */
enum {
	LEAST_WIDTH = 20,
	LEAST_HEIGHT = 5,
	SECOND_LEAST = 5,
	HELP_COLUMN = 17,
	HELP_NARROW_COLUMN = 8,
	HELP_WIDE = 60,
	HELP_LEAST = 12
};

static const struct pen plain = { .fg = 0 }, bar = { .attributes = CELL_REVERSE }, bold = { .attributes = CELL_BOLD },
			dim = { .attributes = CELL_DIM }, underline = { .attributes = CELL_UNDERLINE };

static void put_text(struct frame *frame, unsigned y, struct pen pen, const char *text)
{
	frame_put(frame, 0, y, frame->width, pen, text, strlen(text));
}

/* Writes a text at the right end of a row, if the row has room. */
static void put_right(struct frame *frame, unsigned y, unsigned used, struct pen pen, const char *text)
{
	unsigned width = (unsigned)utf8_columns(text, strlen(text));

	if (used + 2 + width <= frame->width)
		frame_put(frame, frame->width - width, y, width, pen, text, strlen(text));
}

/* Writes the panes that one can show. Where not all names have room, only those that are shown are named. */
static void put_tabs(struct screen *screen, bool all, struct out *out)
{
	const struct view *view = screen->view;

	for (size_t i = 0; i < view->nr_all_panes && i < array_size(screen->tabs); i++) {
		const struct pane_ops *ops = view->all_panes[i];
		unsigned digit = (unsigned)(ops->letter - '0');
		bool shown = digit == view->shown || digit == view->second;

		if (shown)
			out_f(out, "[%c %s]", ops->letter, ops->name);
		else if (all)
			out_f(out, " %c %s ", ops->letter, ops->name);
		else
			out_f(out, " %c ", ops->letter);
		/* All names are ASCII. */
		screen->tabs[i] = (unsigned)out_len(out);
	}
}

static void draw_title(struct screen *screen, struct frame *frame)
{
	struct out out;
	unsigned used;

	if (!out_init(&out, 256))
		return;
	put_tabs(screen, true, &out);
	if (out_len(&out) > frame->width) {
		out_clear(&out);
		put_tabs(screen, false, &out);
	}
	used = frame_put(frame, 0, 0, frame->width, bar, out.start, out_len(&out));
	frame_tint(frame, 0, 0, frame->width, bar);
	put_right(frame, 0, used, bar, screen->title);
	out_release(&out);
}

/* The place of the cursor, the marks and what lies between them, and the filters. */
static void draw_state(const struct screen *screen, struct frame *frame)
{
	struct view *view = screen->view;
	uint64_t from = view->extent.first, to = view->extent.last, at = view->cursor.ts;
	unsigned y = frame->height - 2;
	uint64_t number;
	size_t on = 0;
	struct out out;

	if (!out_init(&out, 256))
		return;
	if (at > to)
		at = to;
	view_put_time(view, at, &out);
	if (to > from && at >= from)
		out_f(&out, "  %.1f %%", (double)(at - from) * 100 / (double)(to - from));
	if (view_number(view, &number))
		out_f(&out, "  #%" PRIu64, number);
	for (size_t i = 0; i < 2; i++) {
		if (!view->marks[i].set)
			continue;
		out_f(&out, "  %c ", 'A' + (char)i);
		view_put_time(view, view->marks[i].place.ts, &out);
	}
	if (view->marks[0].set && view->marks[1].set) {
		uint64_t a = view->marks[0].place.ts, b = view->marks[1].place.ts;

		out_str(&out, b < a ? "  B-A -" : "  B-A ");
		view_put_span(view, b < a ? a - b : b - a, &out);
	} else if (view->marks[0].set) {
		uint64_t a = view->marks[0].place.ts;

		out_str(&out, at < a ? "  from A -" : "  from A ");
		view_put_span(view, at < a ? a - at : at - a, &out);
	}
	for (size_t i = 0; i < view->nr_filters; i++)
		on += !view->filters[i].off;
	if (view->nr_filters)
		out_f(&out, "  %zu of %zu filter%s on", on, view->nr_filters, view->nr_filters == 1 ? "" : "s");
	if (view->wide && view->second)
		out_str(&out, "  (O: both panes)");
	frame_put(frame, 0, y, frame->width, bar, out.start, out_len(&out));
	frame_tint(frame, 0, y, frame->width, bar);
	out_release(&out);
}

static void draw_prompt(const struct screen *screen, struct frame *frame)
{
	static const struct {
		char sign;
		const char *label;
	} labels[] = {
		{ ':', ":" },
		{ '/', "/" },
		{ '\\', "\\" },
		{ '&', "filter: " },
		{ 'w', "wakeup later than: " },
		{ 'W', "last wakeup later than: " },
	};
	const struct prompt *prompt = &screen->prompt;
	unsigned y = frame->height - 1, used = 0, room, at, skip;

	for (size_t i = 0; i < array_size(labels); i++)
		if (labels[i].sign == prompt->sign)
			used = frame_put(frame, 0, y, frame->width, bold, labels[i].label, strlen(labels[i].label));
	room = frame->width > used + 1 ? frame->width - used : 1;
	at = (unsigned)utf8_columns(prompt->text, prompt->at);
	skip = at >= room ? at - room + 1 : 0;
	frame_put_from(frame, used, y, room, plain, skip, prompt->text, prompt->len);
	frame->cursor = true;
	frame->cursor_x = used + at - skip;
	frame->cursor_y = y;
}

/* The most useful keys, as many as there is room for: the last one says where all are. */
static void draw_hint(const struct screen *screen, struct frame *frame)
{
	const char *text = view_pane(screen->view)->ops->hint, *last = text, *next;
	unsigned y = frame->height - 1, width = frame->width;
	char lines[96];

	if (screen->cover != COVER_NONE) {
		snprintf(lines, sizeof(lines), "Esc leaves; %zu lines more: j PgDn",
			 screen->cover_last - screen->cover_top);
		if (screen->cover_top == screen->cover_last)
			snprintf(lines, sizeof(lines), "Esc leaves%s", screen->cover_last ? "; back: k PgUp" : "");
		put_text(frame, y, dim, lines);
		return;
	}
	while ((next = strstr(last, "  ")))
		last = next + 2;
	width -= strlen(last) < width ? (unsigned)strlen(last) : width;
	for (next = text; next < last; next = strstr(next, "  ") + 2)
		if ((size_t)(strstr(next, "  ") + 2 - text) > width)
			break;
	width = frame_put(frame, 0, y, frame->width, dim, text, (size_t)(next - text));
	frame_put(frame, width, y, frame->width - width, dim, last, strlen(last));
}

static void draw_bottom(const struct screen *screen, struct frame *frame)
{
	const struct view *view = screen->view;
	struct rows rows = { .nr = 0 };

	if (screen->prompt.sign) {
		draw_prompt(screen, frame);
		return;
	}
	if (!*view->message) {
		draw_hint(screen, frame);
		return;
	}
	if (!out_init(&rows.text, 256))
		return;
	rows_foreign(&rows, view->message, strlen(view->message));
	frame_put(frame, 0, frame->height - 1, frame->width, bold, rows.text.start, out_len(&rows.text));
	out_release(&rows.text);
}

static void draw_rows(const struct rows *rows, struct frame *frame, unsigned top, unsigned height, bool active)
{
	const char *at = rows->text.start;

	for (size_t i = 0; i < rows->top && at < rows->text.at; i++)
		at = (const char *)memchr(at, '\n', (size_t)(rows->text.at - at)) + 1;
	for (unsigned y = 0; y < height && at < rows->text.at; y++) {
		const char *newline = memchr(at, '\n', (size_t)(rows->text.at - at));
		size_t len = (size_t)((newline ? newline : rows->text.at) - at);

		frame_put_from(frame, 0, top + y, frame->width, plain, y < rows->fixed ? 0 : rows->skip, at, len);
		if (y >= rows->cursor && y <= rows->cursor + rows->more)
			frame_tint(frame, 0, top + y, frame->width, active ? bar : underline);
		at += len + 1;
	}
}

static int draw_pane(const struct screen *screen, struct pane *pane, struct frame *frame, unsigned top, unsigned height,
		     struct fail *fail)
{
	struct rows rows = { .width = frame->width, .height = height, .cursor = SIZE_MAX };
	struct fail why = FAIL_INIT;
	int r;

	if (!out_init(&rows.text, 8192))
		return fail_memory(fail);
	r = pane->ops->draw(pane, &rows, &why);
	if (r && r != -ENOMEM) {
		/* What cannot be shown is told in its place. */
		out_clear(&rows.text);
		rows.nr = 0;
		rows.cursor = SIZE_MAX;
		out_f(&rows.text, "%s\n", why.text);
		r = 0;
	}
	if (r || rows.text.failed)
		r = fail_memory(fail);
	else
		draw_rows(&rows, frame, top, height, pane == view_pane(screen->view));
	out_release(&rows.text);
	return r;
}

/* The bytes of a text that fit into `room` columns without cutting a word; a word that is too long is cut. */
static size_t fit_words(const char *text, size_t len, unsigned room)
{
	size_t fits = utf8_fit(text, len, room), at = fits;

	while (at < len && at && text[at] != ' ')
		at--;
	return at ? at : fits ? fits : len;
}

/* A line of help: keys, a tab and what they do, which goes on below itself; or sentences. */
static void put_help_line(struct rows *rows, const char *line, size_t len)
{
	const char *tab = memchr(line, '\t', len), *end = line + len;
	unsigned column = !tab ? 0 : rows->width < HELP_WIDE ? HELP_NARROW_COLUMN : HELP_COLUMN, used = 0;

	if (tab) {
		used = (unsigned)(tab - line);
		out_mem(&rows->text, line, used);
		line = tab + 1;
		if (used >= column && rows->width < used + HELP_LEAST) {
			rows_end_line(rows);
			used = 0;
		} else if (used >= column) {
			out_char(&rows->text, ' ');
			used++;
		}
	}
	do {
		size_t part;

		out_fill(&rows->text, ' ', used < column ? column - used : 0);
		used = used < column ? column : used;
		part = fit_words(line, (size_t)(end - line), rows->width > used ? rows->width - used : 1);
		out_mem(&rows->text, line, part);
		rows_end_line(rows);
		line += part;
		line += line < end && *line == ' ';
		used = 0;
	} while (line < end);
}

/* The lines of what covers the panes, at the width of the screen. */
static bool cover_rows(struct screen *screen, struct rows *ret)
{
	const char *at = screen->text.start;

	*ret = (struct rows){ .width = screen->width, .height = UINT_MAX, .cursor = SIZE_MAX };
	if (!out_init(&ret->text, 4096))
		return false;
	while (at < screen->text.at) {
		const char *newline = memchr(at, '\n', (size_t)(screen->text.at - at));
		size_t len = (size_t)((newline ? newline : screen->text.at) - at);

		if (screen->cover == COVER_HELP) {
			put_help_line(ret, at, len);
		} else {
			rows_foreign(ret, at, len);
			rows_end_line(ret);
		}
		at += len + 1;
	}
	screen->cover_last = ret->nr > screen->cover_page ? ret->nr - screen->cover_page : 0;
	if (screen->cover_top > screen->cover_last)
		screen->cover_top = screen->cover_last;
	ret->top = screen->cover_top;
	return true;
}

static void draw_cover(struct screen *screen, struct frame *frame, unsigned top, unsigned height)
{
	struct rows rows;

	if (!cover_rows(screen, &rows))
		return;
	draw_rows(&rows, frame, top, height, true);
	out_release(&rows.text);
}

static bool move_cover(struct screen *screen, const struct key *key)
{
	struct rows rows;

	/* It may not have been drawn yet. */
	if (cover_rows(screen, &rows))
		out_release(&rows.text);
	return rows_move(key, &screen->cover_top, screen->cover_page, screen->cover_last);
}

static int draw_panes(struct screen *screen, struct frame *frame, struct fail *fail)
{
	struct view *view = screen->view;
	unsigned height = frame->height - 3, lower = view->second ? height / 3 : 0, y = 1 + height - lower;
	int r;

	if (lower && lower < SECOND_LEAST)
		lower = height / 2 < SECOND_LEAST ? height / 2 : SECOND_LEAST;
	y = 1 + height - lower;
	memset(screen->top, 0, sizeof(screen->top));
	memset(screen->height, 0, sizeof(screen->height));
	if (!lower || view->wide) {
		screen->top[0] = 1;
		screen->height[0] = height;
		return draw_pane(screen, view_pane(view), frame, 1, height, fail);
	}
	screen->top[0] = 1;
	screen->height[0] = height - lower - 1;
	screen->top[1] = y;
	screen->height[1] = lower;
	r = draw_pane(screen, view->panes[view->shown], frame, 1, screen->height[0], fail);
	if (r)
		return r;
	for (unsigned x = 0; x < frame->width; x++)
		frame_put(frame, x, y - 1, 1, dim, view->ascii ? "-" : "\xe2\x94\x80", view->ascii ? 1 : 3);
	put_right(frame, y - 1, 0, dim, view->panes[view->second]->ops->name);
	return draw_pane(screen, view->panes[view->second], frame, y, lower, fail);
}

int screen_draw(struct screen *screen, struct frame *frame, struct fail *fail)
{
	int r;

	frame_clear(frame);
	screen->width = frame->width;
	screen->cover_page = frame->height > 3 ? frame->height - 3 : 1;
	if (frame->width < LEAST_WIDTH || frame->height < LEAST_HEIGHT) {
		put_text(frame, 0, plain, "too small");
		return 0;
	}
	if (screen->cover != COVER_NONE) {
		draw_cover(screen, frame, 1, frame->height - 3);
		r = 0;
	} else {
		r = draw_panes(screen, frame, fail);
	}
	draw_title(screen, frame);
	draw_state(screen, frame);
	draw_bottom(screen, frame);
	return r;
}

void screen_progress(const struct screen *screen, struct frame *frame, const char *what, unsigned percent)
{
	char text[128];
	unsigned y = frame->height - 1;

	(void)screen;
	snprintf(text, sizeof(text), "%s: %u %% (any key stops)", what, percent);
	for (unsigned x = 0; x < frame->width; x++)
		frame_put(frame, x, y, 1, plain, " ", 1);
	put_text(frame, y, bold, text);
}

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

	cover(screen, COVER_HELP);
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

/* What covers the panes can be moved; any other key leaves it, and means nothing else. */
static void cover_key(struct screen *screen, const struct key *key)
{
	struct view *view = screen->view;

	if (screen->cover == COVER_FILTERS && key->kind == KEY_RUNE && key->rune >= '1' &&
	    key->rune < '1' + view->nr_filters) {
		view->filters[key->rune - '1'].off = !view->filters[key->rune - '1'].off;
		view_filters_changed(view);
		put_filters(screen);
	} else if (screen->cover == COVER_BOOKMARKS && key->kind == KEY_RUNE && key->rune >= 'a' && key->rune <= 'z') {
		go_bookmark(view, key->rune);
		uncover(screen);
	} else if (!move_cover(screen, key) && key->kind != KEY_MOUSE && key->kind != KEY_NONE) {
		uncover(screen);
	}
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
	struct rows rows = {
		.width = screen->width, .height = screen->height[which], .cursor = SIZE_MAX, .unwrapped = true
	};
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

/* A click on the name of a pane shows it. */
static int click_tab(struct screen *screen, unsigned column, struct fail *fail)
{
	const struct view *view = screen->view;

	for (size_t i = 0; i < view->nr_all_panes && i < array_size(screen->tabs); i++)
		if (column < screen->tabs[i])
			return view_show(screen->view, view->all_panes[i]->letter, fail);
	return 0;
}

static int dispatch(struct screen *screen, const struct key *typed, struct fail *fail)
{
	struct view *view = screen->view;
	struct key key = *typed;
	struct pane *pane;
	bool told;
	int r;

	if (screen->prompt.sign)
		return key.kind == KEY_MOUSE ? 0 : prompt_typed(screen, &key, fail);
	if (key.kind == KEY_MOUSE && key.act == MOUSE_PRESS && !key.row) {
		uncover(screen);
		return click_tab(screen, key.column, fail);
	}
	if (key.kind == KEY_MOUSE && screen->cover == COVER_NONE)
		aim(screen, &key);
	if (key.kind == KEY_NONE || key.kind == KEY_PASTE)
		return 0;
	told = *view->message && !screen->escaped;
	screen->escaped = key.kind == KEY_ESC;
	*view->message = '\0';
	if (screen->pending) {
		pending_key(screen, &key);
		return 0;
	}
	if (screen->cover != COVER_NONE) {
		cover_key(screen, &key);
		return 0;
	}
	/* Where a search found nothing, and it is said so, one stays. */
	if (told && screen->escaped)
		return 0;
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
