/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_READER_UNMET_H
#define WEFT_READER_UNMET_H

#include "lib/base/cleanup.h"
#include "lib/base/cpus.h"
#include "lib/base/near.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;
struct query;
struct trace;

/* The choices of a query, each of which is examined alone. */
enum unmet_choice { UNMET_EVENT, UNMET_COMM, UNMET_FILTER, UNMET_PID, UNMET_CPU, UNMET_SINCE, UNMET_UNTIL, UNMET_NR };

/* Why a query selects no event: what there is, and how many events meet each of its choices. */
struct unmet {
	uint64_t events, matches[UNMET_NR];
	uint64_t first, last; /* the times of the first and of the last event */
	bool more;            /* there are more events than were read, which are some millions */
	bool timed;           /* times are in ns */
	struct cpus cpus;
	struct near near; /* names of tasks similar to the first --comm */
};

/* Reads the events of the buffers that the query asks for. */
int must_check unmet_count(struct trace *trace, const struct query *query, struct unmet *ret, struct fail *fail);

#endif
