/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_HIST_SQL_H
#define WEFT_CMD_OPTIONS_HIST_SQL_H

#include <stdbool.h>

struct fail;
struct kernel;
struct sql_query;

/* How `weft hist --sql` and `trace-cmd sqlhist` make what a query means. */
struct hist_sql {
	struct kernel *kernel; /* the instance of a histogram, in the kernel that kernel_find() finds */
	const struct sql_query *query;
	const char *dir; /* a copy of tracefs that is read instead, for `dry_run` alone; NULL: none */
	bool dry_run;    /* print the commands of a shell; nothing is made */
};

/*
 * Makes the events and triggers, which stay until `weft reset`, and prints what it made. Returns 0 or -errno; the
 * caller ends with kernel_finish().
 */
int hist_sql(const struct hist_sql *asked, struct fail *fail);

#endif
