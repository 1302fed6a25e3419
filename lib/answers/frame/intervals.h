/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_INTERVALS_H
#define WEFT_ANSWERS_FRAME_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/answers/frame/pass.h"

struct analysis_ops;
struct event;
struct fail;
struct findings;
struct findings_span;
struct reader;

/*
 * An analysis of each interval of equal length, and of all events together. Intervals follow the times of the events:
 * one ends when a later event comes. What a task or CPU does when an interval ends, it goes on doing in the next one.
 * Use: set the first members; intervals_run() when the reader is started; intervals_release(). A caller that reads by
 * itself calls intervals_begin(), intervals_see() for each event, and intervals_end() instead.
 */
struct intervals {
	const struct analysis_ops *ops;
	const void *options; /* of the analysis; borrowed */
	uint64_t every_ns;
	/*
	 * Takes the findings of an interval, and, with findings_span::whole, those of all events. It may arrange them.
	 * Several intervals without an event come as one. Returns 0 or -errno, which ends the work.
	 */
	int (*found)(void *arg, struct findings *findings, const struct findings_span *span, struct fail *fail);
	void *arg;
	/* Events that were lost, and whether there are gaps without a number. */
	uint64_t lost;
	bool more_lost;
	/* Private: */
	struct pass whole, part;
	bool begun, ended;
	bool tells; /* intervals_run(): all of it fails if no interval has a table */
	bool any;   /* some interval has one */
	uint64_t first, from, events, all_events;
	struct fail *fail; /* set if `failed` */
	int failed;
};

/* Borrows the reader, the filter and `fail`, which is set when intervals_see() or intervals_end() fail. */
int must_check intervals_begin(struct intervals *intervals, struct reader *reader, const struct pass_filter *filter,
			       struct fail *fail);
/* Returns whether the event counts: after a failure none does. */
bool intervals_see(struct intervals *intervals, const struct event *event);
/* Ends the last interval, then all. Only the first call does something. Returns 0 or -errno. */
int must_check intervals_end(struct intervals *intervals);
/*
 * These three for all events of the reader. Fails as the analysis does without intervals if there is nothing to show,
 * such as -ENODATA where none of its events was recorded.
 */
int must_check intervals_run(struct intervals *intervals, struct reader *reader, const struct pass_filter *filter,
			     struct fail *fail);
void intervals_release(struct intervals *intervals);

#endif
