/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_DEFAULTS_H
#define WEFT_CMD_TERMINAL_DEFAULTS_H

#include "cmd/command.h"

/*
 * Options that a user always wants. They are put in front of those on the command line, so that the latter take
 * precedence. They are lines of a file, and then of the variable WEFT_OPTIONS, where ';' may stand for a newline:
 *	# a comment
 *	report = --color always --nanoseconds
 * The variable WEFT_CONFIG names the file; an empty value means none. Without the variable it is weft/config in
 * XDG_CONFIG_HOME or ~/.config. A file that other users may write is not read, and a note says so: otherwise they could
 * decide what root does.
 */

/* For `weft --no-config`: uses neither the file nor the variable. */
void defaults_leave_out(void);

/*
 * *argc and *argv are changed where there are some for the command; "--no-config" after the command's name is taken
 * out. Exits with EXIT_USAGE where a line is wrong. To be called once.
 */
void defaults_expand(const struct command *command, int *argc, char ***argv);

#endif
