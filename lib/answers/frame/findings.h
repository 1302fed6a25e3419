/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_FINDINGS_H
#define WEFT_ANSWERS_FRAME_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/columns.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/table.h"
#include "lib/meaning/event/tasks.h"

struct face;
struct fail;
struct out;
struct wall;

/*
 * The result of an analysis: tables, the worst cases with their times, and what limits the findings. Findings have one
 * form for people and one for programs. After memory has run out once, findings_write() returns false.
 * Findings own all that they show, so they may be kept after the analysis that made them is gone. Only the samples of
 * rows (table_attach()) are those of the analysis.
 */
struct findings {
	struct finding {
		const char *name;  /* the key in JSON: "tasks" */
		const char *title; /* the line above the table */
		const char *about; /* what it has of any file, for its schema; NULL: the title says it. Borrowed */
		/* The column that orders the rows unless the user names another; NULL: rows stay in their order. */
		const char *sort;
		struct table table;
		bool data_only;               /* text does not show it */
		bool ordered;                 /* rows stay in their order, and the first ones are kept */
		size_t left_away;             /* number of rows */
		const char *more;             /* the command that shows more; or NULL; borrowed */
		struct table_column *columns; /* those of the table, and behind them all texts; owned */
	} * items;
	size_t nr;
	struct worst {
		const char *what;          /* "wakeup delay"; findings_worst() copies it */
		uint64_t lasted, from, to; /* ns; from and to are times of the trace; to 0: they are not known */
		uint32_t cpu;
		int32_t pid;
		char comm[TASK_COMM_LEN];
	} * worst;
	size_t nr_worst;
	/* The three lines that say what the findings do not show. */
	struct buf cut;     /* cases without their start or end */
	struct buf broken;  /* cases with lost events */
	struct buf missing; /* wanted events that were not recorded */
	unsigned nr_missing;
	const char *missing_for; /* the name of the analysis; borrowed */
	struct buf notes;        /* other notes, one per line */
	bool without_events;     /* they come from no recording: text has no three lines */
	bool failed;
};

void findings_init(struct findings *findings);
void findings_release(struct findings *findings);

/*
 * Adds a table with these COLUMNS(), to be filled before the next one is added. Returns NULL when memory runs out.
 * Texts and columns are copied, but for `sort`, which is borrowed for good.
 */
struct table *findings_table(struct findings *findings, const char *name, const char *title, const char *sort,
			     const struct table_column *columns);

/* Adds a table of facts, each a row of table_cell() with its name and of a cell with its text. */
struct table *findings_facts(struct findings *findings, const char *name, const char *title);

/* The rows of the table that was added last are in order, so that its first ones may be shown alone. */
void findings_ordered(struct findings *findings);

/* Sets or clears a flag of those columns of the table that was added last that have the flag `of`. */
void findings_flag(struct findings *findings, uint32_t of, uint32_t flag, bool on);
/* Shows those columns to people, or only programs. */
static inline void findings_show(struct findings *findings, uint32_t of, bool shown)
{
	findings_flag(findings, of, DATA, !shown);
}
/* Gives the first columns of that table other titles, kinds and keys, which are borrowed for good. */
void findings_head(struct findings *findings, const struct table_column *head, size_t nr);
void findings_head_at(struct findings *findings, size_t at, const struct table_column *head);

/* Whether any column has the flag. */
bool finding_has(const struct finding *finding, uint32_t flag);

void findings_worst(struct findings *findings, const struct worst *worst);

/* Forgets the samples of all rows: for findings that are kept longer than their analysis. */
void findings_detach(struct findings *findings);

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
	/* Only the tables with these names, as JSON has them, are shown; none: all. Borrowed. */
	const char *const *tables;
	size_t nr_tables;
	bool only_notes;   /* no table, but what limits the findings */
	bool of_any;       /* the schema is one of any recording, which may have other tables, or not these */
	bool of_intervals; /* the schema is one of findings with a span */
	/*
	 * CSV: called in front of each table, which has so many bytes, where an empty line stands otherwise; or NULL.
	 */
	void (*csv_file)(struct out *out, const char *table, size_t len);
	uint64_t top;         /* rows of each table that is sorted; UINT64_MAX: all */
	uint64_t max_bytes;   /* of the output: findings_write_within(); 0: any */
	const char *for_more; /* the options that show what max_bytes left out; NULL: those of an analysis. Borrowed */
	unsigned width;       /* of the terminal; 0: no limit */
	/* The options that show the columns for which text has no room; NULL: those of an analysis. Borrowed. */
	const char *for_columns;
	/* For lines to paste: the file as a shell takes it, behind -B if it is of one instance; NULL: none. */
	const char *input;
	/* The part of a stream that these findings describe; NULL: they describe a file. */
	const struct findings_span *span;
	/* How moments are shown, and the time of day of the file; borrowed; NULL: as times of the trace. */
	const struct face *face;
	const struct wall *wall;
};

/* Replaces the moments of all tables by their texts, if the options show times otherwise than the trace does. */
void findings_show_times(struct findings *findings, const struct findings_options *options);

/* The text of a moment as the options show it: with nine digits behind the seconds, unless they say otherwise. */
int findings_moment(const struct findings_options *options, uint64_t ns, char into[TABLE_MOMENT_TEXT]);

/*
 * Removes the tables that the options do not name. `all`: a name that no table has is -ENOENT; else an interval may
 * lack the table. findings_arrange() does the same, with `all`.
 */
int must_check findings_choose(struct findings *findings, const struct findings_options *options, bool all,
			       struct fail *fail);

/* Sorts and shortens the tables. Returns -ENOENT when no table has the column that the user named. */
int must_check findings_arrange(struct findings *findings, const struct findings_options *options, struct fail *fail);
/* Of the form for programs: grows when a member gets another sense or goes. One that comes is no reason. */
enum { FINDINGS_VERSION = 1 };
/* Writes what the JSON of these findings looks like, as a JSON Schema. */
bool findings_write_schema(const struct findings *findings, const struct findings_options *options, struct out *out);
bool findings_write(struct findings *findings, const struct findings_options *options, struct out *out);

/* -ENOTUNIQ, and a message with their names: CSV of several tables into one stream. Else 0. */
int must_check findings_one_csv(const struct findings *findings, const struct findings_options *options,
				struct fail *fail);

/*
 * The same, for findings that were arranged with all their rows: those after the first `top` are only not shown, so
 * that the findings can be written again.
 */
bool findings_write_first(struct findings *findings, const struct findings_options *options, struct out *out);

/*
 * The same, with as many rows of each table, from its first on, as fit in options->max_bytes, and how many are left out
 * of which table. -EMSGSIZE: no row at all does not fit.
 */
int must_check findings_write_within(struct findings *findings, const struct findings_options *options, struct out *out,
				     struct fail *fail);

#endif
