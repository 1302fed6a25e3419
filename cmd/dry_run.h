/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_DRY_RUN_H
#define WEFT_CMD_DRY_RUN_H

#include "lib/tracefs/plan.h"
#include "lib/tracefs/tracing.h"

#include <stdbool.h>
#include <sys/types.h>

/* In a plan the command has no pid yet: this stands for it, and becomes "$command" in the script. */
enum { DRY_RUN_COMMAND = 2147483647 };

/*
 * Prints what a command line would do to tracefs (lib/tracefs/plan.h) as a script for sh on standard output: the writes
 * in their order, and the COMMAND where it would run.
 */
struct dry_run {
	const struct tracing *tracing;
	const struct plan *plan;  /* up to the point where the command runs */
	const struct plan *after; /* and when it has ended; may be NULL */
	char **argv;              /* NULL: no command */
	bool only_command;        /* its pid is in the plan */
	const char *user;
};

void dry_run_print(const struct dry_run *run);

#endif
