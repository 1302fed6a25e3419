// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/db.h"

#ifdef WEFT_SQLITE

#include "lib/base/utf8.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static void failed(struct db *db, const char *what)
{
	if (db->error)
		return;
	db->error = fail_set(&db->failure, -EIO, "cannot %s the database: %s", what, sqlite3_errmsg(db->handle));
}

int db_open(const char *path, struct db **ret, struct fail *fail)
{
	struct db *db = calloc(1, sizeof(*db));

	if (!db || !out_init(&db->text, 4096)) {
		free(db);
		return fail_memory(fail);
	}
	if (sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK)
		failed(db, "open");
	db_run(db,
	       "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
	       "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -32768; PRAGMA mmap_size = 0; PRAGMA encoding = 'UTF-8';"
	       "BEGIN EXCLUSIVE; CREATE TABLE meta (key TEXT PRIMARY KEY, value)");
	if (db->error) {
		int r = fail_set(fail, db->error, "%s", db->failure.text);

		db_free(db);
		return r;
	}
	*ret = db;
	return 0;
}

void db_free(struct db *db)
{
	if (!db)
		return;
	sqlite3_close(db->handle);
	out_release(&db->text);
	free(db);
}

void db_run(struct db *db, const char *sql)
{
	if (!db->error && sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
		failed(db, "write");
}

void db_meta(struct db *db, const char *key, const char *value)
{
	sqlite3_stmt *row = db_prepare(db, "INSERT OR IGNORE INTO meta VALUES (?, ?)");

	if (!row)
		return;
	db_text(db, row, 1, key, strlen(key));
	db_text(db, row, 2, value, strlen(value));
	db_insert(db, row);
	db_done(row);
}

struct sqlite3_stmt *db_prepare(struct db *db, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (!db->error &&
	    sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
		failed(db, "prepare");
	return statement;
}

void db_done(struct sqlite3_stmt *statement)
{
	sqlite3_finalize(statement);
}

void db_s64(struct sqlite3_stmt *row, int column, int64_t value)
{
	sqlite3_bind_int64(row, column, value);
}

static bool is_utf8(const char *at, size_t len)
{
	for (const char *end = at + len; at < end;) {
		size_t size = (uint8_t)*at < 0x80 ? 1 : utf8_len(at, (size_t)(end - at));

		if (!size)
			return false;
		at += size;
	}
	return true;
}

void db_text(struct db *db, struct sqlite3_stmt *row, int column, const void *text, size_t len)
{
	const char *at = text, *end = at + len;

	if (is_utf8(at, len)) {
		sqlite3_bind_text64(row, column, at, len, SQLITE_STATIC, SQLITE_UTF8);
		return;
	}
	out_clear(&db->text);
	while (at < end) {
		size_t size = utf8_len(at, (size_t)(end - at));

		out_mem(&db->text, size ? at : "\xef\xbf\xbd", size ? size : 3);
		at += size ? size : 1;
	}
	sqlite3_bind_text64(row, column, db->text.start, out_len(&db->text), SQLITE_TRANSIENT, SQLITE_UTF8);
}

void db_copy(struct sqlite3_stmt *row, int column, const void *text, size_t len)
{
	sqlite3_bind_text64(row, column, text, len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void db_insert(struct db *db, struct sqlite3_stmt *row)
{
	if (!db->error && sqlite3_step(row) != SQLITE_DONE)
		failed(db, "write");
	sqlite3_reset(row);
	sqlite3_clear_bindings(row);
}

#endif
