/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_LANES_JOB_INTERNAL_H
#define WEFT_SCREEN_VIEW_LANES_JOB_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct fail;
struct lanes;
struct lanes_job;
struct query;
struct trace;

/*
 * A thread of its own reads all events of a time, and draws them as lanes (lib/meaning/timeline/lanes.h), while the
 * viewer goes on with what is there. Everything is exact when it has finished; until then it is exact up to the time
 * that it has reached, but for slices that have not ended.
 */
struct lanes_job_options {
	/* In units of event::ts. The survey also reads what came shortly before, because it says what was going on. */
	uint64_t from, to;
	uint64_t length; /* of the columns, at least */
	const char *const *counters;
	size_t nr_counters;
	size_t cells_max;
	size_t threads; /* 1: one thread does all; 2: another one reads ahead */
};

struct lanes_job_progress {
	uint64_t events;  /* so far */
	uint64_t reached; /* the time of the last one */
	bool ended;
	bool failed; /* it ended because of an error, or memory ran out: something is missing */
};

/* Borrows the trace, which other threads may read at the same time, and the query. */
int must_check lanes_job_start(struct trace *trace, const struct query *query, const struct lanes_job_options *options,
			       struct lanes_job **ret, struct fail *fail);
/* Ends the thread. */
void lanes_job_free(struct lanes_job *lanes_job);
/* The options of a whole file: reads its start and its end, and leaves a fifth of 8,192 columns or more between. */
int must_check lanes_job_span(struct trace *trace, const struct query *query, struct lanes_job_options *ret,
			      struct fail *fail);

const struct lanes_job_options *lanes_job_options(const struct lanes_job *lanes_job);
/* Of the first buffer. */
const struct context *lanes_job_context(const struct lanes_job *lanes_job);
struct lanes_job_progress lanes_job_progress(struct lanes_job *lanes_job);
/* The lanes, which do not change until lanes_job_release(). The thread waits: this is for one frame. */
const struct lanes *lanes_job_take(struct lanes_job *lanes_job);
void lanes_job_release(struct lanes_job *lanes_job);

#endif
