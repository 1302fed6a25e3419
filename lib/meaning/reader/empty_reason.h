/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_READER_EMPTY_REASON_H
#define WEFT_MEANING_READER_EMPTY_REASON_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/near.h"

struct fail;
struct query;
struct trace;

/* The choices of a query, each of which is examined alone. */
enum empty_reason_choice {
	EMPTY_REASON_EVENT,
	EMPTY_REASON_COMM,
	EMPTY_REASON_FILTER,
	EMPTY_REASON_PID,
	EMPTY_REASON_WHO,
	EMPTY_REASON_CPU,
	EMPTY_REASON_SINCE,
	EMPTY_REASON_UNTIL,
	EMPTY_REASON_NR
};

/* Why a query selects no event: what there is, and how many events meet each of its choices. */
struct empty_reason {
	uint64_t events, matches[EMPTY_REASON_NR];
	uint64_t first, last; /* the times of the first and of the last event */
	bool more;            /* there are more events than were read, which are some millions */
	bool timed;           /* times are in ns */
	bool thread;          /* the first --process is the name of a thread that has events */
	struct cpus cpus;
	struct near near; /* names similar to the first --comm, or else to the first of --process, --unit... */
};

/* Reads the events of the buffers that the query asks for. */
int must_check empty_reason_count(struct trace *trace, const struct query *query, struct empty_reason *ret,
				  struct fail *fail);

#endif
