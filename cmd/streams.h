/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_STREAMS_H
#define WEFT_CMD_STREAMS_H

#include <stdio.h>

/*
 * terminal_guard() replaces standard output and standard error by streams that escape. Only the GNU C library lets a
 * program assign to stdout and stderr. With other libraries, such as musl, weft has its own versions in cmd/ of these
 * names and of the functions that write to stdout.
 */
static inline FILE *streams_output(void)
{
	return stdout;
}

static inline FILE *streams_errors(void)
{
	return stderr;
}

#ifndef __GLIBC__
extern FILE *terminal_output, *terminal_errors;

#undef stdout
#undef stderr
#define stdout terminal_output
#define stderr terminal_errors
#define printf(...) fprintf(stdout, __VA_ARGS__)
#define vprintf(...) vfprintf(stdout, __VA_ARGS__)
#define putchar(character) putc((character), stdout)
#define puts(text) fprintf(stdout, "%s\n", (text))
#endif

#endif
