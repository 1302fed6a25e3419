/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_USAGE_H
#define WEFT_CMD_TERMINAL_USAGE_H

#include <argp.h>

struct command;

/* argp_parse() of a command, whose usage errors end with weft's own words instead of argp's: where the options are. */
error_t usage_parse(const struct command *command, int argc, char **argv, unsigned flags, void *input);

#endif
