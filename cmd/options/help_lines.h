/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_OPTIONS_HELP_LINES_H
#define WEFT_OPTIONS_HELP_LINES_H

#include <stdio.h>

struct argp;

/*
 * Prints a part of a command's help, as argp_help() does, but breaks the lines itself: argp (of glibc 2.36) breaks them
 * at the wrong place where its buffer of 200 bytes ends. `flags` are those of argp_help(). The width is that of
 * ARGP_HELP_FMT (rmargin), of the terminal, or 79. Only a word that is wider than that makes a line wider. Without
 * memory argp breaks the lines.
 */
void help_lines_put(const struct argp *argp, FILE *to, unsigned flags, char *name);

#endif
