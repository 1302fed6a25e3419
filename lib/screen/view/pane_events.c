// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "formats/palette.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/utf8.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/screen/term/frame.h"
#include "lib/screen/view/columns_internal.h"
#include "lib/screen/view/event_cursor_internal.h"
#include "lib/screen/view/folds_internal.h"
#include "lib/screen/view/listing_internal.h"
#include "lib/screen/view/view_panes_internal.h"

/* The list of events in time, as report prints them. */

/* NARROW: fewer columns do not show the name of an event; COMM_LEAST: so many have room for a task, too. */
enum { DELTA_COLUMNS = 11, SIDE_STEP = 8, NARROW = 72, COMM_LEAST = 36 };

enum deltas { DELTA_NONE, DELTA_ABOVE, DELTA_CURSOR, DELTA_NR };

struct events_pane {
	struct pane pane; /* first */
	struct listing listing;
	bool begun;
	struct walk_place top; /* the event of the first row that is shown, */
	uint16_t top_line;     /* and which of its lines */
	unsigned height;       /* of the last drawing */
	unsigned skip;         /* columns */
	enum deltas deltas;
};

static int events_create(struct view *view, struct pane **ret, struct fail *fail)
{
	struct events_pane *pane = calloc(1, sizeof(*pane));

	if (!pane)
		return fail_memory(fail);
	listing_init(&pane->listing, view);
	pane->height = 20;
	*ret = &pane->pane;
	return 0;
}

static void events_free_pane(struct pane *pane)
{
	struct events_pane *events = (struct events_pane *)pane;

	listing_release(&events->listing);
	free(events);
}

static void events_changed(struct pane *pane)
{
	((struct events_pane *)pane)->begun = false;
}

/* The row at which the screen begins. */
static size_t find_top(const struct events_pane *events)
{
	const struct listing *listing = &events->listing;
	size_t top = listing_find(listing, events->top);

	while (top < listing->nr && !walk_compare(listing->rows[top].place, events->top) &&
	       listing->rows[top].line < events->top_line)
		top++;
	return top;
}

static void set_top(struct events_pane *events, size_t top)
{
	if (top >= events->listing.nr)
		return;
	events->top = events->listing.rows[top].place;
	events->top_line = events->listing.rows[top].line;
}

/* The row of the cursor: where its event is not shown, that of the next one, or the last one. */
static size_t cursor_row(const struct listing *listing)
{
	size_t row = listing_find(listing, listing->view->cursor);

	if (row == listing->nr && row)
		for (row--; row && listing->rows[row].line;)
			row--;
	return row;
}

static bool is_inside(const struct listing *listing, struct walk_place place)
{
	if (!listing->nr)
		return false;
	return walk_compare(place, listing->rows[0].place) >= 0 &&
	       (listing->at_end || walk_compare(place, listing->rows[listing->nr - 1].place) <= 0);
}

/* Columns have a line of titles. */
static unsigned head_of(const struct view *view)
{
	return view->columns != NULL;
}

/* Reads what is needed for the screen, and moves it so that the cursor is on it. */
static int fill(struct events_pane *events, unsigned height, struct fail *fail)
{
	struct listing *listing = &events->listing;
	struct view *view = events->pane.view;
	bool fresh = !events->begun || !is_inside(listing, view->cursor);
	size_t top, row;
	int r = 0;

	if (fresh) {
		r = listing_seek(listing, view->cursor, fail);
		events->begun = !r;
	}
	row = cursor_row(listing);
	if (!r && listing->nr - row < height + 1 && !listing->at_end)
		r = listing_ahead(listing, height * 2, fail);
	/* At the end of the recording there may be only events before. */
	if (!r && !listing->nr && listing->at_end)
		r = listing_back(listing, height * 2, fail);
	row = cursor_row(listing);
	top = fresh ? (row > height / 3 ? row - height / 3 : 0) : find_top(events);
	if (!r && !listing->stopped && (row < height || top < height) && !listing->back.at_start) {
		r = listing_back(listing, height * 2, fail);
		row = cursor_row(listing);
		top = fresh ? (row > height / 3 ? row - height / 3 : 0) : find_top(events);
	}
	if (row < top)
		top = row;
	if (row >= top + height)
		top = row - height + 1;
	/* No rows are wasted below the last one. */
	if (listing->at_end && top + height > listing->nr)
		top = listing->nr > height ? listing->nr - height : 0;
	set_top(events, top);
	return r;
}

static void put_delta(const struct events_pane *events, size_t row, struct rows *rows)
{
	const struct listing *listing = &events->listing;
	const struct view *view = events->pane.view;
	uint64_t ts = listing->rows[row].place.ts, other;
	size_t from = out_len(&rows->text), len;

	if (events->deltas == DELTA_NONE)
		return;
	other = events->deltas == DELTA_CURSOR ? view->cursor.ts : row ? listing->rows[row - 1].place.ts : ts;
	if (listing->rows[row].line) {
		out_fill(&rows->text, ' ', DELTA_COLUMNS);
		return;
	}
	out_char(&rows->text, ts < other ? '-' : '+');
	view_put_span(view, ts < other ? other - ts : ts - other, &rows->text);
	len = out_len(&rows->text) - from;
	if (len < DELTA_COLUMNS)
		out_fill(&rows->text, ' ', DELTA_COLUMNS - len);
}

static const char *mark_of(const struct view *view, struct walk_place place)
{
	static const char *const names[] = { "A", "B" };

	for (size_t i = 0; i < array_size(names); i++)
		if (view->marks[i].set && !walk_compare(view->marks[i].place, place))
			return names[i];
	for (size_t i = 0; i < VIEW_BOOKMARKS; i++)
		if (view->bookmarked[i] && !walk_compare(view->bookmarks[i], place))
			return "'";
	return folds_begin(view->folds, place) ? "+" : " ";
}

static bool has_marks(const struct view *view)
{
	bool any = view->marks[0].set || view->marks[1].set || view->folds->nr;

	for (size_t i = 0; i < VIEW_BOOKMARKS; i++)
		any |= view->bookmarked[i];
	return any;
}

/* The rows as the columns that the user chose. */
static void draw_columns(const struct events_pane *events, size_t top, size_t cursor, struct rows *rows)
{
	const struct listing *listing = &events->listing;
	struct view_columns_row list[FRAME_HEIGHT_MAX];
	size_t nr = 0;

	rows->fixed = 0;
	for (size_t row = top; row < listing->nr && nr + 1 < rows->height && nr < FRAME_HEIGHT_MAX; row++) {
		const struct row *at = &listing->rows[row];

		list[nr++] = (struct view_columns_row){ at->text, at->len, at->place.ts,
							row ? listing->rows[row - 1].place.ts : at->place.ts };
	}
	view_columns_draw(events->pane.view, list, nr, cursor - top, rows);
}

/* The name of a task, cut to the columns that there are for it. */
static void put_comm(const struct view *view, const struct row *row, unsigned columns, struct rows *rows)
{
	struct task_name name = context_comm(view->reader.buffers[row->buffer].context, row->pid, row->place.ts);
	size_t len = utf8_fit(name.text, name.len, columns), used = utf8_columns(name.text, len);

	palette_put(view->color ? palette_task(row->pid) : "", name.text, len, &rows->text);
	out_fill(&rows->text, ' ', columns - used + 1);
}

/*
 * Where the kernel's text would end before the name of the event, its time comes first, then the task, and then what
 * happened. False: the line has no time that stands so.
 */
static bool put_narrow(const struct view *view, const struct row *row, struct rows *rows)
{
	size_t from = out_len(&rows->text), len;
	const char *at;

	if (row->kind != EVENT_RECORD || row->line)
		return false;
	view_put_time(view, row->place.ts, &rows->text);
	out_str(&rows->text, ": ");
	len = out_len(&rows->text) - from;
	at = rows->text.failed ? NULL : memmem(row->text, row->len, rows->text.start + from, len);
	/* The colon stays where no task has room. */
	rows->text.at -= at ? 2 : len;
	if (!at)
		return false;
	if (rows->width < COMM_LEAST) {
		out_str(&rows->text, row->close ? "~ " : ": ");
	} else {
		out_char(&rows->text, row->close ? '~' : ' ');
		put_comm(view, row, rows->width / 5, rows);
	}
	out_mem(&rows->text, at + len, (size_t)(row->text + row->len - at) - len);
	return true;
}

static int events_draw(struct pane *pane, struct rows *rows, struct fail *fail)
{
	struct events_pane *events = (struct events_pane *)pane;
	struct listing *listing = &events->listing;
	unsigned room = head_of(pane->view) < rows->height ? rows->height - head_of(pane->view) : 1;
	int r = fill(events, room, fail);
	size_t top, cursor;
	bool marks = has_marks(pane->view);

	if (r)
		return r;
	events->height = room;
	rows->skip = events->skip;
	top = find_top(events);
	cursor = cursor_row(listing);
	if (pane->view->columns)
		draw_columns(events, top, cursor, rows);
	for (size_t row = top; !pane->view->columns && row < listing->nr && rows->nr < rows->height; row++) {
		if (row == cursor)
			rows->cursor = rows->nr;
		if (marks)
			out_str(&rows->text,
				listing->rows[row].line ? " " : mark_of(pane->view, listing->rows[row].place));
		put_delta(events, row, rows);
		if (rows->width >= NARROW || !put_narrow(pane->view, &listing->rows[row], rows))
			out_mem(&rows->text, listing->rows[row].text, listing->rows[row].len);
		rows_end_line(rows);
	}
	if (rows->nr < rows->height && !listing->nr && listing->at_end && listing->back.at_start) {
		out_str(&rows->text, pane->view->nr_filters ? "no event meets the filters (Esc drops the last one)" :
							      "there are no events");
		rows_end_line(rows);
	} else if (rows->nr < rows->height && listing->ahead && event_cursor_damage(listing->ahead)) {
		out_str(&rows->text, "the file is damaged here: ");
		rows_foreign(rows, event_cursor_damage(listing->ahead), strlen(event_cursor_damage(listing->ahead)));
		rows_end_line(rows);
	} else if (rows->nr < rows->height && listing->stopped) {
		out_str(&rows->text, "...");
		rows_end_line(rows);
	}
	return 0;
}

/* Moves by events: down if `by` is positive. */
static int step(struct events_pane *events, long by, struct fail *fail)
{
	struct listing *listing = &events->listing;
	struct view *view = events->pane.view;
	size_t row = cursor_row(listing), target;
	int r = 0;

	if (by > 0 && listing->nr - row <= (size_t)by && !listing->at_end)
		r = listing_ahead(listing, (size_t)by + events->height, fail);
	if (!r && by < 0 && row < (size_t)-by && !listing->back.at_start)
		r = listing_back(listing, (size_t)-by + events->height, fail);
	if (r || !listing->nr)
		return r;
	row = cursor_row(listing);
	target = row;
	if (by < 0) {
		target = row < (size_t)-by ? 0 : row - (size_t)-by;
		while (target && listing->rows[target].line)
			target--;
	} else {
		target = row + (size_t)by < listing->nr ? row + (size_t)by : listing->nr - 1;
		while (target < listing->nr && listing->rows[target].line)
			target++;
		/* The last lines are those of one event. */
		while (target >= listing->nr || (target && listing->rows[target].line))
			target--;
	}
	view_move(view, listing->rows[target].place);
	return 0;
}

/* Moves the screen with its cursor, as a page does. */
static int page(struct events_pane *events, long by, struct fail *fail)
{
	struct listing *listing = &events->listing;
	int r = step(events, by, fail);
	size_t top;

	if (r || !listing->nr)
		return r;
	top = find_top(events);
	if (by < 0)
		top = top > (size_t)-by ? top - (size_t)-by : 0;
	else
		top += (size_t)by;
	set_top(events, top < listing->nr ? top : listing->nr - 1);
	return 0;
}

static int to_end(struct events_pane *events, bool end)
{
	struct view *view = events->pane.view;
	uint64_t last = view->extent.last;

	view_go(view, end ? (struct walk_place){ last, UINT64_MAX } : (struct walk_place){ view->extent.first, 0 });
	return 1;
}

/* The cursor is moved to the row that the user clicked. */
static void click(struct events_pane *events, unsigned row)
{
	unsigned head = head_of(events->pane.view);
	size_t at = find_top(events) + (row > head ? row - head : 0);

	while (at && at < events->listing.nr && events->listing.rows[at].line)
		at--;
	if (at < events->listing.nr)
		view_move(events->pane.view, events->listing.rows[at].place);
}

/* All calls are folded, or none. */
static void fold_all(struct view *view)
{
	view->folds->all = !view->folds->all;
	view->folds->nr = 0;
	view_say(view, view->folds->all ? "only the outermost calls: z unfolds one, Z all" : "all calls are unfolded");
}

static int fold_key(struct events_pane *events, const struct key *key, struct fail *fail)
{
	struct view *view = events->pane.view;
	size_t row = cursor_row(&events->listing);
	int r = 0;

	/* The event of the cursor may be hidden: the row of the next one is reversed. */
	if (row < events->listing.nr)
		view_move(view, events->listing.rows[row].place);
	if (key_is(key, 'Z'))
		fold_all(view);
	else
		r = folds_toggle(view->folds, view, fail);
	events->begun = false;
	return r;
}

static int events_key(struct pane *pane, const struct key *key, struct fail *fail)
{
	struct events_pane *events = (struct events_pane *)pane;
	struct view *view = pane->view;
	long height = events->height > 1 ? (long)events->height : 2;
	int r;

	if (key->kind == KEY_DOWN || key_is(key, 'j'))
		r = step(events, 1, fail);
	else if (key->kind == KEY_UP || key_is(key, 'k'))
		r = step(events, -1, fail);
	else if (key->kind == KEY_PAGE_DOWN || key_is(key, ' ') || key_is_ctrl(key, 'f'))
		r = page(events, height - 1, fail);
	else if (key->kind == KEY_PAGE_UP || key_is_ctrl(key, 'b'))
		r = page(events, 1 - height, fail);
	else if (key_is_ctrl(key, 'd'))
		r = page(events, height / 2, fail);
	else if (key_is_ctrl(key, 'u'))
		r = page(events, -(height / 2), fail);
	else if (key->kind == KEY_HOME || key_is(key, 'g'))
		r = to_end(events, false);
	else if (key->kind == KEY_END || key_is(key, 'G'))
		r = to_end(events, true);
	else if (key->kind == KEY_MOUSE && key->act == MOUSE_WHEEL_DOWN)
		r = page(events, 3, fail);
	else if (key->kind == KEY_MOUSE && key->act == MOUSE_WHEEL_UP)
		r = page(events, -3, fail);
	else if (key->kind == KEY_MOUSE && key->act == MOUSE_PRESS) {
		click(events, key->row);
		r = 0;
	} else if (key->kind == KEY_LEFT || key_is(key, 'h')) {
		events->skip -= events->skip < SIDE_STEP ? events->skip : SIDE_STEP;
		r = 0;
	} else if (key->kind == KEY_RIGHT || key_is(key, 'l')) {
		events->skip += events->skip < LISTING_SIDE_MAX ? SIDE_STEP : 0;
		r = 0;
	} else if (key_is(key, 'd')) {
		events->deltas = (events->deltas + 1) % DELTA_NR;
		r = 0;
	} else if (key_is(key, 'T')) {
		view->format = strcmp(view->format, "ftrace") ? "ftrace" : "pretty";
		events->begun = false;
		r = 0;
	} else if (key->kind == KEY_ENTER) {
		r = view_details(view, fail);
	} else if (key_is(key, 'z') || key_is(key, 'Z')) {
		r = fold_key(events, key, fail);
	} else if (key_is(key, 'R')) {
		view->raw = !view->raw;
		events->begun = false;
		r = 0;
	} else {
		return 0;
	}
	return r < 0 ? r : 1;
}

static bool events_command(struct pane *pane, struct buf *into)
{
	struct events_pane *events = (struct events_pane *)pane;
	const struct view *view = pane->view;
	const struct listing *listing = &events->listing;
	uint64_t from = view->cursor.ts, to = view->cursor.ts;
	struct out times;
	size_t top = find_top(events), end = top + events->height;
	bool ok;

	if (listing->nr) {
		from = listing->rows[top < listing->nr ? top : listing->nr - 1].place.ts;
		to = listing->rows[end < listing->nr ? end - 1 : listing->nr - 1].place.ts;
	}
	if (!out_init(&times, 128))
		return false;
	view_put_exact(view, from, &times);
	out_str(&times, " --until ");
	view_put_exact(view, to, &times);
	out_char(&times, '\0');
	if (view->columns)
		ok = view_columns_command(view->columns, into);
	else
		ok = buf_addf(into, "weft report%s%s", strcmp(view->format, "ftrace") ? " --format pretty" : "",
			      view->raw ? " -R" : "");
	ok = ok && buf_addf(into, " --since %s", times.start) && view_filter_options(view, into);
	out_release(&times);
	return ok;
}

const struct pane_ops events_pane = {
	.letter = '1',
	.name = "events",
	.hint = "j k move  Enter details  / search  & filter  a b marks  [ ] type  % pair  ? keys",
	.help = "j k, arrows\tnext and previous event\n"
		"PgDn PgUp, Space\ta page; Ctrl-D Ctrl-U half of one\n"
		"g G, Home End\tbegin and end of the recording\n"
		"Enter\tall about this event: Esc leaves that\n"
		"h l\tmove long lines sideways\n"
		"z Z\tfold or unfold this call of a function graph; all calls\n"
		"d\ttime since the row above; since the cursor; none\n"
		"T\tthe kernel's text, or pretty\n"
		"R\tfields instead of text\n"
		":columns\tcolumns instead of text: time delta rel task cpu event, fields by name\n"
		"~\tbeside a name or a time: it may have happened before a row of another machine above\n",
	.create = events_create,
	.free = events_free_pane,
	.draw = events_draw,
	.key = events_key,
	.command = events_command,
	.changed = events_changed,
};
