/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FILES_IMPORT_COLUMN_LAYOUT_INTERNAL_H
#define WEFT_FILES_IMPORT_COLUMN_LAYOUT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"

struct head;

/*
 * How the kernel that printed the text prints: which columns its lines have and how wide they are, and what the header
 * says. It becomes settings of the file, so that the report prints the same columns, whatever the kernel was.
 */
enum { COLUMN_LAYOUT_FLAGS_MAX = 8 };

struct column_layout {
	bool has_header; /* there was "# tracer: ": lines without a head continue the line before */
	bool is_old;     /* /proc/latency_trace of 2.6-rt, whose functions are "a (b)" in place of "a <-b" */
	bool has_event;  /* an event was taken */
	bool has_tgid, has_flags, has_no_flags, has_unit, has_x, tgid_late;
	bool has_bh, no_bh;        /* the header's column of irqs-off names BH-disabled, as since 5.19, or does not */
	bool old_marks, new_marks; /* those of delays and durations are as before 3.19, or as since */
	char last_mark;            /* of the last line of latency-format, and its time */
	uint64_t last_time;
	bool has_count;              /* there was a time without a unit */
	bool has_latency, has_plain; /* lines with and without the form of the option latency-format */
	bool has_verbose, has_brief; /* the former with and without that of the option verbose */
	uint64_t start;              /* when the buffer began, according to the first verbose line */
	unsigned nr_flags;           /* characters of the flags column: 0 if there is none */
	uint64_t by_flags[COLUMN_LAYOUT_FLAGS_MAX + 1];    /* how many lines have so many of them */
	bool offsets, no_offsets, addresses, no_addresses; /* behind the names of functions */
	bool narrow, wide;                                 /* PIDs have five columns, as before 5.10, or seven */
	char tracer[32], release[64], preempt_model[32], buffer_cpu[12];
	unsigned online;    /* number of online CPUs; 0: unknown */
	struct buf latency; /* the lines of the header of latency-format */
};

void column_layout_init(struct column_layout *shape);
void column_layout_release(struct column_layout *shape);

/* Takes what a line of the header says. Returns false when memory runs out. */
bool column_layout_header(struct column_layout *shape, const char *line, size_t len);

/*
 * Takes a line of the header that the tracer of 2.6-rt printed into /proc/latency_trace, without "#". Returns 1 if it
 * is one, 0 if it is none, or -ENOMEM.
 */
int column_layout_old_header(struct column_layout *shape, const char *line, size_t len);

/* Whether the event has the clock of those before it: its time has a unit as theirs has, or none. */
bool column_layout_fits(const struct column_layout *shape, const struct head *head);

/* Whether the kernel was one before 3.19, whose marks of delays mean other times. */
/* Sees the marks of latency-format, line by line. Returns true if this one shows that they are as before 3.19. */
bool column_layout_mark(struct column_layout *shape, const struct head *head);

bool column_layout_has_old_marks(const struct column_layout *shape);

/* Takes the columns of an event. */
void column_layout_event(struct column_layout *shape, const struct head *head);

/* Takes what was behind the name of a function; `number` was in place of a name. */
void column_layout_symbol(struct column_layout *shape, bool offset, bool address, bool number);

/* Writes how many lines have which columns of flags if not all have the same: "3 with 4, 2 with 5". */
void column_layout_partial_flags(const struct column_layout *shape, char *ret, size_t size);

/* Adds lines like those of trace_options. */
bool column_layout_options(const struct column_layout *shape, struct buf *options);

/* Writes the setting weft/columns: words such as "flags=4". */
bool column_layout_columns(const struct column_layout *shape, struct buf *columns);

#endif
