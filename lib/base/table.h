/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_BASE_TABLE_H
#define WEFT_BASE_TABLE_H

#include "lib/base/samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct out;

/*
 * One table for people and for programs. Cells are added from left to right, row by row, and copied; the same cells
 * become text with aligned columns, JSON or CSV. Text shows units ("1.4 MiB"); JSON and CSV show plain numbers.
 * Text: a title above each column, two blanks between columns, none at the end of a line. Widths count columns of a
 * terminal; control characters are written as octal, "\012", so that each row is one line.
 * Running out of memory is sticky: every way to write the table then returns false and writes nothing.
 */
enum { TABLE_COLUMNS_MAX = 512 };

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
	struct table_stored *items; /* table_item_at() */
	size_t nr_items;
	unsigned indent; /* blanks in front of each line of text */
	/* of the terminal: longer texts are cut, "...", where the lines would not fit; 0: no limit */
	unsigned width;
	uint32_t data_only; /* a bit for each column that only JSON and CSV show */
	uint32_t text_only; /* a bit for each column that JSON and CSV do not show */
	/* a bit for each column that text may leave out, from the right, where the lines would be too long */
	uint32_t spare;
	bool failed;
	struct table_attached {
		size_t row;
		struct samples samples; /* borrows its values */
		char *name, *part;      /* NULL: none */
		uint32_t columns;       /* table_attach_columns(); 0 */
	} * attached;                   /* table_attach() */
	size_t nr_attached;
};

/* Whether the bit of a column is set; only the first 32 columns have one. */
static inline bool table_marks(uint32_t marks, size_t column)
{
	return column < 32 && marks >> column & 1;
}

/* Borrows `columns`. */
void table_init(struct table *table, const struct table_column *columns, size_t nr_columns);
void table_release(struct table *table);

/* Adds a text. In a column of numbers "" and "-" mean that there is no number: null in JSON, an empty field in CSV. */
void table_cell(struct table *table, const char *text);
void table_cell_mem(struct table *table, const void *text, size_t len);
__attribute__((format(printf, 2, 3))) void table_cellf(struct table *table, const char *format, ...);
/* Adds a cell without a value to a column of any kind: empty in text and CSV, null in JSON. */
void table_cell_nothing(struct table *table);
void table_cell_u64(struct table *table, uint64_t value);
void table_cell_s64(struct table *table, int64_t value);
/* value / 10^decimals; text shows it with its decimals in a column of any kind. */
void table_cell_decimal(struct table *table, int64_t value, unsigned decimals);
/* part * times / whole, rounded to so many decimals: a share, a mean, a rate; "-" of a whole of 0. */
void table_cell_ratio(struct table *table, uint64_t part, uint64_t times, uint64_t whole, unsigned decimals);
static inline void table_cell_percent(struct table *table, uint64_t part, uint64_t whole, unsigned decimals)
{
	table_cell_ratio(table, part, 100, whole, decimals);
}

/*
 * Adds these samples to the current row: for callers that compare tables, before rows are sorted or removed. The table
 * copies the store's head and borrows its values: the store may move, but nothing may be added to it.
 */
void table_attach(struct table *table, const struct samples *samples);
/*
 * Like table_attach(), for one of several quantities of the row. `part` names the quantity ("d2c"), or is NULL. `name`
 * replaces the row's texts in a comparison when they mean nothing in another recording, or is NULL. Both are copied.
 */
void table_attach_part(struct table *table, const struct samples *samples, const char *name, const char *part);
/* The same for a row whose name is its texts in these columns. `columns` has a bit for each of them. */
void table_attach_columns(struct table *table, const struct samples *samples, uint32_t columns, const char *part);

/* The text of a cell; NULL when the cell is a number or has no value. */
const char *table_text_at(const struct table *table, size_t row, size_t column);

/* Returns whether the cell is a number that is not negative and has no decimals, and sets *ret to it. */
bool table_number_at(const struct table *table, size_t row, size_t column, uint64_t *ret);
/* Adds a cell of another table to the current row, which must be in a column of the same kind. */
void table_cell_of(struct table *table, const struct table *from, size_t row, size_t column);
/* Appends the cell as CSV has it. */
void table_put_cell(const struct table *table, size_t row, size_t column, struct out *out);

/* The index of the column with this title or key, ignoring case; -1: there is none. */
int table_column_named(const struct table *table, const char *name);
/*
 * Sorts numbers from the largest, texts by their bytes, cells without a number last; equal rows keep their order.
 * False: no memory.
 */
bool table_sort(struct table *table, size_t column);
/* Keeps the first rows only; returns the number of rows removed. */
size_t table_keep(struct table *table, size_t rows);

/* An incomplete row ends with empty cells. */
bool table_print(const struct table *table, struct out *out);
/* The same; *ret_left_out has a bit for each column for which the lines had no room. */
bool table_print_fitting(const struct table *table, struct out *out, uint32_t *ret_left_out);

/* Writes an array of objects, one for each row, as a value of `json`. */
bool table_put_json(const struct table *table, struct json *json);

/* RFC 4180 with lines that end with a newline alone: a line of keys, then a line for each row. */
bool table_put_csv(const struct table *table, struct out *out);
/* The same with the fields `values` in front of each line, and the line of keys only if there are `keys` for them. */
bool table_put_csv_behind(const struct table *table, const char *keys, const char *values, struct out *out);

enum table_format { TABLE_AS_TEXT, TABLE_AS_JSON, TABLE_AS_CSV };

/* Writes the whole output of a command that prints one table; JSON ends with a newline. */
bool table_write(const struct table *table, enum table_format format, struct out *out);

/* The key of a column in JSON and CSV; `into` has room for a key made from the title. */
enum { TABLE_KEY_SIZE = 64 };
const char *table_key(const struct table_column *column, size_t index, char into[TABLE_KEY_SIZE]);
/* The title of a column in lower case, as messages name it. */
const char *table_title(const struct table_column *column, char into[TABLE_KEY_SIZE]);

#endif
