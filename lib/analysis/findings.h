/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_FINDINGS_H
#define WEFT_ANALYSIS_FINDINGS_H

#include "lib/base/buf.h"
#include "lib/base/cleanup.h"
#include "lib/base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fail;
struct out;

/*
 * What an analysis has found: tables, the worst cases with their time, and what limits the truth of it. One way to tell
 * it to people, one for programs. Running out of memory is sticky: findings_write() is then false.
 */
struct findings {
	struct finding {
		const char *name;  /* the key of JSON: "tasks" */
		const char *title; /* the line above the table */
		/* The column by which its rows stand, unless the user names another; NULL: they stand as they are. */
		const char *sort;
		struct table table;
		size_t left_away; /* rows */
		uint32_t brief;   /* a bit for each column that a summary shows; 0: it does not show the table */
		const char *more; /* the command that tells more; NULL */
	} * items;
	size_t nr;
	struct worst {
		const char *what;          /* "wakeup delay" */
		uint64_t lasted, from, to; /* ns; from and to are times of the trace */
		uint32_t cpu;
		int32_t pid;
		char comm[16];
	} * worst;
	size_t nr_worst;
	/* The three lines of honesty. */
	struct buf cut;     /* by the start or the end */
	struct buf broken;  /* by lost events */
	struct buf missing; /* wanted and not recorded */
	struct buf notes;   /* others, one a line */
	bool failed;
};

void findings_init(struct findings *findings);
void findings_release(struct findings *findings);

/* A table to be filled now, before the next is added. NULL without memory. All texts are borrowed. */
struct table *findings_table(struct findings *findings, const char *name, const char *title, const char *sort,
			     const struct table_column *columns, size_t nr_columns);

/* The table that was added last has a place in a summary, with these columns. */
void findings_brief(struct findings *findings, uint32_t columns);

void findings_worst(struct findings *findings, const struct worst *worst);

/* "12 waits", "1 wait": a count with its noun, whose first word is a plural in s. Nothing for a count of 0. */
void findings_cut(struct findings *findings, uint64_t count, const char *what);
void findings_broken(struct findings *findings, uint64_t count, const char *what);
/* What is told already is not told again. */
void findings_missing(struct findings *findings, const char *option, const char *value, const char *what_for);
/* After the last of them: the analysis that `weft record --for` knows. Nothing where nothing is missing. */
void findings_missing_end(struct findings *findings, const char *analysis);
__attribute__((format(printf, 2, 3))) void findings_note(struct findings *findings, const char *format, ...);

/* A part of a stream, told by its tables alone; or, `whole`, all of it. */
struct findings_span {
	uint64_t from, to; /* times of the trace */
	uint64_t events;
	bool whole;
	const char *nothing; /* why there are no tables; NULL */
};

struct findings_options {
	enum table_format format;
	const char *sort; /* a column; NULL: each table's own */
	uint64_t top;     /* rows of each table that is sorted; UINT64_MAX: all */
	unsigned width;   /* of the terminal; 0: no limit */
	/* For lines to paste: the file as a shell takes it, behind -B if it is of one instance; NULL: none. */
	const char *input;
	const struct findings_span
		*span; /* of which these are told, one part of a stream after the other; NULL: of a file */
};

/* Sorts and shortens the tables. -ENOENT when no table has the column that was named. */
int must_check findings_arrange(struct findings *findings, const struct findings_options *options, struct fail *fail);
bool findings_write(struct findings *findings, const struct findings_options *options, struct out *out);

#endif
