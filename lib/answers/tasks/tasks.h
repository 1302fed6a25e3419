/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_TASKS_TASKS_H
#define WEFT_ANSWERS_TASKS_TASKS_H

#include "lib/answers/frame/analysis.h"

enum tasks_by {
	TASKS_BY_TASK,
	TASKS_BY_PROGRAM, /* of each exec */
	TASKS_BY_PARENT,
	TASKS_BY_PROCESS, /* whom tasks belonged to at their end (lib/meaning/follow/who.h) */
	TASKS_BY_UNIT,    /* and further parts of enum who_part, in their order */
	TASKS_BY_CONTAINER,
	TASKS_BY_POD,
	TASKS_BY_CGROUP,
	TASKS_BY_USER,
};

/* For tasks_analysis; NULL: by task, or by program if the tables are compared with other files. */
struct tasks_options {
	struct row_options rows; /* enum tasks_by */
	bool tree;               /* by task: parents above their children, which are indented */
};

#endif
