/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_DB_QUERY_H
#define WEFT_FORMATS_EXPORT_DB_QUERY_H

#include "lib/base/cleanup.h"
#include "lib/base/table.h"

struct fail;
struct sqlite3;

/* The result of a SELECT: a table with the column names of the statement. */
struct db_answer {
	struct table table;
	struct table_column columns[TABLE_COLUMNS_MAX];
};

/* The name of the library that weft was built without and that the other functions need; NULL: weft has it. */
const char *db_query_missing(void);

/*
 * Opens a database, which may still be empty: the first statement reads it without opening anything, so that privileges
 * can be dropped in between. NULL after a failure.
 */
int must_check db_query_open(const char *path, struct sqlite3 **ret, struct fail *fail);
void db_query_close(struct sqlite3 *handle);

/*
 * Runs one statement that only reads; errors are in SQLite's words. No statement can write anything or open another
 * file. NULL asks for the list of tables and their columns. The caller releases the result, also after an error.
 */
int must_check db_query(struct sqlite3 *handle, const char *sql, struct db_answer *ret, struct fail *fail);
void db_answer_release(struct db_answer *answer);

/* Checks before anything is read whether a text cannot be a statement, or is followed by a second one: -EINVAL. */
int must_check db_query_check(const char *sql, struct fail *fail);

#endif
