/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_VIEW_SURVEY_INTERNAL_H
#define WEFT_VIEW_SURVEY_INTERNAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct lanes;
struct query;
struct trace;

/*
 * A thread of its own reads all events of a time, and draws them as lanes (lib/timeline/lanes.h), while the viewer goes
 * on with what is there. Everything is exact when it has finished; until then it is exact up to the time that it has
 * reached, but for slices that have not ended.
 */
struct survey;

struct survey_options {
	/* In units of event::ts. The survey also reads what came shortly before, because it says what was going on. */
	uint64_t from, to;
	unsigned shift; /* of the columns, at least */
	size_t cells_max;
	size_t threads; /* 1: one thread does all; 2: another one reads ahead */
};

struct survey_progress {
	uint64_t events;  /* so far */
	uint64_t reached; /* the time of the last one */
	bool ended;
	bool failed; /* it ended because of an error, or memory ran out: something is missing */
};

/* Reads the start and the end of the file, and leaves about 4,096 columns between them. */
int must_check survey_span(struct trace *trace, const struct query *query, struct survey_options *ret,
			   struct fail *fail);

/* Borrows the trace, which other threads may read at the same time, and the query. */
int must_check survey_start(struct trace *trace, const struct query *query, const struct survey_options *options,
			    struct survey **ret, struct fail *fail);
/* Ends the thread. */
void survey_free(struct survey *survey);

struct survey_progress survey_progress(struct survey *survey);
const struct survey_options *survey_options(const struct survey *survey);

/* The lanes, which do not change until survey_release(). The thread waits: this is for one frame. */
const struct lanes *survey_take(struct survey *survey);
void survey_release(struct survey *survey);

#endif
