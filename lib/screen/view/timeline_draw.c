// SPDX-License-Identifier: LGPL-2.1-or-later
/* The characters of the time line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/palette.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/utf8.h"
#include "lib/meaning/clock/wall.h"
#include "lib/meaning/event/context.h"
#include "lib/screen/view/bar_internal.h"
#include "lib/screen/view/timeline_internal.h"

enum { RULER_GAP = 3 }; /* a tick, and blanks between two times */

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
	case PICTURE_GONE:
	case PICTURE_BEFORE:
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
	case PICTURE_EXIT:
		*ret_color = COLOR_MAGENTA;
		return "e";
	case PICTURE_UNSURE:
		*ret_color = COLOR_DIM;
		return "~";
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

/* A text of strangers in the columns of names. */
void timeline_put_label(const struct timeline_pane *line, const char *name, bool chosen, struct rows *rows)
{
	size_t len = utf8_fit(name, strlen(name), line->label - 2), columns = utf8_columns(name, len);
	bool color = line->pane.view->color;

	out_str(&rows->text, chosen ? ">" : " ");
	if (chosen && color)
		out_str(&rows->text, COLOR_REVERSE);
	rows_foreign(rows, name, len);
	if (chosen && color)
		out_str(&rows->text, COLOR_NONE);
	out_fill(&rows->text, ' ', line->label - 1 - columns);
}

/* How exactly the times of a guest and its host agree. */
static void put_host(struct timeline_pane *line, struct rows *rows)
{
	struct out *out = &rows->text;
	const struct vcpus *vcpus = picture_vcpus(line->picture);
	char error[TEXT_HUMAN];
	const char *why;
	uint64_t ns;

	switch (picture_host(line->picture, &why)) {
	case PICTURE_NO_HOST:
		return;
	case PICTURE_HOST_READ:
		out_str(out, "; ~ reading the host");
		line->pane.view->pending = true;
		return;
	case PICTURE_HOST_FAILED:
		out_str(out, "; no host: ");
		rows_foreign(rows, why, strlen(why));
		return;
	case PICTURE_HOST_KNOWN:
		if (!vcpus_error(vcpus, &ns))
			out_str(out, "; the host's clock was not compared");
		else if (ns)
			out_f(out, "; host +-%s", text_time(error, ns));
	}
}

/* The first line: the columns, how far the surveys are, how the rows are sorted, and the times at both ends. */
void timeline_put_head(struct timeline_pane *line, struct rows *rows)
{
	struct view *view = line->pane.view;
	struct out *out = &rows->text;
	uint64_t events;
	unsigned percent;

	out_str(out, " a column is ");
	view_put_span(view, line->length, out);
	if (!picture_progress(line->picture, &percent, &events)) {
		out_f(out, "; ~ %u %% read", percent);
		view->pending = true;
	} else if (!picture_settled(line->picture)) {
		out_str(out, "; ~ looking closer");
		view->pending = true;
	}
	put_host(line, rows);
	out_f(out, "; tasks by %s; ", sort_names[line->sort]);
	view_put_time(view, timeline_time(line, 0), out);
	out_str(out, " to ");
	view_put_time(view, timeline_time(line, line->width), out);
	rows_end_line(rows);
}

/* The ruler has a tick every `step`, at multiples of it after `offset` is added to a time, with a sign. */
struct ruler {
	uint64_t step;
	int64_t offset;
	unsigned digits; /* of a second that its times have */
};

/* Writes the time of a tick; returns its length. */
static size_t ruler_text(const struct timeline_pane *line, const struct ruler *ruler, uint64_t ts, char into[FACE_TEXT])
{
	const struct view *view = line->pane.view;
	const struct wall *wall = view->reader.buffers[0].context->wall;
	uint64_t rest = ts % NS_PER_S;

	/* Times of day are known with some error. */
	if (view->face.kind != FACE_TRACE)
		return (size_t)face_text(into, &view->face, wall, ts + ruler->step / 100, ruler->digits);
	if (view->counts)
		return (size_t)snprintf(into, FACE_TEXT, "%" PRIu64, ts);
	if (!ruler->digits)
		return (size_t)snprintf(into, FACE_TEXT, "%" PRIu64 "s", ts / NS_PER_S);
	for (unsigned i = ruler->digits; i < 9; i++)
		rest /= 10;
	return (size_t)snprintf(into, FACE_TEXT, "%" PRIu64 ".%0*" PRIu64, ts / NS_PER_S, (int)ruler->digits, rest);
}

/* The steps of a clock on the wall, in seconds, from ten of them on. */
static const uint32_t day_steps[] = { 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400 };

static uint64_t next_step(const struct view *view, uint64_t step)
{
	uint64_t first = step;

	if (face_is_of_day(&view->face) && step >= 5 * NS_PER_S)
		for (size_t i = 0; i < array_size(day_steps); i++)
			if (day_steps[i] * NS_PER_S > step)
				return day_steps[i] * NS_PER_S;
	while (first >= 10)
		first /= 10;
	return first == 1 ? step * 2 : first == 2 ? step / 2 * 5 : step / first * 10;
}

/* The shortest steps whose times have room. */
static struct ruler make_ruler(const struct timeline_pane *line)
{
	const struct view *view = line->pane.view;
	const struct wall *wall = view->reader.buffers[0].context->wall;
	struct ruler ruler = { .step = 1, .digits = 9 };
	char text[FACE_TEXT];
	int64_t ns;

	if (view->face.kind == FACE_RELATIVE)
		ruler.offset = -(int64_t)view->face.first;
	else if (face_is_of_day(&view->face) && wall_of(wall, timeline_time(line, 0), &ns, NULL))
		ruler.offset = ns - (int64_t)timeline_time(line, 0);
	while (ruler.step < UINT64_MAX / 100) {
		uint64_t second = NS_PER_S;
		size_t columns;

		for (ruler.digits = 0; second > 1 && ruler.step % second; ruler.digits++)
			second /= 10;
		columns = ruler_text(line, &ruler, timeline_time(line, line->width), text) + RULER_GAP;
		if (ruler.step / line->length >= columns)
			break;
		ruler.step = next_step(view, ruler.step);
	}
	return ruler;
}

/* How far a time is behind the last tick. */
static uint64_t behind_tick(const struct ruler *ruler, uint64_t ts)
{
	int64_t off = ruler->step > INT64_MAX ? 0 : ruler->offset % (int64_t)ruler->step;

	return (ts % ruler->step + (uint64_t)off + (off < 0 ? ruler->step : 0)) % ruler->step;
}

/* Times, each where its column is. */
void timeline_put_ruler(const struct timeline_pane *line, struct rows *rows)
{
	const struct ruler ruler = make_ruler(line);
	uint64_t begin = timeline_time(line, 0), end = timeline_time(line, line->width), ts;
	uint64_t behind = behind_tick(&ruler, begin);
	unsigned at = 0;
	char text[FACE_TEXT];

	out_fill(&rows->text, ' ', line->label);
	for (ts = behind ? begin + (ruler.step - behind) : begin; ts >= begin && ts < end; ts += ruler.step) {
		size_t len = ruler_text(line, &ruler, ts, text), column = (size_t)(ts / line->length - line->first);

		/* Where the time has no room there is a tick. */
		if (column + 1 + len > line->width)
			len = 0;
		out_fill(&rows->text, ' ', column - at);
		out_str(&rows->text, line->pane.view->ascii ? "|" : "│");
		out_mem(&rows->text, text, len);
		at = (unsigned)(column + 1 + len);
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
	out_fill(&rows->text, ' ', line->label);
	out_mem(&rows->text, axis, line->width);
	rows_end_line(rows);
}

bool timeline_has_path(const struct timeline_pane *line)
{
	const struct view *view = line->pane.view;

	return view->nr_links && view->links[0].from < timeline_time(line, line->width) &&
	       view->links[view->nr_links - 1].to > timeline_time(line, 0);
}

/* The link that has most of a column; NULL: none. *at: the first link that may be in it, which goes on with time. */
static const struct view_link *link_of(const struct timeline_pane *line, size_t column, size_t *at)
{
	const struct view *view = line->pane.view;
	uint64_t from = timeline_time(line, column), to = timeline_time(line, column + 1), most = 0;
	const struct view_link *best = NULL;

	while (*at < view->nr_links && view->links[*at].to <= from)
		++*at;
	for (size_t i = *at; i < view->nr_links && view->links[i].from < to; i++) {
		const struct view_link *link = &view->links[i];
		uint64_t part = (link->to < to ? link->to : to) - (link->from > from ? link->from : from);

		if (part > most) {
			most = part;
			best = link;
		}
	}
	return best;
}

void timeline_put_path(struct timeline_pane *line, struct rows *rows)
{
	struct out *out = &rows->text;
	bool color = line->pane.view->color;
	size_t at = 0, next;

	timeline_put_label(line, "path", false, rows);
	for (size_t i = 0; i < line->width; i = next) {
		const struct view_link *link = link_of(line, i, &at);
		size_t len = link ? strlen(link->text) : 0, room;

		for (next = i + 1; next < line->width && link_of(line, next, &at) == link;)
			next++;
		room = next - i;
		if (!link) {
			out_fill(out, ' ', room);
			continue;
		}
		if (color) {
			out_str(out, COLOR_REVERSE);
			out_str(out, color_of(link->text));
		}
		len = room > 2 ? utf8_fit(link->text, len, room - 2) : 0;
		out_str(out, room > 1 ? "[" : "|");
		palette_put("", link->text, len, out);
		out_fill(out, ' ', room > 1 ? room - 2 - utf8_columns(link->text, len) : 0);
		out_str(out, room > 1 ? "]" : "");
		if (color)
			out_str(out, COLOR_NONE);
	}
	rows_end_line(rows);
}

static void put_share(const struct view *view, const char *what, uint64_t time, struct out *out)
{
	if (!time)
		return;
	out_f(out, ", %s ", what);
	view_put_span(view, time, out);
}

/* What a vCPU did, in a column or in all. */
static void put_vcpu(const struct view *view, const struct vcpu_time *time, const char *exit, struct rows *rows)
{
	struct out *out = &rows->text;

	out_str(out, "ran ");
	view_put_span(view, time->in[VCPU_RAN], out);
	put_share(view, "waited for a CPU of the host", time->in[VCPU_WAITED], out);
	put_share(view, "in exits", time->in[VCPU_EXIT], out);
	if (*exit) {
		out_str(out, " (");
		rows_foreign(rows, exit, strlen(exit));
		out_char(out, ')');
	}
	put_share(view, "halted", time->in[VCPU_HALTED], out);
	put_share(view, "not known", time->in[VCPU_UNKNOWN], out);
	put_share(view, "unsure", time->unsure, out);
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
		[PICTURE_STOPPED] = "stopped or new",
		[PICTURE_GONE] = "not alive",
		[PICTURE_BEFORE] = "nothing yet: asleep, or not there",
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
	/* For the guest's kernel a task runs, whatever its vCPU does. */
	if (row->kind == PICTURE_CPU && mark.state > PICTURE_RUN)
		mark.state = PICTURE_RUN;
	facts = picture_facts(line->picture, line->shown[line->row], at);
	out_char(&rows->text, ' ');
	view_put_time(view, facts.from, &rows->text);
	out_str(&rows->text, facts.exact ? " = " : " ~ ");
	if (row->kind == PICTURE_VCPU) {
		put_vcpu(view, &facts.vcpu, facts.exit, rows);
		rows_end_line(rows);
		return;
	}
	if (row->kind == PICTURE_EVENTS)
		out_f(&rows->text, "%" PRIu32 " events", facts.count);
	else
		out_str(&rows->text, states[mark.state]);
	name = mark.state == PICTURE_RUN ? picture_name(line->picture, mark.name) : "";
	if (*name) {
		out_char(&rows->text, ' ');
		rows_foreign(rows, name, strlen(name));
	}
	if (mark.state == PICTURE_VALUE && row->kind == PICTURE_COUNTER && facts.count)
		out_f(&rows->text, "at most %" PRId64, (int64_t)facts.busy);
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
	if (facts.has_vcpu) {
		out_str(&rows->text, "; its vCPU ");
		put_vcpu(view, &facts.vcpu, facts.exit, rows);
	}
	rows_end_line(rows);
}

static void put_vcpu_totals(const struct timeline_pane *line, const struct picture_row *row, struct rows *rows)
{
	const struct vcpus *vcpus = picture_vcpus(line->picture);
	struct vcpu_time time = { .unsure = 0 };
	uint64_t from, to;

	picture_span(line->picture, &from, &to);
	vcpus_time(vcpus, row->owner, from, to, &time, NULL);
	out_str(&rows->text, "in all: ");
	put_vcpu(line->pane.view, &time, "", rows);
	if (!vcpus_have_exits(vcpus))
		out_str(&rows->text, "; without kvm events exits are not known");
}

/* The totals of a task, as wide as the screen has room for. */
void timeline_put_totals(const struct timeline_pane *line, struct rows *rows)
{
	const struct view *view = line->pane.view;
	const struct picture_row *row =
		line->row < line->nr_shown ? picture_row(line->picture, line->shown[line->row]) : NULL;

	out_char(&rows->text, ' ');
	if (row && row->kind == PICTURE_VCPU) {
		put_vcpu_totals(line, row, rows);
	} else if (row && row->kind != PICTURE_EVENTS && row->kind != PICTURE_COUNTER) {
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
