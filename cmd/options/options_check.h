/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_OPTIONS_CHECK_H
#define WEFT_CMD_OPTIONS_OPTIONS_CHECK_H

#include "cmd/command.h"

/*
 * Checks a command line before argp reads it, by the same tables. An option that the command does not have exits with
 * EXIT_USAGE and a message with similar names. --help, -? and -h print the command's help and exit. Everything else,
 * including other errors, is left to argp. The arguments do not change. With ARGP_IN_ORDER in `flags`, checking ends at
 * the first argument that is no option, because what follows may be the command line of another program.
 */
void options_check(const struct command *command, int argc, char **argv, unsigned flags);

/*
 * Returns the option of the table or of its children, by long name, or by key if `name` is NULL; NULL if there is none.
 * Adds every name to `near`.
 */
struct near;
const struct argp_option *options_find(const struct argp *argp, const char *name, int key, struct near *near);

#endif
