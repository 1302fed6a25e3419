// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/screen.h"

#include "lib/base/fail.h"
#include "lib/base/utf8.h"
#include "lib/term/frame.h"
#include "lib/view/screen_internal.h"
#include "lib/view/view_panes_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_WIDTH = 20, LEAST_HEIGHT = 5, SECOND_LEAST = 5 };

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

static void draw_title(const struct screen *screen, struct frame *frame)
{
	const struct view *view = screen->view;
	const struct pane_ops *ops;
	struct out out;
	unsigned used;

	if (!out_init(&out, 256))
		return;
	for (size_t i = 0; (ops = view_pane_at(i)); i++) {
		unsigned digit = (unsigned)(ops->letter - '0');
		bool shown = digit == view->shown || digit == view->second;

		out_f(&out, shown ? "[%c %s]" : " %c %s ", ops->letter, ops->name);
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

static void draw_bottom(const struct screen *screen, struct frame *frame)
{
	const struct view *view = screen->view;
	struct rows rows = { .nr = 0 };

	if (screen->prompt.sign) {
		draw_prompt(screen, frame);
		return;
	}
	if (!*view->message) {
		put_text(frame, frame->height - 1, dim, view_pane(view)->ops->hint);
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

	for (unsigned y = 0; y < height && at < rows->text.at; y++) {
		const char *newline = memchr(at, '\n', (size_t)(rows->text.at - at));
		size_t len = (size_t)((newline ? newline : rows->text.at) - at);

		frame_put_from(frame, 0, top + y, frame->width, plain, y < rows->fixed ? 0 : rows->skip, at, len);
		if (y == rows->cursor)
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

static void draw_cover(const struct screen *screen, struct frame *frame, unsigned top, unsigned height)
{
	const char *at = screen->text.start;
	struct rows rows = { .cursor = SIZE_MAX };

	for (size_t i = 0; i < screen->cover_top && at < screen->text.at; i++) {
		const char *newline = memchr(at, '\n', (size_t)(screen->text.at - at));

		at = newline ? newline + 1 : screen->text.at;
	}
	if (!out_init(&rows.text, 4096))
		return;
	for (; at < screen->text.at;) {
		const char *newline = memchr(at, '\n', (size_t)(screen->text.at - at));
		size_t len = (size_t)((newline ? newline : screen->text.at) - at);

		rows_foreign(&rows, at, len);
		rows_end_line(&rows);
		at += len + 1;
	}
	draw_rows(&rows, frame, top, height, true);
	out_release(&rows.text);
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
	screen->width = frame->width;
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
