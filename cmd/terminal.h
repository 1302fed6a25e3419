/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_H
#define WEFT_CMD_TERMINAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;
struct out;

/*
 * Traces, settings, names of files and arguments are bytes of strangers. Standard output and standard error, where they
 * are terminals, are replaced by streams that show as octal what a terminal would obey (lib/base/escape.h). Files and
 * pipes get the bytes as they are.
 */
void terminal_guard(char **words);

/*
 * What is written to standard error between true and false is a message: on a terminal it has newlines at its end and
 * in front of two blanks; others, which came with a name, are shown as "\012". Where one of the command line's words
 * has a newline that is so for all of standard error.
 */
void terminal_message(bool begins);

/* A name for standard output: on a terminal newlines are shown. A copy, the caller's; without memory weft ends. */
char *terminal_line(const char *text);

/* The same of what came into the out after `from`, newlines at its end excepted. */
void terminal_seal(struct out *out, size_t from);

/* Writes an escape sequence of weft's own to standard output. */
void terminal_own(const char *sequence);

/* Whether text that is written to standard output without stdio has to be escaped. */
bool terminal_escapes(void);

/* How many columns the terminal at standard output has; 0: it is none, or does not say. */
unsigned terminal_width(void);

/* Whether text of the user's locale is UTF-8. */
bool terminal_utf8(void);

/* Writes what a command has printed into memory to standard output, escaped where it is a terminal, and empties it. */
int must_check terminal_flush(struct out *out, struct fail *fail);

#endif
