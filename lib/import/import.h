/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_IMPORT_IMPORT_H
#define WEFT_IMPORT_IMPORT_H

#include "lib/base/cleanup.h"
#include "lib/trace/recast.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct trace;

/*
 * Makes a trace.dat of the kernel's text, line by line: the trace file, what ftrace_dump_on_oops printed on a console,
 * the text that systrace and Perfetto put into HTML. What the text does not tell is not there: nanoseconds, addresses
 * (functions get some that mean nothing), what no line names. Lines of the same microsecond are a nanosecond apart, so
 * they keep their order; those of a function graph without times are as far apart as the durations say.
 * Not supported: the options verbose, hex, raw and bin; stacks of programs with names of files (sym-userobj).
 */
struct import;

struct import_counts {
	uint64_t events;
	uint64_t whole;   /* of them only the text is known, not the fields */
	uint64_t passed;  /* lines that are no event, comments and empty ones aside */
	uint64_t guessed; /* lines of a function graph that have no time */
	uint64_t unknown; /* events of tasks that no line names */
};

/* `formats` is a file of the same kernel, borrowed, or NULL. */
int must_check import_new(struct trace *formats, const struct recast_options *form, struct import **ret,
			  struct fail *fail);
void import_free(struct import *import);

/* A line without its newline. */
int must_check import_line(struct import *import, const char *line, size_t len, struct fail *fail);

/* Writes the file, once. */
int must_check import_write(struct import *import, int fd, uint64_t *ret_size, struct fail *fail);

struct import_counts import_counts(const struct import *import);

#endif
