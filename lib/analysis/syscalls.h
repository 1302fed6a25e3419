/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_SYSCALLS_H
#define WEFT_ANALYSIS_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The options of syscalls_analysis. */

enum syscalls_by { SYSCALLS_BY_CALL, SYSCALLS_BY_TASK, SYSCALLS_BY_PROCESS, SYSCALLS_BY_ERROR, SYSCALLS_BY_CPU };

enum { SYSCALLS_SLOWEST_MAX = 1000 };

struct syscalls_options {
	enum syscalls_by by;
	bool failures;   /* count only calls that failed */
	bool trace;      /* prints a line for each call into pass::lines */
	size_t slowest;  /* how many of the longest calls to show one by one */
	uint64_t longer; /* ns; show only those that lasted longer */
};

#endif
