/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_IMPORT_H
#define WEFT_FILES_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/files/import/unknown_lines.h"
#include "lib/files/rewrite/recast.h"
#include "lib/ground/base/cleanup.h"

struct buf;
struct fail;
struct trace;

/*
 * Makes a trace.dat from the kernel's text, line by line: the trace file, what ftrace_dump_on_oops printed on a
 * console, what mails, logs, pages of HTML, systrace, Perfetto and atrace made of it (document.h, line.h). What the
 * text does not contain is missing: nanoseconds, addresses (functions get made-up ones), tasks that no line names.
 * Lines of the same microsecond get times a nanosecond apart, which keeps their order; the times of a function graph
 * without times follow from its durations.
 * Not supported: the options hex, raw and bin. User stacks with file names (sym-userobj) are kept as text only.
 */
struct import;

struct import_counts {
	uint64_t events;           /* an event that the next line may continue counts, too */
	uint64_t whole;            /* events of which only the text is known, not the fields */
	uint64_t lines;            /* of the text */
	struct unknown_lines told; /* lines that are no events; comments and empty lines are not counted */
	uint64_t guessed;          /* lines of a function graph without a time */
	char partial[64]; /* columns that only some lines of a function graph have: the report leaves them out */
	uint64_t unknown; /* events of tasks that no line names */
	/* Lines with a time before that of an earlier line of their CPU; 0 in a text with a function graph */
	uint64_t backwards;
	/* How many events have how many columns of flags, "3 with 4, 2 with 5", if not all have the same. */
	char partial_flags[128];
	bool mixed_times; /* some events have the form of latency-format, whose times count from another origin */
	bool no_flags;    /* no event has the columns of flags */
	/* The longest lines of events have so many bytes, are several, and none is whole; 0: they do not look cut. */
	size_t cut_at;
	/* atrace's marker of the time of day: when it was written, and what it says. 0: there is none */
	uint64_t clock_sync_at, clock_sync_ms;
};

/* `formats` is a file of the same kernel, which is borrowed; or NULL. */
int must_check import_new(struct trace *formats, const struct recast_options *form, struct import **ret,
			  struct fail *fail);
void import_free(struct import *import);

/* Where the text comes from. */
struct import_source {
	/* Returns how many bytes it wrote to `to`, 0 at the end, or -errno with a text. */
	int (*read)(void *arg, uint8_t *to, size_t size, struct fail *fail);
	void *arg;
};

/* Imports a whole text. Call it once. */
int must_check import_read(struct import *import, const struct import_source *source, struct fail *fail);

/*
 * The text's clock, and the samples of it beside the time of day, for lib/meaning/clock/wall.h; borrowed. Without it,
 * they are those of atrace's marker of the time of day.
 */
void import_clock(struct import *import, const char *clock, const struct buf *samples);

/* Writes the file. Call it once. */
int must_check import_write(struct import *import, int fd, uint64_t *ret_size, struct fail *fail);

struct import_counts import_counts(const struct import *import);

#endif
