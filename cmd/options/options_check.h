/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_OPTIONS_CHECK_H
#define WEFT_CMD_OPTIONS_OPTIONS_CHECK_H

#include <argp.h>
#include <stdbool.h>

#include "cmd/command.h"

struct argp;
struct argp_option;

/* Whether this is the end of a table of options. */
bool option_is_end(const struct argp_option *option);

/*
 * Returns the options of a command in the order in which they are shown: sorted by group, and those of a child that
 * several commands share among the parent's own options of the child's group. A child with titles or groups of its own
 * stays a child. For a process that ends soon: nothing is freed. Returns `argp` itself without memory.
 */
const struct argp *option_order(const struct argp *argp);

/*
 * Checks a command line before argp reads it, by the same tables: `argp` is of the command. An option that the command
 * does not have exits with EXIT_USAGE and a message with similar names. --help, -? and -h print the command's help and
 * exit. Everything else, including other errors, is left to argp. The arguments do not change. With ARGP_IN_ORDER in
 * `flags`, checking ends at the first argument that is no option, because what follows may be the command line of
 * another program.
 */
void options_check(const struct command *command, const struct argp *argp, int argc, char **argv, unsigned flags);

/*
 * Returns the option of the table or of its children, by long name, or by key if `name` is NULL; NULL if there is none.
 * Adds every name to `near`.
 */
struct near;
const struct argp_option *options_find(const struct argp *argp, const char *name, int key, struct near *near);

#endif
