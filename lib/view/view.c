// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/view.h"

#include "lib/base/text.h"
#include "lib/reader/query.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pane *view_pane(const struct view *view)
{
	return view->panes[view->in_second && view->second ? view->second : view->shown];
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

bool view_quote(const char *text, struct buf *into)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%#";

	if (*text && strspn(text, plain) == strlen(text))
		return buf_add_str(into, text);
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
	return ok;
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
	bool ok = true;

	if (view->query->instance)
		ok &= put_option("-B", view->query->instance, into);
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
	char text[TEXT_HUMAN];

	if (view->counts)
		out_u64(out, ts);
	else if (view->nanoseconds)
		out_f(out, "%" PRIu64 ".%09" PRIu64, ts / 1000000000, ts % 1000000000);
	else
		out_str(out, text_stamp(text, ts));
}

void view_put_exact(const struct view *view, uint64_t ts, struct out *out)
{
	if (view->counts)
		out_u64(out, ts);
	else
		out_f(out, "%" PRIu64 ".%09" PRIu64, ts / 1000000000, ts % 1000000000);
}

void view_put_span(const struct view *view, uint64_t span, struct out *out)
{
	char text[TEXT_HUMAN];

	out_str(out, view->counts ? text_count(text, span) : text_time(text, span));
}
