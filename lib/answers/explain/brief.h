/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_EXPLAIN_BRIEF_H
#define WEFT_ANSWERS_EXPLAIN_BRIEF_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct findings;
struct out;
struct query;
struct trace;

/*
 * What stands out in a recording, on less than a page: for a mail or a ticket. Nothing is measured here: rules look at
 * the tables of other analyses, and lib/answers/why tells the cause. "The longest" is no finding, because there always
 * is one: what is told has taken at least a twentieth of the time, or is unlike the cases of its kind.
 */
enum brief_kind {
	BRIEF_LATENCY,
	BRIEF_IO,
	BRIEF_LOCKS,
	BRIEF_CPU,
	BRIEF_ERRORS,
	BRIEF_MEMORY,
	BRIEF_KINDS,
};
extern const char *const brief_kinds[BRIEF_KINDS];

struct brief_options {
	enum brief_kind ask; /* only this kind, and a hundredth of the time is enough; BRIEF_KINDS: all */
	const char *input;   /* the file as a shell takes it, behind -B if it is of one instance */
};

enum { BRIEF_LINES = 40, BRIEF_BYTES = 4096, BRIEF_FINDINGS = 3 };

/*
 * Adds the tables "recording", "stands_out" and "looked_at". -ENODATA: the file has no event that any of the rules
 * could be about.
 */
int must_check brief_find(const struct brief_options *options, struct trace *trace, const struct query *query,
			  struct findings *findings, struct fail *fail);

/* Whether these findings say that nothing stands out. */
bool brief_is_empty(const struct findings *findings);

/* Writes these findings in at most BRIEF_LINES lines and BRIEF_BYTES bytes. */
bool must_check brief_write(const struct brief_options *options, const struct findings *findings, bool markdown,
			    struct out *out);

#endif
