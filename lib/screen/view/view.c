// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/escape.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/reader/query.h"

struct pane *view_pane(const struct view *view)
{
	return view->panes[view->in_second && view->second ? view->second : view->shown];
}

static const struct pane_ops *ops_of(const struct view *view, char letter)
{
	for (size_t i = 0; i < view->nr_all_panes; i++)
		if (view->all_panes[i]->letter == letter)
			return view->all_panes[i];
	return NULL;
}

int view_show(struct view *view, char letter, struct fail *fail)
{
	const struct pane_ops *ops = ops_of(view, letter);
	unsigned digit = (unsigned)(letter - '0');
	int r;

	if (!ops || digit >= array_size(view->panes))
		return 0;
	if (!view->panes[digit]) {
		r = ops->create(view, &view->panes[digit], fail);
		if (r)
			return r;
		view->panes[digit]->ops = ops;
		view->panes[digit]->view = view;
	}
	/* A pane is shown once. */
	if (view->second && (digit == view->second || digit == view->shown)) {
		view->in_second = digit == view->second;
		return 0;
	}
	if (view->in_second)
		view->second = digit;
	else
		view->shown = digit;
	return 0;
}

static void remember(struct view *view)
{
	const struct view_stop stop = { view->cursor, view->from, view->to };

	/* What was ahead is forgotten, as by a browser. */
	view->nr_history = view->at_history;
	if (view->nr_history == VIEW_HISTORY) {
		memmove(view->history, view->history + 1, (VIEW_HISTORY - 1) * sizeof(*view->history));
		view->nr_history--;
	}
	view->history[view->nr_history++] = stop;
	view->at_history = view->nr_history;
}

void view_move(struct view *view, struct walk_place place)
{
	view->cursor = place;
}

void view_go(struct view *view, struct walk_place place)
{
	remember(view);
	view->cursor = place;
}

void view_zoom(struct view *view, uint64_t from, uint64_t to)
{
	remember(view);
	view->from = from;
	view->to = to < from ? from : to;
}

static void stop_at(struct view *view, size_t index)
{
	const struct view_stop here = { view->cursor, view->from, view->to }, there = view->history[index];

	view->history[index] = here;
	view->cursor = there.place;
	view->from = there.from;
	view->to = there.to;
}

bool view_back(struct view *view)
{
	if (!view->at_history)
		return false;
	stop_at(view, --view->at_history);
	return true;
}

bool view_forward(struct view *view)
{
	if (view->at_history == view->nr_history)
		return false;
	stop_at(view, view->at_history++);
	return true;
}

void view_say(struct view *view, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(view->message, sizeof(view->message), format, args);
	va_end(args);
}

bool view_waits(const struct view *view, const char *what, uint64_t at, uint64_t from, uint64_t to)
{
	unsigned percent = 0;

	if (!view->waits)
		return false;
	if (to > from && at > from)
		percent = at >= to ? 100 : (unsigned)((double)(at - from) * 100 / (double)(to - from));
	return view->waits(view->waits_arg, what, percent);
}

void view_filters_changed(struct view *view)
{
	view->filter_round++;
	for (size_t i = 0; i < array_size(view->panes); i++)
		if (view->panes[i] && view->panes[i]->ops->changed)
			view->panes[i]->ops->changed(view->panes[i]);
}

bool view_unfilter(struct view *view)
{
	if (!view->nr_filters || view->filters[view->nr_filters - 1].kind == VIEW_FILTER_QUERY)
		return false;
	free(view->filters[--view->nr_filters].text);
	view_filters_changed(view);
	return true;
}

static bool escape(const char *text, size_t len, struct out *out)
{
	struct escape state = { .len = 0 };

	if (!out_init(out, 0))
		return false;
	escape_text(&state, text, len, out);
	escape_end(&state, out);
	return !out->failed;
}

/* Whether a terminal into which it is pasted shows all of it, on one line. */
static bool is_harmless(const char *text)
{
	size_t len = strlen(text);
	struct out out;
	bool is = escape(text, len, &out) && out_len(&out) == len && !strpbrk(text, "\n\t");

	out_release(&out);
	return is;
}

/* As $'\033', which bash, zsh and ksh read as the bytes. */
static bool quote_escaped(const char *text, struct buf *into)
{
	cleanup_buf struct buf word = BUF_INIT;
	bool ok = true;
	struct out out;

	for (; ok && *text; text++)
		switch (*text) {
		case '\n':
			ok = buf_add_str(&word, "\\n");
			break;
		case '\t':
			ok = buf_add_str(&word, "\\t");
			break;
		case '\\':
		case '\'':
			ok = buf_add_str(&word, "\\") && buf_add(&word, text, 1);
			break;
		default:
			ok = buf_add(&word, text, 1);
		}
	if (!ok)
		return false;
	ok = escape(word.data, word.len, &out) && buf_add_str(into, "$'") && buf_add(into, out.start, out_len(&out)) &&
	     buf_add_str(into, "'");
	out_release(&out);
	return ok;
}

bool view_quote(const char *text, struct buf *into)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%#";

	if (*text && strspn(text, plain) == strlen(text))
		return buf_add_str(into, text);
	if (!is_harmless(text))
		return quote_escaped(text, into);
	if (!buf_add_str(into, "'"))
		return false;
	for (; *text; text++)
		if (!(*text == '\'' ? buf_add_str(into, "'\\''") : buf_add(into, text, 1)))
			return false;
	return buf_add_str(into, "'");
}

static bool put_option(const char *option, const char *text, struct buf *into)
{
	return buf_addf(into, " %s ", option) && view_quote(text, into);
}

static bool put_query(const struct query *query, struct buf *into)
{
	bool ok = true;

	for (size_t i = 0; i < query->events.nr; i++)
		ok &= put_option("-e", query->events.at[i], into);
	for (size_t i = 0; i < query->filters.nr; i++)
		ok &= put_option(query->negated && query->negated[i] ? "-v -f" : "-f", query->filters.at[i], into);
	for (size_t i = 0; i < query->nr_pids; i++)
		ok &= buf_addf(into, " --pid %" PRId32, query->pids[i]);
	for (size_t i = 0; i < query->comms.nr; i++)
		ok &= put_option("--comm", query->comms.at[i], into);
	for (size_t i = 0; i < query->marks.nr; i++)
		ok &= put_option("--mark", query->marks.at[i], into);
	for (size_t i = 0; i < query->files.nr; i++)
		ok &= put_option("--file", query->files.at[i], into);
	for (size_t i = 0; i < query->nr_who; i++)
		ok &= buf_addf(into, " --%s ", who_part_word(query->who[i].part)) &&
		      view_quote(query->who[i].word, into);
	return ok;
}

bool view_part_options(const struct view *view, struct buf *into)
{
	const struct query *query = view->query;

	return (!query->instance || put_option("-B", query->instance, into)) &&
	       (!query->some_cpus || (buf_add_str(into, " --cpu ") && cpus_list(&query->cpus, into)));
}

bool view_filter_options(const struct view *view, struct buf *into)
{
	static const char *const options[] = { [VIEW_FILTER_EXPRESSION] = "-f",
					       [VIEW_FILTER_EVENT] = "-e",
					       [VIEW_FILTER_PID] = "--pid",
					       [VIEW_FILTER_COMM] = "--comm",
					       [VIEW_FILTER_CPU] = "--cpu" };
	cleanup_buf struct buf all = BUF_INIT;
	size_t expressions = 0;
	bool ok = view_part_options(view, into);

	for (size_t i = 0; i < view->nr_filters; i++) {
		const struct view_filter *filter = &view->filters[i];

		if (filter->off)
			continue;
		if (filter->kind == VIEW_FILTER_QUERY) {
			ok &= put_query(view->query, into);
		} else if (filter->kind == VIEW_FILTER_EXPRESSION) {
			/* Here all must be met, and of several -f one. */
			ok &= buf_addf(&all, "%s%s(%s)", expressions++ ? " && " : "", filter->negated ? "!" : "",
				       filter->text);
		} else {
			ok &= put_option(options[filter->kind], filter->text, into);
		}
	}
	if (expressions == 1 && !strncmp(buf_str(&all), "(", 1)) {
		all.data[all.len - 1] = '\0';
		ok &= put_option("-f", all.data + 1, into);
	} else if (expressions) {
		ok &= put_option("-f", buf_str(&all), into);
	}
	return ok;
}

void view_copy(struct view *view, const char *text, size_t len)
{
	buf_clear(&view->copy);
	view->copied = buf_add(&view->copy, text, len);
}

void view_put_time(const struct view *view, uint64_t ts, struct out *out)
{
	const struct wall *wall = view->reader.buffers[0].context->wall;
	char text[TEXT_HUMAN], face[FACE_TEXT];

	if (view->face.kind != FACE_TRACE)
		out_mem(out, face, (size_t)face_text(face, &view->face, wall, ts, view->nanoseconds ? 9 : 6));
	else if (view->counts)
		out_u64(out, ts);
	else if (view->nanoseconds)
		out_str(out, text_seconds(text, ts));
	else
		out_str(out, text_stamp(text, ts));
}

void view_put_exact(const struct view *view, uint64_t ts, struct out *out)
{
	char text[TEXT_HUMAN];

	if (view->counts)
		out_u64(out, ts);
	else
		out_str(out, text_seconds(text, ts));
}

void view_put_span(const struct view *view, uint64_t span, struct out *out)
{
	char text[TEXT_HUMAN];

	out_str(out, view->counts ? text_count(text, span) : text_time(text, span));
}
