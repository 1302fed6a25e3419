/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_EMPTY_ANSWER_H
#define WEFT_CMD_EMPTY_ANSWER_H

#include "lib/base/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;

/* The options of the command line that restrict what is read from a file. All members are borrowed. */
struct empty_question {
	const char *const *events, *const *comms, *const *filters;
	size_t nr_events, nr_comms, nr_filters;
	const bool *negated; /* one for each filter */
	const int32_t *pids;
	size_t nr_pids;
	const struct cpus *cpus;   /* NULL: all */
	const char *since, *until; /* NULL: not given */
	const char *instance;      /* NULL: every buffer */
	bool rows;                 /* the answer is made from events: only a choice that no event meets explains it */
};

/*
 * Explains an empty answer. If any choice was given, it prints to standard error how many events there are, what time
 * they span, and which choice no event meets, with similar names. It reads the file once more, up to some millions of
 * events. If it cannot, it prints nothing.
 */
void empty_answer_tell(struct trace *trace, const struct empty_question *question);

#endif
