/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_EXPORT_DB_H
#define WEFT_FORMATS_EXPORT_DB_H

#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3_stmt;

/*
 * A database that is written once, from its beginning to its end, without a journal: a file that nobody else sees until it is whole.
 * Opened before rights are given up, it opens nothing later. What fails is sticky: db->error, with its words in db->failure.
 */
struct db {
	struct sqlite3 *handle;
	struct out text; /* for SQL and for texts that are not UTF-8 */
	int error;
	struct fail failure;
};

int must_check db_open(const char *path, struct db **ret, struct fail *fail);
void db_free(struct db *db);

/* Statements without results. */
void db_run(struct db *db, const char *sql);

/* A row of the table meta; once for each key. */
void db_meta(struct db *db, const char *key, const char *value);

/* NULL when it fails. Freed by db_done(). */
struct sqlite3_stmt *db_prepare(struct db *db, const char *sql);
void db_done(struct sqlite3_stmt *statement);

/* Values of a row, from column 1 on; then the row. Values that are not set are NULL. */
void db_s64(struct sqlite3_stmt *row, int column, int64_t value);
void db_text(struct db *db, struct sqlite3_stmt *row, int column, const void *text, size_t len);
/* The same for a text that does not stay until the row is written; valid UTF-8. */
void db_copy(struct sqlite3_stmt *row, int column, const void *text, size_t len);
void db_insert(struct db *db, struct sqlite3_stmt *row);

#endif
