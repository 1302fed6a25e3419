/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_LIVES_H
#define WEFT_EVENT_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event;
struct schema_abi;

/*
 * Tasks over time, as far as the events tell: sched_process_fork (or task_newtask), sched_process_exec, task_rename and
 * sched_process_exit. lib/event/tasks.h knows one name for each PID, the last that the kernel remembered; this knows which name
 * a task had when, whose child it was, and that a PID came to belong to another task.
 * A consumer shows it every event in order. What happened in a gap or before the first event is unknown; so are names that no
 * such event told.
 */
struct lives;

enum { LIFE_NAME = 16 }; /* TASK_COMM_LEN */

enum life_what {
	LIFE_FORKED, /* `other` is the parent's PID */
	LIFE_EXECED, /* a new program: the name is that of its file, as the kernel sets it */
	LIFE_RENAMED,
	LIFE_EXITED,
};

/* Something that happened to a task. */
struct life_step {
	uint64_t ts;
	int32_t other;
	uint8_t what;           /* enum life_what */
	char name[LIFE_NAME];   /* from then on; "" when the event does not tell */
	char before[LIFE_NAME]; /* of LIFE_RENAMED: the name until then */
};

/* NULL without memory. */
struct lives *lives_new(const struct schema_abi *abi);
void lives_free(struct lives *lives);

void lives_see(struct lives *lives, const struct event *event);

/* What happened to a PID, the oldest first: NULL behind the last. Valid until the next lives_see(). */
const struct life_step *lives_step(const struct lives *lives, int32_t pid, size_t index);

/* The name that a task of this PID had at a time; NULL when it is unknown, or when there was no such task. */
const char *lives_name(const struct lives *lives, int32_t pid, uint64_t ts);

/* Whether memory was short: steps are missing. */
bool lives_failed(const struct lives *lives);

#endif
