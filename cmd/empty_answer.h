/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_EMPTY_ANSWER_H
#define WEFT_CMD_EMPTY_ANSWER_H

#include "lib/base/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;

/* The choices of the command line that limit what is read of a file. All borrowed. */
struct empty_question {
	const char *const *events, *const *comms, *const *filters;
	size_t nr_events, nr_comms, nr_filters;
	const bool *negated; /* of the filters */
	const int32_t *pids;
	size_t nr_pids;
	const struct cpus *cpus;   /* NULL: all */
	const char *since, *until; /* NULL: not asked for */
	const char *instance;      /* NULL: every buffer */
	bool rows; /* of an answer that is made of events: only a choice that no event meets says why it is empty */
};

/*
 * Of a choice that left nothing, if anything was chosen: says on standard error how many events there are, what they
 * span, and which choice none of them meets, with names that are near. Reads the file once more, up to some millions of
 * events. Says nothing where it cannot.
 */
void empty_answer_tell(struct trace *trace, const struct empty_question *question);

#endif
