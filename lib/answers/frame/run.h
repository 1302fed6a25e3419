/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_RUN_H
#define WEFT_ANSWERS_FRAME_RUN_H

#include <stddef.h>

#include "lib/answers/frame/analysis.h"
#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct out;
struct query;
struct reader;
struct reader_consumer;
struct parallel_sum_ops;

/* An analysis, its options (NULL: the defaults), and what it has found. */
struct analysis_run {
	const struct analysis_ops *ops;
	const void *options;
	struct findings findings;
};

/* Where the lines of an analysis that prints while it reads go; the last ones go there after the last event. */
struct analysis_lines {
	int (*flush)(struct out *lines, struct fail *fail);
};

/* The rows that a query chooses. The filter borrows the query. */
struct pass_filter analysis_filter(const struct query *query);

/*
 * Shows all events of a started reader to all analyses, in one pass, and fills their findings. The caller releases them
 * also after a failure, and after them the pass, which owns what the tables are described with. -ENODATA: the file has
 * nothing that one of them could be about. `lines`, and `after`, which sees each event after the analyses, may be NULL;
 * not both are given.
 */
int must_check analyses_run(struct pass *pass, struct reader *reader, const struct pass_filter *filter,
			    struct analysis_run *runs, size_t nr, const struct analysis_lines *lines,
			    const struct reader_consumer *after, struct fail *fail);

/*
 * The same of one analysis that has analysis_ops::shares, and of a reader that has not been started: `share` lets
 * threads make it in slices of time. -EAGAIN: it has to be made in order.
 */
int must_check analysis_share(struct pass *pass, struct reader *reader, const struct pass_filter *filter,
			      struct analysis_run *run,
			      int (*share)(const struct reader *reader, const struct parallel_sum_ops *ops, void *arg),
			      struct fail *fail);

/* The rows of each sorted table that the command of an analysis shows as text, unless the user says how many. */
size_t analysis_rows_as_text(const struct analysis_ops *ops);

#endif
