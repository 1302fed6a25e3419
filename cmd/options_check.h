/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_CHECK_H
#define WEFT_CMD_OPTIONS_CHECK_H

#include "cmd/command.h"

/*
 * Reads a command line before argp does, by the same tables. Exits with EXIT_USAGE at an option that the command does
 * not have, naming the ones whose names are near; prints the command's help and exits for --help, -? and -h. Everything
 * else is argp's, its other errors too. The arguments are left as they are. With ARGP_IN_ORDER among `flags`, reading
 * ends at the first argument that is no option: what follows may be somebody else's command line.
 */
void options_check(const struct command *command, int argc, char **argv, unsigned flags);

/*
 * The option of the table or of one of its children, by long name if there is one, else by key; NULL: there is none.
 * Offers all names.
 */
struct near;
const struct argp_option *options_find(const struct argp *argp, const char *name, int key, struct near *near);

#endif
