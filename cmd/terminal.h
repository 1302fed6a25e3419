/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_H
#define WEFT_CMD_TERMINAL_H

#include "lib/base/cleanup.h"

#include <stdbool.h>

struct fail;
struct out;

/*
 * Traces, settings, names of files and arguments are bytes of strangers. Standard output and standard error, where they are terminals,
 * are replaced by streams that show as octal what a terminal would obey (lib/base/escape.h). Files and pipes get the bytes as they are.
 */
void terminal_guard(void);

/* Writes an escape sequence of weft's own to standard output. */
void terminal_own(const char *sequence);

/* Whether what is written to standard output past stdio has to be escaped. */
bool terminal_escapes(void);

/* Writes what a command has printed into memory to standard output, escaped where it is a terminal, and empties it. */
int must_check terminal_flush(struct out *out, struct fail *fail);

#endif
