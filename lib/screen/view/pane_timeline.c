// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/guest/host.h"
#include "lib/meaning/reader/query.h"
#include "lib/screen/view/timeline_internal.h"
#include "lib/screen/view/view_panes_internal.h"

/* The time line: rows of CPUs, their interrupts, tasks, calls, functions and counters, in columns of time. */

static int timeline_create(struct view *view, struct pane **ret, struct fail *fail)
{
	struct timeline_pane *line = calloc(1, sizeof(*line));
	int r;

	if (!line)
		return fail_memory(fail);
	r = view_picture(view, fail);
	if (r) {
		free(line);
		return r;
	}
	line->picture = view->picture;
	line->width = 60;
	line->height = 20;
	line->label = LABEL_COLUMNS;
	line->length = 1;
	*ret = &line->pane;
	return 0;
}

static void timeline_free(struct pane *pane)
{
	struct timeline_pane *line = (struct timeline_pane *)pane;

	free(line->shown);
	free(line);
}

static uint64_t up_to(uint64_t length, uint64_t multiple)
{
	return (length + multiple - 1) / multiple * multiple;
}

/* The shortest columns of two digits, or a multiple of the grain, with which a window fits. */
static uint64_t fitting(uint64_t from, uint64_t to, unsigned width, uint64_t grain)
{
	uint64_t length = (to - from) / width + 1, digit = 1;

	while (length / digit >= 100)
		digit *= 10;
	/* Where the whole was surveyed in longer columns, these are shown, if they are not much longer. */
	if (grain > length && grain / 3 < length)
		length = grain;
	if (grain <= length && grain > digit)
		digit = grain;
	length = up_to(length, digit);
	if (grain <= length)
		length = up_to(length, grain);
	while (to / length - from / length >= width)
		length += grain <= length && grain > digit ? grain : digit;
	return length;
}

/* Finds the columns for the view's window: the whole width of the screen shows it. */
static void fit(struct timeline_pane *line, unsigned width)
{
	struct view *view = line->pane.view;
	uint64_t grain = picture_grain(line->picture);
	bool same = line->width == width && line->from == view->from && line->to == view->to;

	/* What the user chose by zooming stays. */
	if (line->fitted && same && (line->zoomed || line->grain == grain))
		return;
	line->zoomed = false;
	line->width = width;
	line->grain = grain;
	line->length = fitting(view->from, view->to, width, grain);
	line->first = view->from / line->length;
	line->from = view->from;
	line->to = view->to;
	line->fitted = true;
}

/* Shows columns of this length from `first` on, in all panes. */
static void look(struct timeline_pane *line, uint64_t length, uint64_t first)
{
	uint64_t begin, end;

	picture_span(line->picture, &begin, &end);
	/* The recording stays on the screen. */
	if (first + line->width / 2 < begin / length)
		first = begin / length - line->width / 2;
	if (first > end / length)
		first = end / length;
	line->length = length;
	line->first = first;
	line->from = timeline_time(line, 0);
	line->to = timeline_time(line, line->width) - 1;
	line->zoomed = true;
	view_zoom(line->pane.view, line->from, line->to);
}

static bool is_hidden(const struct timeline_pane *line, const struct picture_row *row)
{
	return (row->kind == PICTURE_IRQ && line->no_interrupts) || (row->kind == PICTURE_CALLS && line->no_calls) ||
	       (row->kind == PICTURE_FUNCTION && line->no_functions) ||
	       ((row->kind == PICTURE_MARKS || row->kind == PICTURE_PAIRS) && line->no_marks) ||
	       (row->kind == PICTURE_COUNTER && line->no_counters);
}

/* Which rows are shown; the one with the cursor stays. */
static int arrange(struct timeline_pane *line, struct fail *fail)
{
	char name[sizeof(((struct picture_row *)NULL)->name)] = "";
	size_t nr, *shown;
	int r;

	if (line->row < line->nr_shown)
		memcpy(name, picture_row(line->picture, line->shown[line->row])->name, sizeof(name));
	r = picture_arrange(line->picture, line->sort, fail);
	if (r)
		return r;
	nr = picture_rows(line->picture);
	shown = reallocarray(line->shown, nr + 1, sizeof(*shown));
	if (!shown)
		return fail_memory(fail);
	line->shown = shown;
	line->nr_shown = 0;
	for (size_t i = 0; i < nr; i++)
		if (!is_hidden(line, picture_row(line->picture, i)))
			shown[line->nr_shown++] = i;
	/* "  softirqs" is the name of several rows. */
	if (*name != ' ')
		for (size_t i = 0; i < line->nr_shown; i++)
			if (!strcmp(name, picture_row(line->picture, shown[i])->name))
				line->row = i;
	if (line->row >= line->nr_shown)
		line->row = line->nr_shown ? line->nr_shown - 1 : 0;
	return 0;
}

static int timeline_draw(struct pane *pane, struct rows *rows, struct fail *fail)
{
	struct timeline_pane *line = (struct timeline_pane *)pane;
	unsigned width;
	int r;

	line->label = rows->width < NARROW ? LABEL_NARROW : LABEL_COLUMNS;
	width = rows->width > line->label + 8 ? rows->width - line->label : 8;
	if (width > MARKS_MAX)
		width = MARKS_MAX;
	fit(line, width);
	line->fixed = FIXED + timeline_has_path(line);
	line->height = rows->height > line->fixed + 2 ? rows->height - line->fixed - 2 : 1;
	r = picture_look(line->picture, line->length, line->first, line->width, fail);
	if (!r)
		r = arrange(line, fail);
	if (r)
		return r;
	if (line->row < line->top)
		line->top = line->row;
	if (line->row >= line->top + line->height)
		line->top = line->row - line->height + 1;
	timeline_put_head(line, rows);
	timeline_put_ruler(line, rows);
	timeline_put_axis(line, rows);
	if (line->fixed > FIXED)
		timeline_put_path(line, rows);
	for (size_t i = line->top; i < line->nr_shown && i < line->top + line->height; i++) {
		timeline_put_label(line, picture_row(line->picture, line->shown[i])->name, i == line->row, rows);
		picture_marks(line->picture, line->shown[i], line->marks);
		timeline_put_marks(line, &rows->text);
		rows_end_line(rows);
	}
	while (rows->nr < line->fixed + line->height && rows_end_line(rows))
		continue;
	if (rows->nr < rows->height)
		timeline_put_facts(line, rows);
	if (rows->nr < rows->height)
		timeline_put_totals(line, rows);
	return 0;
}

/* Moves the cursor to a time, and the columns with it if it leaves them. */
static void move_to(struct timeline_pane *line, uint64_t ts)
{
	uint64_t from, to;

	picture_span(line->picture, &from, &to);
	ts = ts < from ? from : ts > to ? to : ts;
	view_move(line->pane.view, (struct walk_place){ .ts = ts });
	if (timeline_column_of(line, ts) == SIZE_MAX)
		look(line, line->length, ts / line->length > line->width / 2 ? ts / line->length - line->width / 2 : 0);
}

static void step(struct timeline_pane *line, int64_t columns)
{
	uint64_t ts = line->pane.view->cursor.ts, by;

	if (__builtin_mul_overflow(line->length, (uint64_t)(columns < 0 ? -columns : columns), &by))
		by = UINT64_MAX;
	if (columns < 0)
		move_to(line, ts > by ? ts - by : 0);
	else
		move_to(line, ts + by < ts ? UINT64_MAX : ts + by);
}

/* 1, 2, 5, 10...: the longest that is clearly shorter than a column, or the shortest that is clearly longer. */
static uint64_t other_length(uint64_t length, bool closer)
{
	static const unsigned digits[] = { 1, 2, 5 };
	uint64_t best = 1;

	for (uint64_t ten = 1; ten < UINT64_MAX / 100; ten *= 10)
		for (size_t i = 0; i < array_size(digits); i++) {
			uint64_t next = ten * digits[i];

			if (closer && (next >= length || next > length - length / 4))
				return best;
			best = next;
			if (!closer && next >= length + length / 3)
				return best;
		}
	return best;
}

/* This time keeps its column while the others come closer or go away. */
static void zoom(struct timeline_pane *line, bool closer, uint64_t ts)
{
	size_t at = timeline_column_of(line, ts);
	uint64_t from, to, length = line->length;

	picture_span(line->picture, &from, &to);
	do
		length = other_length(length, closer);
	while (length > 1 && length < (to - from) / 2 && !picture_suits(line->picture, length, line->width));
	/* Not farther than the whole. */
	if (!closer && to / length - from / length < line->width) {
		view_zoom(line->pane.view, from, to);
		return;
	}
	if (at == SIZE_MAX)
		at = line->width / 2;
	look(line, length, ts / length > at ? ts / length - at : 0);
}

/* To the beginning of what the column of the cursor shows. */
static int enter(struct timeline_pane *line, struct fail *fail)
{
	struct view *view = line->pane.view;
	size_t at = timeline_column_of(line, view->cursor.ts);
	struct picture_facts facts;

	if (at == SIZE_MAX) {
		move_to(line, view->cursor.ts);
		return 0;
	}
	if (line->row >= line->nr_shown)
		return 0;
	facts = picture_facts(line->picture, line->shown[line->row], at);
	view_go(view, (struct walk_place){ .ts = facts.start ? facts.start : facts.from });
	return view_show(view, '1', fail);
}

static void to_worst(struct timeline_pane *line)
{
	const struct picture_row *row =
		line->row < line->nr_shown ? picture_row(line->picture, line->shown[line->row]) : NULL;

	if (!row || !row->worst) {
		view_say(line->pane.view, "this row has no wait");
		return;
	}
	view_go(line->pane.view, (struct walk_place){ .ts = row->worst_at });
	move_to(line, row->worst_at);
}

static void zoom_to_marks(struct timeline_pane *line)
{
	const struct view *view = line->pane.view;
	uint64_t a = view->marks[0].place.ts, b = view->marks[1].place.ts;

	if (!view->marks[0].set || !view->marks[1].set) {
		view_say(line->pane.view, "a and b set the marks between which Z zooms");
		return;
	}
	view_zoom(line->pane.view, a < b ? a : b, a < b ? b : a);
}

static void click(struct timeline_pane *line, const struct key *key)
{
	unsigned row = key->row >= line->fixed ? (unsigned)(key->row - line->fixed) : UINT_MAX;

	if (row < line->height && line->top + row < line->nr_shown)
		line->row = line->top + row;
	if (key->column >= line->label)
		move_to(line, timeline_time(line, key->column - line->label));
}

static void move_row(struct timeline_pane *line, long by)
{
	if (by < 0)
		line->row -= line->row < (size_t)-by ? line->row : (size_t)-by;
	else if (line->nr_shown)
		line->row = line->row + (size_t)by < line->nr_shown ? line->row + (size_t)by : line->nr_shown - 1;
}

static void whole(struct timeline_pane *line)
{
	uint64_t from, to;

	picture_span(line->picture, &from, &to);
	view_zoom(line->pane.view, from, to);
}

static bool mouse_key(struct timeline_pane *line, const struct key *key)
{
	if (key->kind != KEY_MOUSE)
		return false;
	if (key->act == MOUSE_PRESS || key->act == MOUSE_DRAG)
		click(line, key);
	else if (key->act == MOUSE_WHEEL_UP || key->act == MOUSE_WHEEL_DOWN) {
		bool up = key->act == MOUSE_WHEEL_UP;

		/* Over the names it moves the rows. */
		if (key->column < line->label || key->modifiers & KEY_SHIFT)
			move_row(line, up ? -3 : 3);
		else
			zoom(line, up, timeline_time(line, key->column - line->label));
	}
	return true;
}

static bool move_key(struct timeline_pane *line, const struct key *key)
{
	long page = line->height > 1 ? (long)line->height - 1 : 1;
	bool far = key->modifiers & (KEY_SHIFT | KEY_CTRL);

	if (key->kind == KEY_DOWN || key_is(key, 'j'))
		move_row(line, 1);
	else if (key->kind == KEY_UP || key_is(key, 'k'))
		move_row(line, -1);
	else if (key->kind == KEY_PAGE_DOWN || key_is(key, ' '))
		move_row(line, page);
	else if (key->kind == KEY_PAGE_UP)
		move_row(line, -page);
	else if (key_is(key, 'L') || (key->kind == KEY_RIGHT && far))
		step(line, line->width / 2);
	else if (key_is(key, 'H') || (key->kind == KEY_LEFT && far))
		step(line, -(int64_t)(line->width / 2));
	else if (key->kind == KEY_RIGHT || key_is(key, 'l'))
		step(line, 1);
	else if (key->kind == KEY_LEFT || key_is(key, 'h'))
		step(line, -1);
	else if (key->kind == KEY_HOME || key_is(key, 'g'))
		move_to(line, 0);
	else if (key->kind == KEY_END || key_is(key, 'G'))
		move_to(line, UINT64_MAX);
	else
		return false;
	return true;
}

static int timeline_key(struct pane *pane, const struct key *key, struct fail *fail)
{
	struct timeline_pane *line = (struct timeline_pane *)pane;
	int r = line->nr_shown ? 0 : arrange(line, fail);

	if (r)
		return r;
	if (mouse_key(line, key) || move_key(line, key))
		return 1;
	if (key_is(key, '+') || key_is(key, '='))
		zoom(line, true, line->pane.view->cursor.ts);
	else if (key_is(key, '-'))
		zoom(line, false, line->pane.view->cursor.ts);
	else if (key_is(key, '0'))
		whole(line);
	else if (key_is(key, 'Z'))
		zoom_to_marks(line);
	else if (key_is(key, 's'))
		line->sort = (enum picture_sort)((line->sort + 1) % PICTURE_SORTS);
	else if (key_is(key, 'W'))
		to_worst(line);
	else if (key_is(key, 'i'))
		line->no_interrupts = !line->no_interrupts;
	else if (key_is(key, 'x'))
		line->no_calls = !line->no_calls;
	else if (key_is(key, 'F'))
		line->no_functions = !line->no_functions;
	else if (key_is(key, 'u'))
		line->no_counters = !line->no_counters;
	else if (key_is(key, 'S'))
		line->no_marks = !line->no_marks;
	else if (key->kind == KEY_ENTER)
		r = enter(line, fail);
	else
		return 0;
	return r < 0 ? r : 1;
}

/* Which buffers the rows are of, and for a vCPU its host. */
static bool put_buffers(const struct view *view, bool host, struct buf *into)
{
	const char *guest = view->guest ? view->guest : view->query->instance;
	bool ok = !guest || (buf_add_str(into, " -B ") && view_quote(guest, into));

	if (host)
		ok = ok && buf_add_str(into, " --host ") && view_quote(view->host->buffer, into);
	for (size_t i = 0; ok && host && i < view->host->nr_threads; i++)
		ok = buf_addf(into, "%s%" PRId32, i ? "," : " --vcpus ", view->host->threads[i]);
	return ok;
}

static bool timeline_command(struct pane *pane, struct buf *into)
{
	static const char *const commands[] = {
		[PICTURE_EVENTS] = "report", [PICTURE_CPU] = "sched",      [PICTURE_IRQ] = "irq",
		[PICTURE_TASK] = "sched",    [PICTURE_CALLS] = "syscalls", [PICTURE_FUNCTION] = "graph",
		[PICTURE_COUNTER] = "power", [PICTURE_MARKS] = "marks",    [PICTURE_PAIRS] = "report",
		[PICTURE_VCPU] = "sched",
	};
	const struct timeline_pane *line = (struct timeline_pane *)pane;
	const struct picture_row *row =
		line->row < line->nr_shown ? picture_row(line->picture, line->shown[line->row]) : NULL;
	struct out times;
	bool ok;

	if (!row || !out_init(&times, 128))
		return false;
	view_put_exact(pane->view, timeline_time(line, 0), &times);
	out_str(&times, " --until ");
	view_put_exact(pane->view, timeline_time(line, line->width) - 1, &times);
	out_char(&times, '\0');
	ok = buf_addf(into, "weft %s", row->marked ? "report" : commands[row->kind]);
	if (ok && row->of_task)
		ok = buf_addf(into, " --pid %" PRIu32, row->owner);
	else if (ok && row->kind != PICTURE_EVENTS && row->kind != PICTURE_COUNTER)
		ok = buf_addf(into, " --cpu %" PRIu32, row->owner);
	ok = ok && put_buffers(line->pane.view, row->kind == PICTURE_VCPU, into);
	ok = ok && buf_addf(into, " --since %s", times.start);
	out_release(&times);
	return ok;
}

const struct pane_ops timeline_pane = {
	.letter = '2',
	.name = "time line",
	.hint = "h l time  + - zoom  0 all  Z A..B  j k rows  s sort  W worst  Enter event  ? keys",
	.help = "h l, arrows\ta column back and on; H L half a screen\n"
		"g G, Home End\tbegin and end of the recording\n"
		"j k, PgDn PgUp, Space\trows\n"
		"+ = -\tcloser (+ or =), farther, around the cursor; 0 the whole recording\n"
		"wheel\tcloser, farther, around the mouse; over the names, other rows\n"
		"Z\tzoom to the time between the marks A and B\n"
		"s\tsort the tasks by time run, waited, longest wait, name, PID\n"
		"W\tto the longest wait of this task\n"
		"i x S F u\thide or show interrupts, calls, marks, functions, counters\n"
		"Enter\tthe event at which it began, in the list\n"
		"A column shows the most important thing in it: its height is how much of the column was busy. Running "
		"has the colour of the task; w or shade waits for a CPU, D is blocked, a dot sleeps, ! lost events, ? "
		"is not known; where a task was not alive there is nothing. ~ is not yet exact. With --host the row "
		"below a guest's CPU is the thread of the host which it is: bars ran, w or shade waited for a CPU of "
		"the host, e were exits to the host, dots halts. In the row of the CPU the same characters are times "
		"in which a task had the CPU and it did not run, ~ those of which the clocks do not say whether it "
		"did.\n",
	.create = timeline_create,
	.free = timeline_free,
	.draw = timeline_draw,
	.key = timeline_key,
	.command = timeline_command,
};
