/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_DEFAULTS_H
#define WEFT_CMD_DEFAULTS_H

#include "cmd/command.h"

/*
 * Options that a user always wants, in front of those of the command line, so that the latter win. Lines, of a file and
 * then of the variable WEFT_OPTIONS, where ';' may stand for a newline, too:
 * 	# a comment
 * 	report = --color always --nanoseconds
 * The file is the one that WEFT_CONFIG names, an empty one none, else weft/config in XDG_CONFIG_HOME or ~/.config. One
 * that others may write is not read, and a note says so: root must not do what they wish.
 */

/* For `weft --no-config`: neither file nor variable. */
void defaults_leave_out(void);

/*
 * *argc and *argv are changed where there are some for the command; "--no-config" after the command's name is taken
 * out. Exits with EXIT_USAGE where a line is wrong. To be called once.
 */
void defaults_expand(const struct command *command, int *argc, char ***argv);

#endif
