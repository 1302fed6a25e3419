/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_TABLE_H
#define WEFT_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct out;

/*
 * One table for people and for programs. Cells are added from left to right, row by row, and copied; the same cells become text with
 * aligned columns, JSON or CSV. Text shows units ("1.4 MiB"); JSON and CSV have the plain numbers.
 * Text: a title above each column, two blanks between columns, none at the end of a line. Widths count columns of a terminal; control
 * characters are written as octal, "\012", so that each row is one line.
 * Running out of memory is sticky: every way to write the table then returns false and writes nothing.
 */
enum { TABLE_COLUMNS_MAX = 32 };

/* TABLE_TEXT stands at the left, numbers stand at the right. */
enum table_kind {
	TABLE_TEXT,
	TABLE_NUMBER, /* 1234567 */
	TABLE_COUNT,  /* 1,234,567 */
	TABLE_SIZE,   /* bytes: 1.4 MiB */
	TABLE_TIME,   /* nanoseconds: 12.3 ms */
};

struct table_column {
	const char *title; /* "" for none; without any title there is no line of titles */
	enum table_kind kind;
	const char *key; /* of JSON and CSV; NULL: the title in lower case, and its unit ("_bytes", "_ns") */
};

struct table {
	const struct table_column *columns;
	size_t nr_columns;
	struct table_item *items;
	size_t nr_items;
	unsigned indent; /* blanks in front of each line of text */
	unsigned width;  /* of the terminal: longer texts are cut, "...", where the lines would not fit; 0: no limit */
	uint32_t data_only; /* a bit for each column that only JSON and CSV have */
	uint32_t spare;     /* and for each that text leaves out, from the right, where the lines would not fit */
	bool failed;
};

/* Borrows `columns`. */
void table_init(struct table *table, const struct table_column *columns, size_t nr_columns);
void table_release(struct table *table);

/* A text. In a column of numbers "" and "-" mean that there is no number: null in JSON, an empty field in CSV. */
void table_cell(struct table *table, const char *text);
void table_cell_mem(struct table *table, const void *text, size_t len);
__attribute__((format(printf, 2, 3))) void table_cellf(struct table *table, const char *format, ...);
void table_cell_u64(struct table *table, uint64_t value);
void table_cell_s64(struct table *table, int64_t value);
/* value / 10^decimals; text shows it with its decimals in a column of any kind. */
void table_cell_decimal(struct table *table, int64_t value, unsigned decimals);

/* The index of the column of this title or key, in either case; -1: there is none. */
int table_column_named(const struct table *table, const char *name);
/* Numbers from the largest on, texts by their bytes, cells without a number last; equal rows stay in order. False without memory. */
bool table_sort(struct table *table, size_t column);
/* Leaves the first rows only; returns how many were taken away. */
size_t table_keep(struct table *table, size_t rows);

/* Rows that are not complete end with empty cells. */
bool table_print(const struct table *table, struct out *out);

/* An array of objects, one for each row, as a value of `json`. */
bool table_put_json(const struct table *table, struct json *json);

/* RFC 4180 with lines that end with a newline alone: a line of keys, then a line for each row. */
bool table_put_csv(const struct table *table, struct out *out);

enum table_format { TABLE_AS_TEXT, TABLE_AS_JSON, TABLE_AS_CSV };

/* The whole output of a command that prints one table; JSON ends with a newline. */
bool table_write(const struct table *table, enum table_format format, struct out *out);

#endif
