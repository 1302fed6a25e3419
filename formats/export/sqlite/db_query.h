/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_SQLITE_DB_QUERY_H
#define WEFT_FORMATS_EXPORT_SQLITE_DB_QUERY_H

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/table.h"

struct db;
struct fail;

/* The result of a SELECT: a table with the column names of the statement. */
struct db_answer {
	struct table table;
	struct table_column columns[TABLE_COLUMNS_MAX];
};

/* The name of the library that weft was built without and that the other functions need; NULL: weft has it. */
const char *db_query_missing(void);

/* A database file in memory, as long as SQLite reads it. */
struct db_map {
	void *at;
	size_t size;
};

/*
 * Loads and starts SQLite, before privileges are dropped. NULL after a failure; -ENOENT: this machine has no SQLite.
 * The library gets no name of a file: it would look for other files beside it (journals), and who may write to that
 * directory could make them.
 */
int must_check db_query_open(struct db **ret, struct fail *fail);

/* Makes a complete database the one that is asked. The map must be released after db_query_close(). */
int must_check db_query_use(struct db *db, int fd, struct db_map *ret, struct fail *fail);
void db_query_close(struct db *db);
void db_map_release(struct db_map *map);

/*
 * Runs one statement that only reads; errors are in SQLite's words. No statement can write anything or open another
 * file. NULL asks for the list of tables and their columns. The caller releases the result, also after an error.
 */
int must_check db_query(struct db *db, const char *sql, struct db_answer *ret, struct fail *fail);
void db_answer_release(struct db_answer *answer);

/*
 * Checks before anything is read whether a text cannot be a statement, or is followed by a second one: -EINVAL.
 * -ENOENT: this machine has no SQLite.
 */
int must_check db_query_check(const char *sql, struct fail *fail);

#endif
