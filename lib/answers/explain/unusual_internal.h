/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_EXPLAIN_UNUSUAL_INTERNAL_H
#define WEFT_ANSWERS_EXPLAIN_UNUSUAL_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct findings;
struct query;
struct trace;

/*
 * What was different in a recording before a moment, compared with the time before that: the recording up to the moment
 * is divided into intervals of equal length, the last of which ends at the moment, and the tables of weft summary are
 * made for each. A figure of the last one is unusual by how far it is from what it was in the others, measured by how
 * much it varied there. Rows of one name (tasks of several PIDs) count together.
 */
enum { UNUSUAL_INTERVALS = 40, UNUSUAL_LEAST = 3, UNUSUAL_ROWS = 5 };

struct unusual_options {
	const struct query *query; /* with `around`: the moment; its times are not used */
	uint64_t length_ns;        /* of the last interval; 0: a tenth of the time before the moment */
	size_t rows;               /* at most so many: the most unusual first */
	const char *task;          /* what is unusual of it comes before all else; NULL or "": nobody is asked about */
};

/* What was compared. */
struct unusual_span {
	uint64_t from, to, length_ns; /* `to` is the moment */
	size_t intervals;             /* before the last one */
};

/*
 * Adds the table "unusual". -ENODATA: there are not UNUSUAL_LEAST intervals before the last one, or no events; a
 * message about the mark is that of lib/meaning/reader/query.h.
 */
int must_check unusual_find(struct trace *trace, const struct unusual_options *options, struct findings *findings,
			    struct unusual_span *ret, struct fail *fail);

#endif
