/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_EXTREME_H
#define WEFT_ANSWERS_FRAME_EXTREME_H

#include <stdint.h>

#include "lib/meaning/event/tasks.h"

struct findings;
struct pass;
struct table;

/* The longest case so far, with its time, CPU and task. If all is zero, there was none. */
struct extreme {
	uint64_t lasted, from, to; /* to 0: there was none */
	uint32_t cpu, task;        /* task: the state's index, or STATE_NO_TASK */
	char comm[TASK_COMM_LEN];  /* what the task was called then; "": its last name */
};

void extreme_see(struct extreme *extreme, const struct extreme *seen);

/* Cells with the PID and the name of its task: that of the time, unless the user chose tasks by name. */
void extreme_put_pid(struct table *table, const struct pass *pass, const struct extreme *extreme);
void extreme_put_comm(struct table *table, const struct pass *pass, const struct extreme *extreme);

/* Adds it to the worst cases, if there is one. Borrows `what`. */
void extreme_tell(const struct pass *pass, struct findings *findings, const char *what, const struct extreme *extreme);

#endif
