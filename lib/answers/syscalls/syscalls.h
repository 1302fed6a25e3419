/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_SYSCALLS_SYSCALLS_H
#define WEFT_ANSWERS_SYSCALLS_SYSCALLS_H

#include "lib/answers/frame/analysis.h"

/* The options of syscalls_analysis. */

enum syscalls_by {
	SYSCALLS_BY_CALL,
	SYSCALLS_BY_TASK,
	SYSCALLS_BY_PROCESS,
	SYSCALLS_BY_ERROR,
	SYSCALLS_BY_CPU,
	SYSCALLS_BY_PROGRAM, /* and further parts of enum who_part, in their order */
	SYSCALLS_BY_UNIT,
	SYSCALLS_BY_CONTAINER,
	SYSCALLS_BY_POD,
	SYSCALLS_BY_CGROUP,
	SYSCALLS_BY_USER,
	SYSCALLS_BY_FILE, /* what is behind the descriptor that the call has first, or returns */
};

struct syscalls_options {
	struct row_options rows; /* enum syscalls_by */
	bool failures;           /* count only calls that failed */
	bool trace;              /* prints a line for each call into pass::lines */
};

#endif
