/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_ANALYSE_BY_H
#define WEFT_CMD_OPTIONS_ANALYSE_BY_H

#include "cmd/analyse.h"

/* Returns the place of `name` among the names, which end with NULL. An unknown one is a usage error that lists them. */
unsigned analyse_by(const char *const *names, const char *name, struct argp_state *state);

/*
 * --slowest and --longer, in a struct row_options: each analysis that has single cases shows the longest of them, with
 * the task, the cause and the moment of each.
 */
extern const struct options analyse_slowest_options;

struct analyse_by {
	struct analyse analyse;
	const struct analysis_ops *ops;
	struct row_options chosen;
};

/*
 * The parser and the children of a command of an analysis whose only own options are --by, --slowest and --longer. Its
 * input is a struct analyse_by.
 */
enum { OPT_ANALYSE_BY = 512 };
error_t analyse_by_parse(int key, char *arg, struct argp_state *state);
extern const struct options_child analyse_by_children[];
/* Runs such a command. The options of the analysis are struct row_options. */
int analyse_by_run(const struct command *command, const struct analysis_ops *ops, int argc, char **argv);

#endif
