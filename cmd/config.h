/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_CONFIG_H
#define WEFT_CMD_CONFIG_H

#include <argp.h>
#include <stdbool.h>

/*
 * --config FILE: options from a file, one a line, as if they stood in its place on the command line.
 *	# a comment
 *	event = sched:sched_switch
 *	filter = prev_prio < 100
 *	stacktrace
 *	[io]                    what follows is for the instance io
 *	tracer = function
 * A name is the long name of an option, or its letter. The value is the rest of the line without the blanks around it.
 */

/*
 * The command line with the files put in: *argc and *argv are changed where there was one. Memory is not freed: argp
 * keeps pointers to it. Exits with EXIT_USAGE, naming file and line, where a file cannot be read or a line is no option
 * of this command.
 */
void config_expand(const struct argp *argp, int *argc, char ***argv);

/* Whether the word after this one, which is an option, is its value. */
bool config_takes_next(const struct argp *argp, const char *word);

/* "FILE:LINE: " where the word that argp is at came from a file, else "". */
const char *config_place(const struct argp_state *state);

#endif
