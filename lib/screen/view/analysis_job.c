// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/view/analysis_job_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/frame/analysis.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/event.h"
#include "lib/meaning/reader/query.h"

enum { ASK_EACH = 4096 };

void analysis_job_init(struct analysis_job *job, struct view *view, const struct analysis_ops *ops, const void *options)
{
	*job = (struct analysis_job){ .view = view, .ops = ops, .options = options, .why = FAIL_INIT };
	reader_init(&job->reader);
}

static void forget(struct analysis_job *job)
{
	if (job->has_findings)
		findings_release(&job->findings);
	if (job->has_pass)
		pass_release(&job->pass);
	reader_release(&job->reader);
	free(job->filters.pids);
}

void analysis_job_release(struct analysis_job *job)
{
	forget(job);
	reader_init(&job->reader);
	job->has_findings = job->has_pass = false;
	job->filters.pids = NULL;
}

void analysis_job_restart(struct analysis_job *job, const struct analysis_ops *ops)
{
	uint64_t margin = job->margin;

	forget(job);
	analysis_job_init(job, job->view, ops, job->options);
	job->margin = margin;
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

bool analysis_job_is_old(const struct analysis_job *job)
{
	uint64_t from, to;

	choose_time(job->view, &from, &to);
	return job->begun && (from != job->from || to != job->to || job->filter_round != job->view->filter_round);
}

/* All filters must be met: of several lists of PIDs, what they have in common. */
static int add_pids(struct analysis_job_filters *filters, const int32_t *pids, size_t nr, struct fail *fail)
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

static int add_cpus(struct analysis_job_filters *filters, const char *text, struct fail *fail)
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

static int add_query(struct analysis_job *job, const struct query *query, struct fail *fail)
{
	struct analysis_job_filters *filters = &job->filters;

	for (size_t i = 0; i < query->comms.nr && filters->nr_comms < array_size(filters->comms); i++)
		filters->comms[filters->nr_comms++] = query->comms.at[i];
	filters->who = query->who;
	filters->nr_who = query->nr_who;
	job->others |= query->events.nr || query->filters.nr || query->flags_out;
	return query->nr_pids ? add_pids(filters, query->pids, query->nr_pids, fail) : 0;
}

static int add_filter(struct analysis_job *job, const struct view_filter *filter, struct fail *fail)
{
	struct query query = QUERY_INIT;
	int r = 0;

	switch (filter->kind) {
	case VIEW_FILTER_PID:
		/* An analysis takes a task that has the PID or the name. */
		if (job->filters.nr_comms) {
			job->others = true;
			return 0;
		}
		r = query_add_pids(&query, filter->text, fail);
		if (!r)
			r = add_pids(&job->filters, query.pids, query.nr_pids, fail);
		query_release(&query);
		return r;
	case VIEW_FILTER_CPU:
		return add_cpus(&job->filters, filter->text, fail);
	case VIEW_FILTER_COMM:
		if (job->filters.nr_comms || job->filters.pids)
			job->others = true;
		else
			job->filters.comms[job->filters.nr_comms++] = filter->text;
		return 0;
	case VIEW_FILTER_QUERY:
		return add_query(job, job->view->query, fail);
	case VIEW_FILTER_EXPRESSION:
	case VIEW_FILTER_EVENT:
		job->others = true;
		return 0;
	}
	return 0;
}

static bool is_whole(const struct analysis_job *job)
{
	return job->from == job->view->extent.first && job->to == job->view->extent.last;
}

static int begin(struct analysis_job *job, struct fail *fail)
{
	const struct view *view = job->view;
	const struct reader_options options = { .tells_ends = true };
	struct reader *reader = &job->reader;
	struct analysis_job_filters *filters = &job->filters;
	struct pass_filter filter;
	int r = 0;

	job->begun = true;
	job->filter_round = view->filter_round;
	choose_time(view, &job->from, &job->to);
	job->reached = job->from;
	for (size_t i = 0; !r && i < view->nr_filters; i++)
		if (!view->filters[i].off)
			r = add_filter(job, &view->filters[i], fail);
	if (!r)
		r = reader_share(reader, &view->reader,
				 is_whole(job) || job->from < job->margin ? 0 : job->from - job->margin,
				 is_whole(job) ? UINT64_MAX : job->to + job->margin, fail);
	if (!r)
		r = reader_start(reader, &options, fail);
	if (r)
		return r;
	filter = (struct pass_filter){ .pids = filters->pids,
				       .nr_pids = filters->nr_pids,
				       .comms = filters->comms,
				       .nr_comms = filters->nr_comms,
				       .marks = view->query->marks.at,
				       .nr_marks = view->query->marks.nr,
				       .files = view->query->files.at,
				       .nr_files = view->query->files.nr,
				       .who = filters->who,
				       .nr_who = filters->nr_who,
				       .cpus = filters->some_cpus ? &filters->cpus : NULL };
	r = pass_init(&job->pass, reader, &filter, fail);
	job->has_pass = true;
	return r ? r : pass_add(&job->pass, job->ops, job->options, fail);
}

static int go_on(struct analysis_job *job, struct fail *fail)
{
	struct event event;
	size_t asked = 0;
	int r;

	while ((r = reader_next(&job->reader, &event, fail)) > 0) {
		pass_see(&job->pass, &event);
		job->reached = event.ts;
		if (++asked % ASK_EACH == 0 && view_waits(job->view, job->ops->name, event.ts, job->from, job->to))
			return 0;
	}
	if (!r)
		r = pass_end(&job->pass, fail);
	findings_init(&job->findings);
	job->has_findings = true;
	if (!r)
		r = pass_finish(&job->pass, 0, &job->findings, fail);
	job->ended = true;
	if (!r)
		r = findings_arrange(&job->findings, &(struct findings_options){ .top = UINT64_MAX }, fail);
	return r;
}

int analysis_job_read(struct analysis_job *job, bool *ret_ended, struct fail *fail)
{
	int r = 0;

	*ret_ended = false;
	if (job->ended)
		return 0;
	if (!job->begun)
		r = begin(job, &job->why);
	if (!r)
		r = go_on(job, &job->why);
	if (r == -ENOMEM)
		return fail_memory(fail);
	if (r)
		job->ended = true;
	*ret_ended = job->ended;
	return 0;
}

void analysis_job_put_time(const struct analysis_job *job, struct out *out)
{
	const struct view *view = job->view;

	view_put_time(view, job->from, out);
	out_str(out, " to ");
	view_put_time(view, job->to, out);
	if (is_marked(view))
		out_str(out, ", between A and B");
	if (!job->ended)
		out_str(out, "  (being read)");
	if (job->others)
		out_str(out, "  (of the filters, only --pid, --comm and --cpu hold here)");
}

static bool put_filters(const struct analysis_job *job, struct buf *into)
{
	const struct analysis_job_filters *filters = &job->filters;
	bool ok = true;

	for (size_t i = 0; i < filters->nr_pids; i++)
		ok &= buf_addf(into, "%s%" PRId32, i ? "," : " --pid ", filters->pids[i]);
	for (size_t i = 0; i < filters->nr_comms; i++)
		ok &= buf_add_str(into, " --comm ") && view_quote(filters->comms[i], into);
	if (filters->some_cpus)
		ok &= buf_add_str(into, " --cpu ") && cpus_list(&filters->cpus, into);
	return ok;
}

bool analysis_job_options(const struct analysis_job *job, struct buf *into)
{
	const struct view *view = job->view;
	struct out times;
	bool ok = view_part_options(view, into) && put_filters(job, into);

	if (!job->begun || is_whole(job))
		return ok;
	if (!out_init(&times, 128))
		return false;
	out_str(&times, " --since ");
	view_put_exact(view, job->from, &times);
	out_str(&times, " --until ");
	view_put_exact(view, job->to, &times);
	out_char(&times, '\0');
	ok = ok && buf_add_str(into, times.start);
	out_release(&times);
	return ok;
}
