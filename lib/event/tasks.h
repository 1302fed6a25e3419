/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_EVENT_TASKS_H
#define WEFT_EVENT_TASKS_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;

/*
 * Names and thread groups of tasks by pid, from saved_cmdlines and saved_tgids. Immutable once built.
 * As in trace_find_cmdline() of kernel/trace/trace.c (trace_sched_switch.c on newer kernels): pid 0 is "<idle>", an
 * unknown one "<...>", a negative one "<XXX>".
 */
struct tasks;

enum { TASK_NAME_PAD = 16 }; /* blanks in front of every name's text, for columns that align right */

struct task_name {
	const char *text; /* NUL-terminated; text[-TASK_NAME_PAD] to text[-1] are blanks */
	uint32_t len;
};

/*
 * Reads lines "PID NAME" and "PID TGID". A line without a number continues the name of the line before: names may hold
 * newlines.
 */
int must_check tasks_new(const char *cmdlines, size_t cmdlines_len, const char *tgids, size_t tgids_len,
			 struct tasks **ret, struct fail *fail);
void tasks_free(struct tasks *tasks);

struct task_name task_name(const struct tasks *tasks, int32_t pid);

/*
 * The name and PID as the columns of a line begin, "%16s-%-7d ": TASK_HEAD_LEN characters, in TASK_HEAD_ROOM readable
 * bytes. NULL for tasks without a name and for a text that does not fit: the caller then prints it piece by piece.
 */
enum { TASK_HEAD_LEN = 25, TASK_HEAD_ROOM = 32 };
const char *task_head(const struct tasks *tasks, int32_t pid);

/* Whether the task has a known or a fixed name, not "<...>". */
bool task_known(const struct tasks *tasks, int32_t pid);

/* The thread group; 0 when unknown. */
int32_t task_tgid(const struct tasks *tasks, int32_t pid);

#endif
