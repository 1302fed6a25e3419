/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_CONFIG_H
#define WEFT_CMD_TERMINAL_CONFIG_H

#include <argp.h>
#include <stdbool.h>

#include "cmd/command.h"

/*
 * --config FILE: reads options from a file, one per line, as if they stood in its place on the command line
 * (lib/ground/base/option_lines.h).
 *	# a comment
 *	event = sched:sched_switch
 *	filter = prev_prio < 100
 *	stacktrace
 *	[io]                    what follows is for the instance io
 *	tracer = function
 * A name is the long name of an option, or its letter. The value is the rest of the line without surrounding blanks.
 *
 * FILE may be a directory: its files whose names end with .conf are read in the order of their names, as one. It and
 * they must be trusted (lib/ground/base/trust.h): no other user may have written them. Each file begins with the main
 * instance.
 */

/*
 * Replaces each --config in the command line by the options in the file. *argc and *argv change if there was one.
 * Memory is not freed, because argp keeps pointers to it. If a file cannot be read, or a line is no option of this
 * command, it exits with EXIT_USAGE after naming the file and line.
 */
void config_expand(const struct argp *argp, int *argc, char ***argv);

/* Whether config_expand() has read a file. */
bool config_was_read(void);

/* Returns whether `word`, an option, takes the next word as its value. */
bool config_takes_next(const struct argp *argp, const char *word);

/* Returns "FILE:LINE: " if the word that argp is parsing came from a file; else "". */
const char *config_place(const struct argp_state *state);

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
void defaults_expand(const struct command *command, const struct argp *argp, int *argc, char ***argv);

#endif
