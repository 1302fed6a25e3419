// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/frame/run.h"

#include <errno.h>

#include "lib/answers/frame/pass_lines_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/reader/query.h"

enum { ROWS_AS_TEXT = 25 };

struct pass_filter analysis_filter(const struct query *query)
{
	return (struct pass_filter){ .pids = query->pids,
				     .nr_pids = query->nr_pids,
				     .comms = query->comms.at,
				     .nr_comms = query->comms.nr,
				     .who = query->who,
				     .nr_who = query->nr_who,
				     .marks = query->marks.at,
				     .nr_marks = query->marks.nr,
				     .files = query->files.at,
				     .nr_files = query->files.nr,
				     .cpus = query->some_cpus ? &query->cpus : NULL,
				     .self = query->self == QUERY_SELF_IN };
}

size_t analysis_rows_as_text(const struct analysis_ops *ops)
{
	return ops->rows_as_text ? ops->rows_as_text : ROWS_AS_TEXT;
}

static int read_all(struct pass *pass, const struct analysis_lines *lines, const struct reader_consumer *after,
		    struct fail *fail)
{
	return lines ? pass_run_lines(pass, lines->flush, fail) : pass_run(pass, after, fail);
}

int analyses_run(struct pass *pass, struct reader *reader, const struct pass_filter *filter, struct analysis_run *runs,
		 size_t nr, const struct analysis_lines *lines, const struct reader_consumer *after, struct fail *fail)
{
	struct out into = { .start = NULL };
	int r = pass_init(pass, reader, filter, fail);

	for (size_t i = 0; i < nr; i++)
		findings_init(&runs[i].findings);
	if (!r && lines && !out_init(&into, PASS_LINES_SIZE))
		r = fail_memory(fail);
	pass->lines = lines ? &into : NULL;
	if (!lines && !after)
		pass_divide(pass);
	for (size_t i = 0; !r && i < nr; i++)
		r = pass_add(pass, runs[i].ops, runs[i].options, fail);
	if (!r)
		r = read_all(pass, lines, after, fail);
	for (size_t i = 0; !r && i < nr; i++)
		r = pass_finish(pass, i, &runs[i].findings, fail);
	if (!r && lines)
		r = lines->flush(&into, fail);
	if (into.start)
		out_release(&into);
	pass->lines = NULL;
	return r;
}

int analysis_share(struct pass *pass, struct reader *reader, const struct pass_filter *filter, struct analysis_run *run,
		   int (*share)(const struct reader *reader, const struct parallel_sum_ops *ops, void *arg),
		   struct fail *fail)
{
	/* What cannot begin tells so in order. */
	int r = pass_init(pass, reader, filter, fail) || pass_add(pass, run->ops, run->options, fail) ? -EAGAIN : 0;

	findings_init(&run->findings);
	if (!r)
		r = run->ops->can_share(pass) ? share(reader, run->ops->shares, pass) : -EAGAIN;
	if (!r)
		r = pass_end(pass, fail);
	return r ? r : pass_finish(pass, 0, &run->findings, fail);
}
