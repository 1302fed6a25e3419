/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_TERMINAL_H
#define WEFT_CMD_TERMINAL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct out;

/*
 * Traces, settings, file names and arguments contain bytes of strangers. If standard output or standard error is a
 * terminal, it is replaced by a stream that shows as octal numbers what a terminal would obey
 * (lib/ground/base/escape.h). Files and pipes get the bytes unchanged.
 */
void terminal_guard(char **words);

/*
 * Everything written to standard error between true and false is a message. On a terminal, its newlines are at its end
 * and before two blanks; any other newline comes from a name and is shown as "\012". If a word of the command line has
 * a newline, this holds for everything on standard error.
 */
void terminal_message(bool begins);

/*
 * Returns a name for standard output, with newlines escaped if that is a terminal. The caller frees the copy. When
 * memory runs out, weft ends.
 */
char *terminal_line(const char *text);

/* Escapes the text in `out` after `from` in the same way, except newlines at its end. */
void terminal_seal(struct out *out, size_t from);

/* Writes an escape sequence of weft's own to standard output. */
void terminal_own(const char *sequence);

/* Returns whether text written to standard output without stdio must be escaped. */
bool terminal_escapes(void);

/* Returns the number of columns of the terminal at standard output; 0: it is no terminal, or the number is unknown. */
unsigned terminal_width(void);

/* Returns whether the user's locale has UTF-8. */
bool terminal_utf8(void);

/*
 * Writes what a command has printed into memory to standard output, escaped if that is a terminal, and empties `out`.
 */
int must_check terminal_flush(struct out *out, struct fail *fail);

#endif
