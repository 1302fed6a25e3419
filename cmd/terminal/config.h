/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_CONFIG_H
#define WEFT_CMD_TERMINAL_CONFIG_H

#include <argp.h>
#include <stdbool.h>

/*
 * --config FILE: reads options from a file, one per line, as if they stood in its place on the command line
 * (lib/base/option_lines.h).
 *	# a comment
 *	event = sched:sched_switch
 *	filter = prev_prio < 100
 *	stacktrace
 *	[io]                    what follows is for the instance io
 *	tracer = function
 * A name is the long name of an option, or its letter. The value is the rest of the line without surrounding blanks.
 *
 * FILE may be a directory: its files whose names end with .conf are read in the order of their names, as one. It and
 * they must be trusted (lib/base/trust.h): no other user may have written them. Each file begins with the main
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

#endif
