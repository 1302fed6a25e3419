/* SPDX-License-Identifier: LGPL-2.1-or-later */
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
 * The result of an analysis: tables, the worst cases with their times, and what limits the findings. Findings have one
 * form for people and one for programs. After memory has run out once, findings_write() returns false.
 */
struct findings {
	struct finding {
		const char *name;  /* the key in JSON: "tasks" */
		const char *title; /* the line above the table */
		/* The column that orders the rows unless the user names another; NULL: rows stay in their order. */
		const char *sort;
		struct table table;
		bool ordered;        /* rows stay in their order, and the first ones are kept */
		size_t left_away;    /* number of rows */
		uint32_t brief;      /* a bit for each column that a summary shows; 0: it does not show the table */
		uint32_t same, adds; /* findings_course(); 0: the rows are other things in each interval */
		const char *more;    /* the command that shows more; or NULL */
	} * items;
	size_t nr;
	struct worst {
		const char *what;          /* "wakeup delay" */
		uint64_t lasted, from, to; /* ns; from and to are times of the trace; to 0: they are not known */
		uint32_t cpu;
		int32_t pid;
		char comm[16];
	} * worst;
	size_t nr_worst;
	/* The three lines that say what the findings do not show. */
	struct buf cut;      /* cases without their start or end */
	struct buf broken;   /* cases with lost events */
	struct buf missing;  /* wanted events that were not recorded */
	struct buf notes;    /* other notes, one per line */
	bool without_events; /* they come from no recording: text has no three lines */
	bool failed;
};

void findings_init(struct findings *findings);
void findings_release(struct findings *findings);

/*
 * Adds a table, to be filled before the next one is added. Returns NULL when memory runs out. All texts are borrowed.
 */
struct table *findings_table(struct findings *findings, const char *name, const char *title, const char *sort,
			     const struct table_column *columns, size_t nr_columns);

/* The rows of the table that was added last are in order, so that its first ones may be shown alone. */
void findings_ordered(struct findings *findings);

/* Shows the table that was added last in summaries, with these columns. */
void findings_brief(struct findings *findings, uint32_t columns);

/*
 * Rows of the table that was added last are the same thing in several intervals if these columns are equal, and the
 * figures in the columns `adds` of an interval and of the next one add up to those of both. Both have a bit for each
 * column.
 */
void findings_course(struct findings *findings, uint32_t same, uint32_t adds);

void findings_worst(struct findings *findings, const struct worst *worst);

/*
 * Adds a count with its noun, such as "12 waits" or "1 wait": the first word of `what` is a plural with s. A count of 0
 * adds nothing.
 */
void findings_cut(struct findings *findings, uint64_t count, const char *what);
void findings_broken(struct findings *findings, uint64_t count, const char *what);
/* An option and value that were added before are not added again. */
void findings_missing(struct findings *findings, const char *option, const char *value, const char *what_for);
/*
 * Call it after the last findings_missing(); `analysis` is its name in `weft record --for`. It adds nothing if nothing
 * is missing.
 */
void findings_missing_end(struct findings *findings, const char *analysis);
__attribute__((format(printf, 2, 3))) void findings_note(struct findings *findings, const char *format, ...);

/* The span of a stream that these findings cover: an interval, or the `whole` stream. */
struct findings_span {
	uint64_t from, to; /* times of the trace */
	uint64_t events;
	bool whole;
	const char *nothing; /* why there are no tables, or NULL */
	const char *ended;   /* why the span ends here, or NULL */
};

struct findings_options {
	enum table_format format;
	const char *sort; /* a column; NULL: each table's own */
	uint64_t top;     /* rows of each table that is sorted; UINT64_MAX: all */
	unsigned width;   /* of the terminal; 0: no limit */
	/* For lines to paste: the file as a shell takes it, behind -B if it is of one instance; NULL: none. */
	const char *input;
	/* The part of a stream that these findings describe; NULL: they describe a file. */
	const struct findings_span *span;
};

/* Sorts and shortens the tables. Returns -ENOENT when no table has the column that the user named. */
int must_check findings_arrange(struct findings *findings, const struct findings_options *options, struct fail *fail);
bool findings_write(struct findings *findings, const struct findings_options *options, struct out *out);

/*
 * The same, for findings that were arranged with all their rows: those after the first `top` are only not shown, so
 * that the findings can be written again.
 */
bool findings_write_first(struct findings *findings, const struct findings_options *options, struct out *out);

#endif
