// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/painted.h"

#include <stdlib.h>
#include <string.h>

#include "formats/palette.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"

struct painted {
	struct sink sink; /* first */
	struct sink *inside;
};

/* The rest of a line, which is not coloured yet. */
struct rest {
	const char *at, *end;
};

static size_t left(const struct rest *rest)
{
	return (size_t)(rest->end - rest->at);
}

static void paint(struct rest *rest, const char *color, size_t len, struct out *out)
{
	palette_put(len ? color : "", rest->at, len, out);
	rest->at += len;
}

static void paint_blanks(struct rest *rest, struct out *out)
{
	size_t len = 0;

	while (len < left(rest) && rest->at[len] == ' ')
		len++;
	paint(rest, "", len, out);
}

static size_t word_len(const struct rest *rest)
{
	const char *blank = memchr(rest->at, ' ', left(rest));

	return blank ? (size_t)(blank - rest->at) : left(rest);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * The length of the task, " sh-418 ": 16 columns before the minus, or 8 with latency-format. 0: the line does not begin
 * with a task.
 */
static size_t task_len(const struct rest *rest)
{
	static const size_t columns[] = { 16, 8 };

	for (size_t i = 0; i < array_size(columns); i++) {
		size_t len = columns[i];

		if (left(rest) <= len + 1 || rest->at[len] != '-' || !is_digit(rest->at[len + 1]))
			continue;
		for (len++; len < left(rest) && is_digit(rest->at[len]);)
			len++;
		return len;
	}
	return 0;
}

/* The colour of "d..3.": dim if no flag is set, bright in interrupts. */
static const char *flags_color(const char *text, size_t len)
{
	bool set = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] && strchr("hHsZz", text[i]))
			return COLOR_MAGENTA;
		/* The preemption depth does not count as a flag. */
		set |= text[i] != '.' && !is_digit(text[i]);
	}
	return set ? COLOR_YELLOW : COLOR_DIM;
}

/* The length of NAME in "NAME: ", "NAME(" or "NAME -> "; 0: there is none. */
static size_t name_len(const struct rest *rest)
{
	static const char *const behind[] = { ": ", "(", " -> " };
	size_t len = 0;

	while (len < left(rest) && (rest->at[len] == '_' || is_digit(rest->at[len]) ||
				    ((rest->at[len] | 0x20) >= 'a' && (rest->at[len] | 0x20) <= 'z')))
		len++;
	for (size_t i = 0; len && i < array_size(behind); i++)
		if (left(rest) > len + strlen(behind[i]) && !memcmp(rest->at + len, behind[i], strlen(behind[i])))
			return len;
	return 0;
}

/* Finds an error that a call returned, up to the end of the line, in each form that the texts have. */
static const char *find_error(const struct rest *rest)
{
	static const char *const signs[] = { "-> 0xfffffffffffff", "{error=", "ret=-", "= -", "error=-" };
	const char *first = NULL;

	for (size_t i = 0; i < array_size(signs); i++) {
		const char *at = memmem(rest->at, left(rest), signs[i], strlen(signs[i]));

		if (at && (!first || at < first))
			first = at;
	}
	return first;
}

static void paint_text(struct rest *rest, struct out *out)
{
	const char *error;

	if (left(rest) > 2 && !memcmp(rest->at, "(+", 2)) {
		paint(rest, COLOR_DIM, word_len(rest), out);
		paint_blanks(rest, out);
	}
	paint(rest, COLOR_BOLD, name_len(rest), out);
	error = find_error(rest);
	paint(rest, "", error ? (size_t)(error - rest->at) : left(rest), out);
	paint(rest, COLOR_RED, left(rest), out);
}

/* Colours "[001] d..3. 4.468163: "; an option removes the flags, another one all of it. */
static void paint_columns(struct rest *rest, struct out *out)
{
	for (unsigned i = 0; i < 6; i++) {
		size_t len;

		paint_blanks(rest, out);
		len = word_len(rest);
		if (!len || name_len(rest))
			return;
		/* Letters and dots between the CPU and the time. */
		if (*rest->at == '[' || *rest->at == '(' || rest->at[len - 1] == ':' || is_digit(*rest->at))
			paint(rest, "", len, out);
		else
			paint(rest, len <= 8 ? flags_color(rest->at, len) : "", len, out);
		if (rest->at[-1] == ':')
			break;
	}
	paint_blanks(rest, out);
}

/* The kernel's marks of 10 us, 100 us, 1, 10 and 100 ms, and 1 s: kernel/trace/trace_functions_graph.c, mark(). */
static const char *mark_color(char mark)
{
	return mark == '+' ? COLOR_CYAN : mark == '!' ? COLOR_YELLOW : strchr("#*@$", mark) && mark ? COLOR_RED : "";
}

/* " 0) ! 178.912 us  |  vfs_open();" */
static bool paint_graph(struct rest *rest, struct out *out)
{
	const char *unit = memmem(rest->at, left(rest), " us ", 4), *from = unit;

	if (!unit)
		return false;
	while (from > rest->at && (is_digit(from[-1]) || from[-1] == '.'))
		from--;
	if (from == unit || from - rest->at < 2 || from[-1] != ' ')
		return false;
	from -= 2;
	paint(rest, "", (size_t)(from - rest->at), out);
	paint(rest, mark_color(*from), (size_t)(unit + 3 - from), out);
	return true;
}

static void paint_line(struct rest rest, const struct event *event, struct out *out)
{
	size_t len = task_len(&rest);

	if (!left(&rest))
		return;
	if (event->kind == EVENT_LOST) {
		paint(&rest, COLOR_REVERSE, left(&rest), out);
		return;
	}
	if (*rest.at == '#') {
		paint(&rest, COLOR_DIM, left(&rest), out);
		return;
	}
	if (len) {
		size_t blanks = 0;

		while (rest.at[blanks] == ' ')
			blanks++;
		paint(&rest, "", blanks, out);
		paint(&rest, palette_task(event->pid), len - blanks, out);
		paint_columns(&rest, out);
	} else {
		(void)paint_graph(&rest, out);
	}
	paint_text(&rest, out);
}

static void paint_lines(const struct out *text, const struct event *event, struct out *out)
{
	const char *at = text->start;

	while (at < text->at) {
		const char *newline = memchr(at, '\n', (size_t)(text->at - at));

		paint_line((struct rest){ at, newline ? newline : text->at }, event, out);
		if (newline)
			out_char(out, '\n');
		at = newline ? newline + 1 : text->at;
	}
}

static void end_scratch(struct out *text, const struct event *event, struct out *out)
{
	paint_lines(text, event, out);
	out->failed |= text->failed;
	out_release(text);
}

static void painted_format(const struct sink *sink, const struct event *event, struct out *out)
{
	const struct sink *inside = ((const struct painted *)sink)->inside;
	struct out text;

	if (!out_init(&text, 0)) {
		out->failed = true;
		return;
	}
	inside->ops->format(inside, event, &text);
	end_scratch(&text, event, out);
}

static void frame(struct sink *inside, void (*part)(struct sink *sink, struct out *out), struct out *out)
{
	const struct event none = { .kind = EVENT_RECORD };
	struct out text;

	if (!part)
		return;
	if (!out_init(&text, 0)) {
		out->failed = true;
		return;
	}
	part(inside, &text);
	end_scratch(&text, &none, out);
}

static void painted_begin(struct sink *sink, struct out *out)
{
	struct sink *inside = ((struct painted *)sink)->inside;

	frame(inside, inside->ops->begin, out);
}

static void painted_end(struct sink *sink, struct out *out)
{
	struct sink *inside = ((struct painted *)sink)->inside;

	frame(inside, inside->ops->end, out);
}

static bool painted_settle(struct sink *sink, struct events *events, struct event *event)
{
	struct sink *inside = ((struct painted *)sink)->inside;

	return inside->ops->settle(inside, events, event);
}

static void painted_pass_over(struct sink *sink, const struct event *event)
{
	struct sink *inside = ((struct painted *)sink)->inside;

	if (inside->ops->pass_over)
		inside->ops->pass_over(inside, event);
}

static void painted_free(struct sink *sink)
{
	struct painted *painted = (struct painted *)sink;

	painted->inside->ops->free(painted->inside);
	free(painted);
}

static const struct sink_ops painted_sink = {
	.name = "painted",
	.colors = true,
	.free = painted_free,
	.begin = painted_begin,
	.settle = painted_settle,
	.pass_over = painted_pass_over,
	.format = painted_format,
	.end = painted_end,
};

int painted_new(const struct sink_ops *ops, const struct context *context, const struct sink_options *options,
		struct sink **ret, struct fail *fail)
{
	struct painted *painted;
	int r;

	if (!options->color || !ops->columns)
		return ops->create(context, options, ret, fail);
	painted = calloc(1, sizeof(*painted));
	if (!painted)
		return fail_memory(fail);
	painted->sink = (struct sink){ .ops = &painted_sink, .context = context };
	r = ops->create(context, options, &painted->inside, fail);
	if (r < 0) {
		free(painted);
		return r;
	}
	*ret = &painted->sink;
	return 0;
}
