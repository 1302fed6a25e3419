/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_VIEW_SCAN_INTERNAL_H
#define WEFT_VIEW_SCAN_INTERNAL_H

#include "lib/analysis/findings.h"
#include "lib/analysis/pass.h"
#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/reader/reader.h"
#include "lib/view/view.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis_ops;

/*
 * One analysis of the time that a view shows: that between the marks A and B, else the window, which is the whole
 * recording at first. It reads while no key waits, and begins anew when the time or the filters have changed. Of the
 * filters, those by task and CPU hold, as the options of `weft sched` do.
 */
struct scan {
	struct view *view;
	const struct analysis_ops *ops;
	const void *options;
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
	struct scan_filters {
		int32_t *pids;
		size_t nr_pids;
		const char *comms[VIEW_FILTERS_MAX + 64];
		size_t nr_comms;
		struct cpus cpus;
		bool some_cpus;
	} filters;
};

void scan_init(struct scan *scan, struct view *view, const struct analysis_ops *ops, const void *options);
void scan_release(struct scan *scan);

/* Begins anew with another analysis, or with the same. */
void scan_restart(struct scan *scan, const struct analysis_ops *ops);
/* Whether what was read is about another time, or other filters: the caller drops what it has of it, and restarts. */
bool scan_is_old(const struct scan *scan);

/* Reads on until the end, or until a key waits. *ret_ended: this call reached the end. Only -ENOMEM fails. */
int must_check scan_read(struct scan *scan, bool *ret_ended, struct fail *fail);

/* "TIME to TIME  A to B  (being read)", and which filters do not hold. */
void scan_put_time(const struct scan *scan, struct out *out);
/* The options of the command line for the same part of the recording, each with a blank in front. */
bool scan_options(const struct scan *scan, struct buf *into);

#endif
