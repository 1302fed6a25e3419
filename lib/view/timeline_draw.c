// SPDX-License-Identifier: LGPL-2.1-or-later
/* The characters of the time line. */
#include "formats/palette.h"
#include "lib/base/utf8.h"
#include "lib/view/bar_internal.h"
#include "lib/view/timeline_internal.h"

#include <inttypes.h>
#include <string.h>

static const char *const sort_names[PICTURE_SORTS] = {
	[PICTURE_BY_RUN] = "time run", [PICTURE_BY_WAIT] = "time waited", [PICTURE_BY_WORST] = "longest wait",
	[PICTURE_BY_NAME] = "name",    [PICTURE_BY_PID] = "PID",
};

static const char *color_of(const char *name)
{
	uint32_t hash = 2166136261;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619;
	return palette_task((int32_t)(hash >> 1));
}

/* The character of a mark, and its colour. */
static const char *glyph(const struct timeline_pane *line, const struct picture_mark *mark, const char **ret_color)
{
	bool ascii = line->pane.view->ascii;

	*ret_color = "";
	if (mark->lost) {
		*ret_color = COLOR_RED;
		return "!";
	}
	switch (mark->state) {
	case PICTURE_UNKNOWN:
		*ret_color = COLOR_DIM;
		return "?";
	case PICTURE_OUTSIDE:
	case PICTURE_NOTHING:
		return " ";
	case PICTURE_IDLE:
		*ret_color = COLOR_DIM;
		return ascii ? "_" : "▁";
	case PICTURE_WAIT:
		*ret_color = COLOR_YELLOW;
		return ascii ? "w" : mark->level > 5 ? "▓" : mark->level > 2 ? "▒" : "░";
	case PICTURE_BLOCKED:
		*ret_color = COLOR_MAGENTA;
		return "D";
	case PICTURE_SLEEP:
		*ret_color = COLOR_DIM;
		return ascii ? "." : "·";
	case PICTURE_STOPPED:
		*ret_color = COLOR_DIM;
		return "x";
	default:
		*ret_color =
			mark->state == PICTURE_VALUE ? COLOR_CYAN : color_of(picture_name(line->picture, mark->name));
		return bar_text(mark->level, ascii);
	}
}

/* The number of columns from `at` on that one slice fills, so that its name has room in them. */
static size_t filled(const struct timeline_pane *line, size_t at)
{
	size_t end = at;

	if (line->marks[at].state != PICTURE_RUN)
		return 0;
	while (end < line->width && line->marks[end].state == PICTURE_RUN && !line->marks[end].lost &&
	       (line->marks[end].level == BAR_LEVELS || end == at) && (end == at || line->marks[end].goes_on))
		end++;
	return end - at;
}

static size_t put_name(struct timeline_pane *line, size_t at, struct out *out)
{
	const char *name = picture_name(line->picture, line->marks[at].name);
	size_t room = filled(line, at), len = strlen(name), columns = utf8_columns(name, len);
	char text[LABEL_COLUMNS * 4];

	if (room < NAME_MIN + 2 || !columns || columns + 2 > room || len >= sizeof(text))
		return 0;
	/* The picture's names live until it is asked again. */
	memcpy(text, name, len);
	if (line->pane.view->color) {
		out_str(out, COLOR_REVERSE);
		out_str(out, color_of(name));
	}
	out_str(out, line->pane.view->color ? " " : "[");
	palette_put("", text, len, out);
	out_fill(out, line->pane.view->color ? ' ' : line->pane.view->ascii ? '=' : ' ', room - columns - 2);
	out_str(out, line->pane.view->color ? " " : "]");
	if (line->pane.view->color)
		out_str(out, COLOR_NONE);
	return room;
}

void timeline_put_marks(struct timeline_pane *line, struct out *out)
{
	const char *before = "";

	for (size_t i = 0; i < line->width;) {
		const char *color, *character;
		bool starts = !i || !line->marks[i].goes_on;
		size_t named;

		if (starts) {
			if (*before)
				out_str(out, COLOR_NONE);
			before = "";
			named = put_name(line, i, out);
			if (named) {
				i += named;
				continue;
			}
		}
		character = glyph(line, &line->marks[i], &color);
		if (line->pane.view->color && strcmp(color, before)) {
			if (*before)
				out_str(out, COLOR_NONE);
			out_str(out, color);
			before = color;
		}
		out_str(out, character);
		i++;
	}
	if (*before)
		out_str(out, COLOR_NONE);
}

/* A text of strangers in LABEL_COLUMNS columns. */
void timeline_put_label(const struct timeline_pane *line, const char *name, bool chosen, struct rows *rows)
{
	size_t len = utf8_fit(name, strlen(name), LABEL_COLUMNS - 2), columns = utf8_columns(name, len);
	bool color = line->pane.view->color;

	out_str(&rows->text, chosen ? ">" : " ");
	if (chosen && color)
		out_str(&rows->text, COLOR_REVERSE);
	rows_foreign(rows, name, len);
	if (chosen && color)
		out_str(&rows->text, COLOR_NONE);
	out_fill(&rows->text, ' ', LABEL_COLUMNS - 1 - columns);
}

/* The first line: the times at both ends, how the rows are sorted, and how far the surveys are. */
void timeline_put_head(struct timeline_pane *line, struct rows *rows)
{
	struct view *view = line->pane.view;
	struct out *out = &rows->text;
	uint64_t events;
	unsigned percent;

	out_char(out, ' ');
	view_put_time(view, line->first << line->shift, out);
	out_str(out, " to ");
	view_put_time(view, (line->first + line->width) << line->shift, out);
	out_str(out, ", a column is ");
	view_put_span(view, timeline_column(line), out);
	out_f(out, "; tasks by %s", sort_names[line->sort]);
	if (!picture_progress(line->picture, &percent, &events)) {
		out_f(out, "; ~ %u %% read", percent);
		view->pending = true;
	}
	if (!picture_settled(line->picture)) {
		out_str(out, "; ~ looking closer");
		view->pending = true;
	}
	rows_end_line(rows);
}

/* The cursor and the marks A and B. */
void timeline_put_axis(struct timeline_pane *line, struct rows *rows)
{
	const struct view *view = line->pane.view;
	char axis[MARKS_MAX];
	size_t at;

	memset(axis, line->pane.view->ascii ? '-' : ' ', sizeof(axis));
	for (size_t i = 0; i < 2; i++) {
		at = view->marks[i].set ? timeline_column_of(line, view->marks[i].place.ts) : SIZE_MAX;
		if (at != SIZE_MAX)
			axis[at] = "AB"[i];
	}
	at = timeline_column_of(line, view->cursor.ts);
	if (at != SIZE_MAX)
		axis[at] = 'v';
	out_fill(&rows->text, ' ', LABEL_COLUMNS);
	out_mem(&rows->text, axis, line->width);
	rows_end_line(rows);
}

static void put_share(const struct view *view, const char *what, uint64_t time, struct out *out)
{
	if (!time)
		return;
	out_f(out, ", %s ", what);
	view_put_span(view, time, out);
}

/* What the column of the cursor holds in the row of the cursor. */
void timeline_put_facts(struct timeline_pane *line, struct rows *rows)
{
	static const char *const states[] = {
		[PICTURE_UNKNOWN] = "unknown",
		[PICTURE_OUTSIDE] = "outside the recording",
		[PICTURE_NOTHING] = "nothing",
		[PICTURE_IDLE] = "idle",
		[PICTURE_RUN] = "running",
		[PICTURE_WAIT] = "waiting for a CPU",
		[PICTURE_BLOCKED] = "blocked (D)",
		[PICTURE_SLEEP] = "sleeping",
		[PICTURE_STOPPED] = "stopped, new or dead",
		[PICTURE_VALUE] = "",
	};
	const struct view *view = line->pane.view;
	size_t at = timeline_column_of(line, view->cursor.ts);
	const struct picture_row *row;
	struct picture_facts facts;
	struct picture_mark mark;
	const char *name;

	if (at == SIZE_MAX || line->row >= line->nr_shown) {
		out_str(&rows->text, " the cursor is elsewhere: Enter shows its column");
		rows_end_line(rows);
		return;
	}
	row = picture_row(line->picture, line->shown[line->row]);
	picture_marks(line->picture, line->shown[line->row], line->marks);
	mark = line->marks[at];
	facts = picture_facts(line->picture, line->shown[line->row], at);
	out_char(&rows->text, ' ');
	view_put_time(view, facts.from, &rows->text);
	out_str(&rows->text, facts.exact ? " = " : " ~ ");
	if (row->kind == PICTURE_EVENTS)
		out_f(&rows->text, "%" PRIu32 " events", facts.count);
	else
		out_str(&rows->text, states[mark.state]);
	name = mark.state == PICTURE_RUN ? picture_name(line->picture, mark.name) : "";
	if (*name) {
		out_char(&rows->text, ' ');
		rows_foreign(rows, name, strlen(name));
	}
	if (mark.state == PICTURE_VALUE && row->kind == PICTURE_COUNTER)
		out_f(&rows->text, "at most %" PRIu64, facts.busy);
	if (mark.state != PICTURE_VALUE && mark.state > PICTURE_NOTHING) {
		out_str(&rows->text, " for ");
		view_put_span(view, facts.longest, &rows->text);
		out_str(&rows->text, " since ");
		view_put_time(view, facts.start, &rows->text);
		put_share(view, "busy", facts.busy, &rows->text);
		put_share(view, "waited", facts.waited, &rows->text);
		out_f(&rows->text, ", %" PRIu32 " begin", facts.count);
	}
	if (mark.lost)
		out_str(&rows->text, ", events were lost");
	rows_end_line(rows);
}

/* The totals of a task, as wide as the screen has room for. */
void timeline_put_totals(const struct timeline_pane *line, struct rows *rows)
{
	const struct view *view = line->pane.view;
	const struct picture_row *row =
		line->row < line->nr_shown ? picture_row(line->picture, line->shown[line->row]) : NULL;

	out_char(&rows->text, ' ');
	if (row && row->kind != PICTURE_EVENTS && row->kind != PICTURE_COUNTER) {
		out_str(&rows->text, "in all: busy ");
		view_put_span(view, row->busy, &rows->text);
		if (row->kind == PICTURE_TASK) {
			put_share(view, "waited", row->waited, &rows->text);
			put_share(view, "longest wait", row->worst, &rows->text);
			if (row->worst) {
				out_str(&rows->text, " at ");
				view_put_time(view, row->worst_at, &rows->text);
				out_str(&rows->text, " (W goes there)");
			}
		} else {
			put_share(view, "longest", row->worst, &rows->text);
		}
	}
	rows_end_line(rows);
}
