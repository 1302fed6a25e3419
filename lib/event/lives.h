/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_LIVES_H
#define WEFT_EVENT_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct schema_abi;

/*
 * Tasks over time, from the events sched_process_fork (or task_newtask), sched_process_exec, task_rename and
 * sched_process_exit. lib/event/tasks.h has one name for each PID, the last one that the kernel remembered; this file
 * has the name of a task at any time, its parent, and the times at which a PID was reused for another task.
 * The consumer passes every event in order. Everything in a gap or before the first event is unknown, as are names that
 * no such event has.
 */
struct lives;

enum { LIFE_NAME = 16 }; /* TASK_COMM_LEN */

enum life_what {
	LIFE_FORKED, /* `other` is the parent's PID */
	LIFE_EXECED, /* a new program: the kernel sets the name to that of its file */
	LIFE_RENAMED,
	LIFE_EXITED,
};

/* A change of a task. */
struct life_step {
	uint64_t ts;
	int32_t other;
	uint8_t what;           /* enum life_what */
	char name[LIFE_NAME];   /* the name from then on; "" when the event lacks it */
	char before[LIFE_NAME]; /* for LIFE_RENAMED: the name until then */
};

/* NULL without memory. */
struct lives *lives_new(const struct schema_abi *abi);
void lives_free(struct lives *lives);

void lives_see(struct lives *lives, const struct event *event);

/* The changes of a PID, the oldest first: NULL after the last. Valid until the next lives_see(). */
const struct life_step *lives_step(const struct lives *lives, int32_t pid, size_t index);

/* The name that a task of this PID had at a time; NULL when it is unknown, or when there was no such task. */
const char *lives_name(const struct lives *lives, int32_t pid, uint64_t ts);

/* Whether memory ran out, so that steps are missing. */
bool lives_failed(const struct lives *lives);

#endif
