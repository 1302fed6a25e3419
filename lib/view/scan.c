// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/view/scan_internal.h"

#include "lib/analysis/analysis.h"
#include "lib/event/context.h"
#include "lib/event/event.h"
#include "lib/reader/query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_EACH = 4096 };

void scan_init(struct scan *scan, struct view *view, const struct analysis_ops *ops, const void *options)
{
	*scan = (struct scan){ .view = view, .ops = ops, .options = options, .why = FAIL_INIT };
	reader_init(&scan->reader);
}

static void forget(struct scan *scan)
{
	if (scan->has_findings)
		findings_release(&scan->findings);
	if (scan->has_pass)
		pass_release(&scan->pass);
	reader_release(&scan->reader);
	free(scan->filters.pids);
}

void scan_release(struct scan *scan)
{
	forget(scan);
	reader_init(&scan->reader);
	scan->has_findings = scan->has_pass = false;
	scan->filters.pids = NULL;
}

void scan_restart(struct scan *scan, const struct analysis_ops *ops)
{
	forget(scan);
	scan_init(scan, scan->view, ops, scan->options);
}

static bool is_marked(const struct view *view)
{
	return view->marks[0].set && view->marks[1].set;
}

/* The window of a time line may reach beyond the recording. */
static void choose_time(const struct view *view, uint64_t *ret_from, uint64_t *ret_to)
{
	uint64_t a = view->marks[0].place.ts, b = view->marks[1].place.ts;

	*ret_from = !is_marked(view) ? view->from : a < b ? a : b;
	*ret_to = !is_marked(view) ? view->to : a < b ? b : a;
	if (*ret_from < view->extent.first)
		*ret_from = view->extent.first;
	if (*ret_to > view->extent.last)
		*ret_to = view->extent.last;
}

bool scan_is_old(const struct scan *scan)
{
	uint64_t from, to;

	choose_time(scan->view, &from, &to);
	return scan->begun && (from != scan->from || to != scan->to || scan->filter_round != scan->view->filter_round);
}

/* All filters must be met: of several lists of PIDs, what they have in common. */
static int add_pids(struct scan_filters *filters, const int32_t *pids, size_t nr, struct fail *fail)
{
	bool first = !filters->pids;
	size_t kept = 0;

	if (first) {
		filters->pids = calloc(nr + 1, sizeof(*pids));
		if (!filters->pids)
			return fail_memory(fail);
		memcpy(filters->pids, pids, nr * sizeof(*pids));
		filters->nr_pids = nr;
		return 0;
	}
	for (size_t i = 0; i < filters->nr_pids; i++)
		for (size_t k = 0; k < nr; k++)
			if (filters->pids[i] == pids[k]) {
				filters->pids[kept++] = pids[k];
				break;
			}
	/* No task has the PID -1. */
	if (!kept)
		filters->pids[kept++] = -1;
	filters->nr_pids = kept;
	return 0;
}

static int add_cpus(struct scan_filters *filters, const char *text, struct fail *fail)
{
	struct cpus cpus;
	int r = cpus_parse(text, &cpus, fail);

	if (!r && filters->some_cpus)
		cpus_keep(&filters->cpus, &cpus);
	else if (!r)
		filters->cpus = cpus;
	filters->some_cpus = true;
	return r;
}

static int add_query(struct scan *scan, const struct query *query, struct fail *fail)
{
	struct scan_filters *filters = &scan->filters;

	for (size_t i = 0; i < query->comms.nr && filters->nr_comms < array_size(filters->comms); i++)
		filters->comms[filters->nr_comms++] = query->comms.at[i];
	scan->others |= query->events.nr || query->filters.nr || query->flags_out;
	return query->nr_pids ? add_pids(filters, query->pids, query->nr_pids, fail) : 0;
}

static int add_filter(struct scan *scan, const struct view_filter *filter, struct fail *fail)
{
	struct query query = QUERY_INIT;
	int r = 0;

	switch (filter->kind) {
	case VIEW_FILTER_PID:
		/* An analysis takes a task that has the PID or the name. */
		if (scan->filters.nr_comms) {
			scan->others = true;
			return 0;
		}
		r = query_add_pids(&query, filter->text, fail);
		if (!r)
			r = add_pids(&scan->filters, query.pids, query.nr_pids, fail);
		query_release(&query);
		return r;
	case VIEW_FILTER_CPU:
		return add_cpus(&scan->filters, filter->text, fail);
	case VIEW_FILTER_COMM:
		if (scan->filters.nr_comms || scan->filters.pids)
			scan->others = true;
		else
			scan->filters.comms[scan->filters.nr_comms++] = filter->text;
		return 0;
	case VIEW_FILTER_QUERY:
		return add_query(scan, scan->view->query, fail);
	case VIEW_FILTER_EXPRESSION:
	case VIEW_FILTER_EVENT:
		scan->others = true;
		return 0;
	}
	return 0;
}

static bool is_whole(const struct scan *scan)
{
	return scan->from == scan->view->extent.first && scan->to == scan->view->extent.last;
}

static int begin(struct scan *scan, struct fail *fail)
{
	const struct view *view = scan->view;
	const struct reader_options options = { .pool = NULL };
	struct reader *reader = &scan->reader;
	struct scan_filters *filters = &scan->filters;
	struct pass_filter filter;
	int r = 0;

	scan->begun = true;
	scan->filter_round = view->filter_round;
	choose_time(view, &scan->from, &scan->to);
	scan->reached = scan->from;
	for (size_t i = 0; !r && i < view->nr_filters; i++)
		if (!view->filters[i].off)
			r = add_filter(scan, &view->filters[i], fail);
	if (!r)
		r = reader_share(reader, &view->reader, is_whole(scan) ? 0 : scan->from,
				 is_whole(scan) ? UINT64_MAX : scan->to, fail);
	if (!r)
		r = reader_start(reader, &options, fail);
	if (r)
		return r;
	filter = (struct pass_filter){ .pids = filters->pids,
				       .nr_pids = filters->nr_pids,
				       .comms = filters->comms,
				       .nr_comms = filters->nr_comms,
				       .cpus = filters->some_cpus ? &filters->cpus : NULL };
	r = pass_init(&scan->pass, reader, &filter, fail);
	scan->has_pass = true;
	return r ? r : pass_add(&scan->pass, scan->ops, scan->options, fail);
}

static int go_on(struct scan *scan, struct fail *fail)
{
	struct event event;
	size_t asked = 0;
	int r;

	while ((r = reader_next(&scan->reader, &event, fail)) > 0) {
		pass_see(&scan->pass, &event);
		scan->reached = event.ts;
		if (++asked % ASK_EACH == 0 && view_waits(scan->view, scan->ops->name, event.ts, scan->from, scan->to))
			return 0;
	}
	if (!r)
		r = pass_end(&scan->pass, fail);
	findings_init(&scan->findings);
	scan->has_findings = true;
	if (!r)
		r = pass_finish(&scan->pass, 0, &scan->findings, fail);
	scan->ended = true;
	if (!r)
		r = findings_arrange(&scan->findings, &(struct findings_options){ .top = UINT64_MAX }, fail);
	return r;
}

int scan_read(struct scan *scan, bool *ret_ended, struct fail *fail)
{
	int r = 0;

	*ret_ended = false;
	if (scan->ended)
		return 0;
	if (!scan->begun)
		r = begin(scan, &scan->why);
	if (!r)
		r = go_on(scan, &scan->why);
	if (r == -ENOMEM)
		return fail_memory(fail);
	if (r)
		scan->ended = true;
	*ret_ended = scan->ended;
	return 0;
}

void scan_put_time(const struct scan *scan, struct out *out)
{
	const struct view *view = scan->view;

	view_put_time(view, scan->from, out);
	out_str(out, " to ");
	view_put_time(view, scan->to, out);
	if (is_marked(view))
		out_str(out, ", between A and B");
	if (!scan->ended)
		out_str(out, "  (being read)");
	if (scan->others)
		out_str(out, "  (of the filters, only --pid, --comm and --cpu hold here)");
}

static bool put_filters(const struct scan *scan, struct buf *into)
{
	const struct scan_filters *filters = &scan->filters;
	bool ok = true;

	for (size_t i = 0; i < filters->nr_pids; i++)
		ok &= buf_addf(into, "%s%" PRId32, i ? "," : " --pid ", filters->pids[i]);
	for (size_t i = 0; i < filters->nr_comms; i++)
		ok &= buf_add_str(into, " --comm ") && view_quote(filters->comms[i], into);
	if (filters->some_cpus)
		ok &= buf_add_str(into, " --cpu ") && cpus_list(&filters->cpus, into);
	return ok;
}

bool scan_options(const struct scan *scan, struct buf *into)
{
	const struct view *view = scan->view;
	struct out times;
	bool ok = true;

	if (view->query->instance)
		ok = buf_add_str(into, " -B ") && view_quote(view->query->instance, into);
	ok = ok && put_filters(scan, into);
	if (!scan->begun || is_whole(scan))
		return ok;
	if (!out_init(&times, 128))
		return false;
	out_str(&times, " --since ");
	view_put_exact(view, scan->from, &times);
	out_str(&times, " --until ");
	view_put_exact(view, scan->to, &times);
	out_char(&times, '\0');
	ok = ok && buf_add_str(into, times.start);
	out_release(&times);
	return ok;
}
