/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_CULPRIT_INTERNAL_H
#define WEFT_ANALYSIS_CULPRIT_INTERNAL_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#include <stdint.h>

struct fail;
struct query;
struct trace;

/*
 * Why the wakeup that ended at this moment took so long, as weft latency explains it, in one line: the task, its CPU,
 * the parts of the time, and the task to which the largest part is due. Only the events of that time are read.
 * -ENODATA: there is no such wakeup among the events.
 */
struct culprit_asked {
	const struct query *query; /* the words for the buffer; its times are not used */
	uint64_t at, lasted;       /* about these, in ns */
};
int must_check culprit_find(struct trace *trace, const struct culprit_asked *asked, struct buf *into,
			    struct fail *fail);

/*
 * Reads "lat=8123456" of the kernel's text of an event that weft flight has waited for (lib/flight/watch_latency.c),
 * when it is that of a wakeup. False: it is none.
 */
bool culprit_of_text(const char *text, uint64_t *ret_lasted);

#endif
