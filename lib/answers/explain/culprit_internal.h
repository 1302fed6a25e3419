/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_EXPLAIN_CULPRIT_INTERNAL_H
#define WEFT_ANSWERS_EXPLAIN_CULPRIT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

struct fail;
struct query;
struct trace;

/*
 * Why what ended at this moment took so long, in one line: a wakeup as weft latency explains it (the task, its CPU, the
 * parts of the time, and the task to which the largest part is due), a system call as weft syscalls --slowest does
 * (the task, the parts of the time, and who woke it), and one of the longest of weft irq, weft block and weft locks: an
 * interrupt or softirq (what ran inside, whom it hit, who waited meanwhile), a request (the device, the request, whose
 * it was, how long it was queued), a wait for a lock (the parts of the time, and who released it). Only the events of
 * that time are read. If it is not whole among the events because some were lost meanwhile, on any CPU, the line says
 * so, and no other case of about that length is taken for it. -ENODATA: it is not among the events.
 */
enum { CULPRIT_TASK = 32 };

struct culprit_asked {
	const struct query *query;      /* the words for the buffer; its times are not used */
	const struct analysis_ops *ops; /* which has such cases; of culprit_of_text() */
	const struct analysis_slow *slow;
	uint64_t at, lasted; /* about these, in ns */
	uint64_t same; /* a number that tells it from others: the task's PID, the CPU or the sector; if has_same */
	bool has_same;
	char task[CULPRIT_TASK]; /* "COMM-PID" or "COMM": whose it was; "": not told */
};
int must_check culprit_find(struct trace *trace, const struct culprit_asked *asked, struct buf *into,
			    struct fail *fail);

/*
 * Adds where the time of a wakeup, a call or a wait for a lock went, as the sentence of weft why has it. Nothing is
 * added where that is not known, as of other cases.
 */
int must_check culprit_why(struct trace *trace, const struct culprit_asked *asked, struct buf *into, struct fail *fail);

/* The same sentence about what this task did between two times. Nothing is added where that is not known. */
int must_check culprit_why_task(struct trace *trace, const struct query *query, int32_t pid, uint64_t from, uint64_t to,
				struct buf *into, struct fail *fail);

/*
 * Reads the kernel's text of an event that weft flight has waited for (lib/kernel/flight/watch_latency.c), such as
 * "sh-9 [001] ...: weft_latency_1: lat=8123456 id=61". Sets ops, slow, lasted, same and task. False: it is none.
 */
bool must_check culprit_of_text(const char *text, struct culprit_asked *ret);
/* Copies the task that any event's text begins with, "COMM-PID". "": the text does not begin with one. */
void culprit_task_of_text(const char *text, char into[CULPRIT_TASK]);

#endif
