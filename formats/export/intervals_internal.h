/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_INTERVALS_INTERNAL_H
#define WEFT_FORMATS_EXPORT_INTERVALS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/export/interval_tables.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/columns/shape.h"

struct event;
struct fail;
struct reader;

/*
 * A recording as tables of intervals, for engines that read those of many recordings at once. The columns are the same
 * for every kernel and every file, and all integers have a sign, because some engines know no others. Within a version
 * a table only gets columns at its end. What lasted how long is known by lib/meaning/timeline and lib/meaning/state.
 */
enum { INTERVALS_VERSION = 1 };

enum interval_table {
	INTERVAL_RUN,       /* a task had a CPU */
	INTERVAL_STATE,     /* what a task did otherwise: it waited for a CPU, or slept */
	INTERVAL_WAKEUP,    /* from when a task was woken until it ran */
	INTERVAL_SYSCALL,   /* a system call */
	INTERVAL_IRQ,       /* a handler of a device's interrupt */
	INTERVAL_SOFTIRQ,   /* a softirq */
	INTERVAL_BLOCK,     /* a request of a disk */
	INTERVAL_LOCK,      /* a task waited for a lock of the kernel */
	INTERVAL_FUNCTION,  /* a call of the function graph */
	INTERVAL_MARK,      /* what programs mark */
	INTERVAL_GAP,       /* events of a CPU were lost */
	INTERVAL_ROLLUP,    /* how many of what above lasted how long */
	INTERVAL_RECORDING, /* a row for each buffer: what the file says about itself */
	INTERVAL_TABLES,
};

enum { INTERVAL_COLUMNS_MAX = 25, INTERVAL_COMMON = 11, INTERVAL_TS = 3, INTERVAL_DUR = 5 };

const char *interval_table_name(enum interval_table table);
/* The columns, in their order. Returns how many there are. */
size_t interval_columns(enum interval_table table, struct column_shape ret[INTERVAL_COLUMNS_MAX]);

/* The same for the name of a table; -ENOENT: there is none. */
int must_check interval_table_find(const char *name, struct column_shape ret[INTERVAL_COLUMNS_MAX], size_t *ret_nr);

/* A row is the values of all columns. Texts are borrowed until it returns. */
struct interval_sink {
	void *arg;
	const char *file; /* the name of the recording's file; NULL: nobody says it; borrowed */
	void (*row)(void *arg, enum interval_table table, const struct column_value *values);
};

/*
 * Histograms that can be added: of the rows of a buffer that have an end, in buckets whose width is at most 1/16 of
 * what they count, so that the middle is wrong by at most 1/32. The buckets of one key come one after the other, from
 * the shortest to the longest: the first knows its shortest row, and the last its longest. Most buckets of a recording
 * have one or two rows, and if all knew these facts, they would take more room than all else.
 */
struct interval_rollup;

struct interval_rollup *interval_rollup_new(void);
void interval_rollup_free(struct interval_rollup *rollup);
void interval_rollup_see(struct interval_rollup *rollup, enum interval_table table, const struct column_value *values);
/* Gives the sink the rows. The common columns are `whole` where they are not those of the longest row. */
void interval_rollup_end(struct interval_rollup *rollup, const struct column_value *whole,
			 const struct interval_sink *sink);
bool interval_rollup_starved(const struct interval_rollup *rollup);

uint32_t interval_bucket(uint64_t ns);
uint64_t interval_bucket_middle(uint32_t bucket);

struct interval_rows;

int must_check interval_rows_new(const struct reader *reader, const struct interval_sink *sink,
				 struct interval_rows **ret, struct fail *fail);
void interval_rows_free(struct interval_rows *intervals);

/* Each event and gap, in order. `shows`: reader_shows(). */
void interval_rows_see(struct interval_rows *intervals, const struct event *event, bool shows);
/* For who only wants to know what the buffers have: instead of interval_rows_see(). */
void interval_rows_count(struct interval_rows *intervals, const struct event *event);
/* False: the buffer had no events. */
bool interval_rows_load(const struct interval_rows *intervals, size_t buffer, struct interval_load *ret);
/* What is still open, and the table of the recording. */
void interval_rows_end(struct interval_rows *intervals);
/* Whether memory ran out, so that rows are missing. */
bool interval_rows_starved(const struct interval_rows *intervals);

#endif
