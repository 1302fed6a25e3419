/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_CULPRIT_INTERNAL_H
#define WEFT_ANALYSIS_CULPRIT_INTERNAL_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

struct fail;
struct query;
struct trace;

/*
 * Why what ended at this moment took so long, in one line: a wakeup as weft latency explains it (the task, its CPU, the
 * parts of the time, and the task to which the largest part is due), a system call as weft syscalls --slowest does
 * (the task, the parts of the time, and who woke it), and one of the longest of weft irq, weft block and weft locks: an
 * interrupt or softirq (what ran inside, whom it hit, who waited meanwhile), a request (the device, the request, whose
 * it was, how long it was queued), a wait for a lock (the parts of the time, and who released it). Only the events of
 * that time are read. -ENODATA: it is not among the events.
 */
struct culprit_asked {
	const struct query *query;       /* the words for the buffer; its times are not used */
	const struct culprit_kind *kind; /* of culprit_of_text() */
	uint64_t at, lasted;             /* about these, in ns */
	uint64_t same; /* a number that tells it from others: the task's PID, the CPU or the sector; if has_same */
	bool has_same;
};
int must_check culprit_find(struct trace *trace, const struct culprit_asked *asked, struct buf *into,
			    struct fail *fail);

/*
 * Reads the kernel's text of an event that weft flight has waited for (lib/flight/watch_latency.c), such as
 * "sh-9 [001] ...: weft_latency_1: lat=8123456 id=61". Sets kind, lasted and same. False: it is none.
 */
bool must_check culprit_of_text(const char *text, struct culprit_asked *ret);

#endif
