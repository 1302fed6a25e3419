/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_PROGRESS_H
#define WEFT_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How far a long command is, on one line of standard error that is drawn anew and taken away at the end. Only where
 * standard error is a terminal and standard output does not write to one, or into a program that may; only after a
 * second, or what WEFT_PROGRESS says in ms. How far it is follows from what the kernel counts that this process has
 * read. A command has one at a time; threads are only started once rights were given up.
 */

/*
 * Before rights are given up: `what` is the command's name. Does nothing, and so do the others, where no line is to be
 * shown: `prints` says that the command's text goes to standard output meanwhile.
 */
void progress_prepare(const char *what, bool prints);

/* The line shall tell, too, how large the output will be, as far as that follows from what was written of it. */
void progress_tell_size(void);

/* `total` are the bytes that will be read; 0: unknown. */
void progress_start(uint64_t total);
void progress_end(void);

/*
 * For a command that draws a line of its own, without the calls above: whether there shall be one, the time between
 * two, and the line; NULL: none.
 */
bool progress_can_draw(void);
unsigned progress_period_ms(void);
void progress_draw(const char *text);

/* Takes the line away for a message; it comes again. */
void progress_hide(void);

/* Bytes of the files below a directory; 0 where it cannot be read. */
uint64_t progress_tree(const char *path);

#endif
