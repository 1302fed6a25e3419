/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_TASKS_H
#define WEFT_MEANING_EVENT_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * Names and thread groups of tasks by pid, from saved_cmdlines and saved_tgids. Immutable once built.
 * As in trace_find_cmdline() of kernel/trace/trace.c (trace_sched_switch.c on newer kernels): pid 0 is "<idle>", an
 * unknown one "<...>", a negative one "<XXX>".
 */
struct tasks;

enum { TASK_COMM_LEN = 16 }; /* of the kernel: a name and its NUL, in records and in comm of tasks */
enum { TASK_NAME_PAD = 16 }; /* blanks in front of every name's text, for columns that align right */

struct task_name {
	const char *text; /* NUL-terminated; text[-TASK_NAME_PAD] to text[-1] are blanks */
	uint32_t len;
};

/*
 * Reads lines "PID NAME" and "PID TGID". A line without a number continues the name of the line before: names may hold
 * newlines. Borrows `tgids` until tasks_read_tgids(), which the first task_tgid() calls, or tasks_free().
 */
int must_check tasks_new(const char *cmdlines, size_t cmdlines_len, const char *tgids, size_t tgids_len,
			 struct tasks **ret, struct fail *fail);
void tasks_read_tgids(const struct tasks *tasks);
void tasks_free(struct tasks *tasks);

struct task_name task_name(const struct tasks *tasks, int32_t pid);

/* "<...>": the text of each unknown task is this one. */
extern const char *const task_no_name;

/* A name as tables and lines show it: "<...>" for an empty one. */
static inline const char *task_shown(const char *comm)
{
	return *comm ? comm : task_no_name;
}

/*
 * The name and PID as the columns of a line begin, "%16s-%-7d ": TASK_HEAD_LEN characters, in TASK_HEAD_ROOM readable
 * bytes. NULL for tasks without a name and for a text that does not fit: the caller then prints it piece by piece.
 */
enum { TASK_HEAD_LEN = 25, TASK_HEAD_ROOM = 32 };
const char *task_head(const struct tasks *tasks, int32_t pid);

/* Whether the task has a known or a fixed name, not "<...>". */
bool task_known(const struct tasks *tasks, int32_t pid);

/* Lists the tasks that have a name, in no order: false after the last. *at is 0 at first. */
bool tasks_each(const struct tasks *tasks, size_t *at, int32_t *ret_pid);

/*
 * How many of these bytes are the name of a kernel thread, with its numbers: of "kworker/u8:2-ext4" the first twelve.
 * 0: kernel threads are not called so. Programs may be.
 */
size_t task_kernel_name(const char *name, size_t len);

/* The thread group; 0 when unknown. */
int32_t task_tgid(const struct tasks *tasks, int32_t pid);

#endif
