/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_TABLE_H
#define WEFT_GROUND_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/samples.h"
#include "lib/ground/base/text.h"

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
	uint32_t flags;  /* enum table_flag; higher ones are those of the table's owner */
};

enum table_flag {
	TABLE_DATA_ONLY = 1 << 0, /* JSON and CSV show the column, text does not */
	TABLE_TEXT_ONLY = 1 << 1, /* JSON and CSV do not show it */
	TABLE_SPARE = 1 << 2,     /* text may leave it out, from the right, where the lines would be too long */
	TABLE_KEEP = 1 << 3,      /* what the table is for: numbers behind the first column go before it is cut */
	/* of the last column that text shows: a text that is longer than the column goes on below it and is not cut */
	TABLE_WRAP = 1 << 4,
	TABLE_OTHER_FLAGS = 1 << 5,
};

struct table {
	const struct table_column *columns;
	size_t nr_columns;
	struct table_stored *items; /* table_item_at() */
	size_t nr_items;
	unsigned indent; /* blanks in front of each line of text */
	/* of the terminal: longer texts are cut, "...", or wrapped where the lines would not fit; 0: no limit */
	unsigned width;
	bool failed;
	struct table_attached {
		size_t row;
		struct samples samples; /* borrows its values */
		char *name, *part;      /* NULL: none */
		uint32_t columns;       /* a flag: table_attach_columns(); 0 */
	} * attached;                   /* table_attach() */
	size_t nr_attached;
};

/* Borrows `columns`. */
void table_init(struct table *table, const struct table_column *columns, size_t nr_columns);
void table_release(struct table *table);

static inline bool table_flagged(const struct table *table, size_t column, uint32_t flag)
{
	return table->columns[column].flags & flag;
}

/* Adds a text. In a column of numbers "" and "-" mean that there is no number: null in JSON, an empty field in CSV. */
void table_cell(struct table *table, const char *text);
void table_cell_mem(struct table *table, const void *text, size_t len);
__attribute__((format(printf, 2, 3))) void table_cellf(struct table *table, const char *format, ...);
/* Adds a cell without a value to a column of any kind: empty in text and CSV, null in JSON. */
void table_cell_nothing(struct table *table);
void table_cell_u64(struct table *table, uint64_t value);
void table_cell_s64(struct table *table, int64_t value);
/* The value, or "-" if it is not known. */
void table_cell_known(struct table *table, bool known, uint64_t value);
void table_cell_known_s64(struct table *table, bool known, int64_t value);
/* Replaces the numbers of the column with this key by "-": they are not known. */
void table_forget(struct table *table, const char *key);
/* value / 10^decimals; text shows it with its decimals in a column of any kind. */
void table_cell_decimal(struct table *table, int64_t value, unsigned decimals);
/* A time of the trace in ns, as seconds with all decimals. */
void table_cell_moment(struct table *table, uint64_t ns);
/* The same, or "-" for 0. */
void table_cell_when(struct table *table, uint64_t ns);
/* Replaces each table_cell_moment() by the text of `text`, which returns its length. Call it after rows are sorted. */
enum { TABLE_MOMENT_TEXT = 64 };
void table_moments(struct table *table, int (*text)(const void *arg, uint64_t ns, char into[TABLE_MOMENT_TEXT]),
		   const void *arg);
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
/* The same for a row whose name is its texts in the columns with this flag. */
void table_attach_columns(struct table *table, const struct samples *samples, uint32_t flag, const char *part);

/* Removes the samples of all rows. */
void table_detach(struct table *table);

/* The text of a cell; NULL when the cell is a number or has no value. */
const char *table_text_at(const struct table *table, size_t row, size_t column);

/* Returns whether the cell is a number that is not negative and has no decimals, and sets *ret to it. */
bool table_number_at(const struct table *table, size_t row, size_t column, uint64_t *ret);
/* The same by table_column_named(): 0 or "" where there is no such column or cell. */
uint64_t table_number_of(const struct table *table, size_t row, const char *name);
const char *table_text_of(const struct table *table, size_t row, const char *name);
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
/* The same by table_column_named(), which has to be there. */
bool table_sort_by(struct table *table, const char *name);
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

enum table_format { TABLE_AS_TEXT, TABLE_AS_JSON, TABLE_AS_CSV, TABLE_AS_SCHEMA };

/* Writes the whole output of a command that prints one table; JSON ends with a newline. */
bool table_write(const struct table *table, enum table_format format, struct out *out);

/* The key of a column in JSON and CSV; `into` has room for a key made from the title. */
enum { TABLE_KEY_SIZE = 64 };
const char *table_key(const struct table_column *column, size_t index, char into[TABLE_KEY_SIZE]);
/* The title of a column in lower case, as messages name it. */
const char *table_title(const struct table_column *column, char into[TABLE_KEY_SIZE]);

/* The cells of a table as they were added: for what reads them instead of printing them. */

enum table_value { VALUE_TEXT, VALUE_U64, VALUE_S64, VALUE_DECIMAL, VALUE_MOMENT, VALUE_NOTHING };

enum { MOMENT_DECIMALS = 9 };

struct table_item {
	const char *text; /* VALUE_TEXT: the table's until a cell is added or the rows are sorted; ends with NUL */
	size_t len;
	uint64_t number; /* for VALUE_S64 and VALUE_DECIMAL: the bits of the signed number */
	enum table_value value;
	unsigned decimals;
};

/*
 * A cell in 16 bytes, as a table of some hundred thousand rows has millions: most texts are short enough to lie in it.
 * Longer ones have the address and the length of the text in `bytes`, all else the number.
 */
enum { TABLE_NEAR = 14 };
struct table_stored {
	char bytes[TABLE_NEAR];
	uint8_t value : 3, decimals : 5;
	uint8_t near; /* of a text that lies here: its length + 1; 0: none does */
};

/* Gives back what a cell owns. */
void table_stored_release(struct table_stored *stored);

/* Returns a cell; one that was not added is an empty text. */
struct table_item table_item_at(const struct table *table, size_t row, size_t column);
size_t table_rows(const struct table *table);

/* A number as the text of a column of this kind has it. */
const char *table_human(enum table_kind kind, uint64_t value, char into[TEXT_HUMAN]);

/* Whether the cell has no number where one is expected. */
bool table_is_nothing(const struct table_column *column, const struct table_item *item);

#endif
