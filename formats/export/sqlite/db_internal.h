/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_SQLITE_DB_INTERNAL_H
#define WEFT_FORMATS_EXPORT_SQLITE_DB_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"

/* The size of each page of a database; no byte is reserved. */
enum { DB_PAGE = 16384 };

/*
 * The pages of an SQLite file. They are appended; only the first page, which has the positions of the tables, is
 * written last. The first failure is kept in pages->error, its text in pages->failure.
 */
struct db_pages {
	int fd; /* borrowed */
	uint32_t nr;
	struct out out; /* pages that are not in the file yet */
	int error;
	struct fail failure;
};

/* The file must be empty. */
int must_check db_pages_init(struct db_pages *pages, int fd, struct fail *fail);
void db_pages_release(struct db_pages *pages);
void db_pages_failed(struct db_pages *pages, int error, const char *what);

/* The number of the page after page `nr`: SQLite skips the page that contains its lock bytes. */
uint32_t db_pages_after(uint32_t nr);

/* Adds a page. The caller must set all its bytes; the pointer is valid until the next call. */
uint8_t *db_pages_add(struct db_pages *pages);

/* Writes the first page, and all other pages that are not in the file yet. */
void db_pages_finish(struct db_pages *pages, const uint8_t first[DB_PAGE]);

struct db_table;

/*
 * Writes an SQLite database without the SQLite library: rows are only appended, so the cost of SQL statements is
 * avoided. The file is complete after db_finish(). It is an open file, so no name is needed. The first failure is kept:
 * db_error().
 * Not supported: indexes, constraints, other types than integers and texts, rows with more than DB_COLUMNS_MAX columns.
 */
enum { DB_COLUMNS_MAX = 512 };

struct db {
	struct db_pages pages;
	struct db_object {
		char *name, *sql;
		struct db_table *table; /* NULL: a view */
	} * objects;
	size_t nr_objects;
	struct out text; /* memory for texts that are not UTF-8 */
	struct out body; /* the row's values */
	uint8_t *at;     /* position in `head` where the next column's type goes */
	uint8_t head[8 + 10 * DB_COLUMNS_MAX];
};

/* `fd` is an empty file; the caller closes it after db_free(). */
int must_check db_open(int fd, struct db **ret, struct fail *fail);
void db_free(struct db *db);

/* The first failure, or 0. */
int db_error(const struct db *db, const struct fail **ret);

/*
 * Adds a table: "CREATE TABLE NAME (COLUMNS)"; name and columns must be valid SQL. NULL after a failure. The database
 * owns the table.
 */
struct db_table *db_table(struct db *db, const char *name, const char *columns);

/* Adds a view: "CREATE VIEW NAME AS SELECT". */
void db_view(struct db *db, const char *name, const char *select);

/*
 * To add a row, add all its values in order, then call db_insert(). The value of an INTEGER PRIMARY KEY is db_null():
 * it gets the row's number.
 */
void db_s64(struct db *db, int64_t value);
void db_null(struct db *db);
/* Each byte that is not UTF-8 becomes U+FFFD. */
void db_text(struct db *db, const char *text, size_t len);
void db_insert(struct db *db, struct db_table *table);
/* Like db_insert(), with a row number, which must be larger than all before. */
void db_insert_at(struct db *db, struct db_table *table, int64_t number);

/* Completes the file. No other call may follow, except db_error() and db_free(). */
void db_finish(struct db *db);

#endif
