/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_ANALYSE_BY_H
#define WEFT_CMD_OPTIONS_ANALYSE_BY_H

#include "cmd/analyse.h"

/* The values of an option --by, which chooses the rows of an analysis. The place of a name is the value of its enum. */
struct row_choices {
	const char *const *names;
	size_t nr;
};

/* The values of the analyses that weft diff also has. */
extern const struct row_choices rows_of_block, rows_of_locks, rows_of_stacks, rows_of_syscalls;

/* Returns the place of `name` among the choices. An unknown name is a usage error that lists them. */
size_t analyse_by(const struct row_choices *rows, const char *name, struct argp_state *state);

/* The argp parser of a command of an analysis whose only own option is --by. */
enum { OPT_ANALYSE_BY = 512 };
error_t analyse_by_parse(int key, char *arg, struct argp_state *state);
/* Runs such a command. The options of the analysis are struct row_options. */
int analyse_by_run(const struct command *command, const struct analysis_ops *ops, const struct row_choices *rows,
		   int argc, char **argv);

#endif
