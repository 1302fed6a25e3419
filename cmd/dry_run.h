/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_DRY_RUN_H
#define WEFT_CMD_DRY_RUN_H

#include "lib/tracefs/plan.h"
#include "lib/tracefs/tracing.h"

#include <stdbool.h>
#include <sys/types.h>

/* The command of a plan has no PID yet: this number stands for it, and the script has "$command" instead. */
enum { DRY_RUN_COMMAND = 2147483647 };

/*
 * Prints what a command line would do to tracefs (lib/tracefs/plan.h) as a script for sh on standard output: the writes
 * in their order, and the COMMAND at the point at which it would run.
 */
struct dry_run {
	const struct tracing *tracing;
	const struct plan *plan;  /* the writes before the command runs */
	const struct plan *after; /* the writes after it has ended; may be NULL */
	char **argv;              /* NULL: no command */
	bool only_command;        /* the plan contains the command's stand-in PID */
	const char *user;
};

void dry_run_print(const struct dry_run *run);

#endif
