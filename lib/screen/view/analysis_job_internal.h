/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_ANALYSIS_JOB_INTERNAL_H
#define WEFT_SCREEN_VIEW_ANALYSIS_JOB_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answers/frame/findings.h"
#include "lib/answers/frame/pass.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/meaning/reader/reader.h"
#include "lib/screen/view/view.h"

struct analysis_ops;

/*
 * One analysis of the time that a view shows: that between the marks A and B, else the window, which is the whole
 * recording at first. It reads while no key waits, and begins anew when the time or the filters have changed. Of the
 * filters, those by task and CPU hold, as the options of `weft sched` do.
 */
struct analysis_job {
	struct view *view;
	const struct analysis_ops *ops;
	const void *options;
	uint64_t margin;   /* so many ns more are read before and after the time */
	bool begun, ended; /* ended: the findings are there, or `why` */
	struct fail why;
	uint64_t from, to, reached;
	struct findings findings;
	bool others; /* filters are on that do not hold here */
	/* Private: */
	uint64_t filter_round;
	struct reader reader;
	struct pass pass;
	bool has_pass, has_findings;
	struct analysis_job_filters {
		int32_t *pids;
		size_t nr_pids;
		const char *comms[VIEW_FILTERS_MAX + 64];
		size_t nr_comms;
		const struct who_want *who; /* borrowed, as comms */
		size_t nr_who;
		struct cpus cpus;
		bool some_cpus;
	} filters;
};

void analysis_job_init(struct analysis_job *job, struct view *view, const struct analysis_ops *ops,
		       const void *options);
void analysis_job_release(struct analysis_job *job);

/* Begins anew with another analysis, or with the same. */
void analysis_job_restart(struct analysis_job *job, const struct analysis_ops *ops);
/* Whether what was read is about another time, or other filters: the caller drops what it has of it, and restarts. */
bool analysis_job_is_old(const struct analysis_job *job);

/* Reads on until the end, or until a key waits. *ret_ended: this call reached the end. Only -ENOMEM fails. */
int must_check analysis_job_read(struct analysis_job *job, bool *ret_ended, struct fail *fail);

/* "TIME to TIME  A to B  (being read)", and which filters do not hold. */
void analysis_job_put_time(const struct analysis_job *job, struct out *out);
/* The options of the command line for the same part of the recording, each with a blank in front. */
bool analysis_job_options(const struct analysis_job *job, struct buf *into);

#endif
