/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_FRAME_COLUMNS_H
#define WEFT_ANSWERS_FRAME_COLUMNS_H

#include "lib/ground/base/samples.h"
#include "lib/ground/base/table.h"

/*
 * A column of an analysis is one row of a list: what it is called, what it holds, who shows it, and how its cell is
 * made. Text, JSON, CSV and Arrow, --sort, what weft summary shows and how intervals are joined all come from that row:
 *
 *	#define TASK_COLUMNS(X) \
 *		X("TASK", TEXT, "comm", BRIEF, table_cell, pass_comm(pass, task)) \
 *		X("PID", NUMBER, NULL, BRIEF | SAME, table_cell_s64, task->pid) \
 *		X("RUN", TIME, NULL, BRIEF | ADDS, table_cell_u64, task->ran) \
 *		X("PRIO", NUMBER, NULL, DATA, table_cell_known, task->prio >= 0, task->prio)
 *
 *	static const struct table_column columns[] = COLUMNS(TASK_COLUMNS);
 *
 *	static void put_task(struct table *table, const struct pass *pass, const struct task *task)
 *	{
 *		TASK_COLUMNS(CELL)
 *	}
 *
 * A row has the title of people, the kind (TABLE_...), the key of programs (NULL: it is made from the title, see
 * table.h), flags, and the function that adds the cell to `table` with its further arguments, which may use whatever
 * is in scope where the list stands with CELL. A function adds exactly one cell. A column that has no meaning in a file
 * is not left out: data has the same columns for every file, and text is told with findings_show() what to hide.
 */
enum column_flag {
	DATA = TABLE_DATA_ONLY,
	TEXT_ONLY = TABLE_TEXT_ONLY,
	SPARE = TABLE_SPARE,
	KEEP = TABLE_KEEP,
	WRAP = TABLE_WRAP,
	BRIEF = TABLE_OTHER_FLAGS, /* a summary shows it; and of the table, that a summary has it */
	SAME = BRIEF << 1,         /* rows that are equal in these are the same thing in several intervals */
	ADDS = BRIEF << 2,         /* the figures of an interval and of the next one add up to those of both */
	WHEN = BRIEF << 3,         /* this and higher ones are the analysis' own: findings_show() */
};

#define COLUMN(title, kind, key, flags, put, ...) { title, TABLE_##kind, key, flags },
#define COLUMNS(list)                             \
	{                                         \
		list(COLUMN)                      \
		{                                 \
			NULL, TABLE_TEXT, NULL, 0 \
		}                                 \
	}
#define CELL(title, kind, key, flags, put, ...) put(table, ##__VA_ARGS__);

/* Three columns of struct percentiles, with the flags of each. */
#define SPREAD(X, title, key, of_p50, of_p99, of_max, spread)                                                         \
	X(title "P50", TIME, key "p50_ns", of_p50, table_cell_known, (spread).count, (spread).p50)                    \
	X(title "P99", TIME, key "p99_ns", of_p99, table_cell_known, (spread).count >= SAMPLES_P99_MIN, (spread).p99) \
	X(title "MAX", TIME, key "max_ns", of_max, table_cell_known, (spread).count, (spread).max)

#endif
