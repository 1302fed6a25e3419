// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/sqlite/db_query.h"

#include <dlfcn.h>
#include <errno.h>
#ifdef WEFT_SQLITE
#include <sqlite3.h>
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/table.h"

#ifdef WEFT_SQLITE

/*
 * The functions of SQLite that weft calls. They are looked for when the first statement is asked, so a machine without
 * the library has all of weft but weft sql. A static weft has the library inside.
 */
/* clang-format off */
#define ENGINE_FUNCTIONS(F) \
	F(close) F(column_blob) F(column_bytes) F(column_count) F(column_int64) F(column_name) F(column_text) \
	F(column_type) F(complete) F(config) F(db_config) F(deserialize) F(errmsg) F(errstr) F(exec) F(finalize) \
	F(open_v2) F(prepare_v2) F(set_authorizer) F(step) F(stmt_readonly)
/* clang-format on */

#define ENGINE_MEMBER(name) __typeof__ (&sqlite3_##name)(name);

struct engine {
	ENGINE_FUNCTIONS(ENGINE_MEMBER)
};

static int must_check engine_load(struct engine *ret, struct fail *fail);

#ifdef WEFT_STATIC

#define ENGINE_LINKED(name) .name = sqlite3_##name,

int engine_load(struct engine *ret, struct fail *fail)
{
	(void)fail;
	*ret = (struct engine){ ENGINE_FUNCTIONS(ENGINE_LINKED) };
	return 0;
}

#else

/* The name of the interface of SQLite 3, which has not changed since 2004. */
#define LIBRARY "libsqlite3.so.0"

#define ENGINE_NAME(name) "sqlite3_" #name,

/* Loads the library, which stays until the process ends. -ENOENT: it is not installed; `fail` names its package. */
static int engine_load(struct engine *ret, struct fail *fail)
{
	static const char *const names[] = { ENGINE_FUNCTIONS(ENGINE_NAME) };
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL), *found[array_size(names)];

	_Static_assert(sizeof(*ret) == sizeof(found), "the members are the functions, in their order");
	if (!library)
		return fail_set(fail, -ENOENT, "%s: install libsqlite3-0 (Debian) or sqlite-libs (Fedora)", dlerror());
	for (size_t i = 0; i < array_size(names); i++) {
		found[i] = dlsym(library, names[i]);
		if (!found[i])
			return fail_set(fail, -ENOENT, LIBRARY " is too old: it has no %s()", names[i]);
	}
	memcpy(ret, found, sizeof(*ret));
	return 0;
}

#endif
#endif

void db_answer_release(struct db_answer *answer)
{
	table_release(&answer->table);
	for (size_t i = 0; i < array_size(answer->columns); i++)
		free((char *)(uintptr_t)answer->columns[i].title);
}

void db_map_release(struct db_map *map)
{
	if (map->size)
		munmap(map->at, map->size);
	*map = (struct db_map){ .size = 0 };
}

#ifdef WEFT_SQLITE

struct db {
	struct engine sql;
	struct sqlite3 *handle;
};

/* A statement that is asked. */
struct asked {
	const struct db *db;
	sqlite3_stmt *statement;
};

/* A bound for all rows of an answer. SQLite has the same one for what it sorts and joins (HEAP_LIMIT). */
#define ANSWER_MAX (UINT64_C(512) << 20)
#define HEAP_LIMIT "PRAGMA hard_heap_limit = 536870912"
#define FEWER "choose fewer rows with WHERE or LIMIT, or use 'weft export --to sqlite' and sqlite3"

/* SQLite prints numbers with a fraction with 15 digits. */
enum { DIGITS = 15 };

static const char tables_sql[] =
	"SELECT s.type, s.name, group_concat(c.name, ' ') AS columns FROM sqlite_schema s, pragma_table_info(s.name) c "
	"WHERE s.type IN ('table', 'view') AND s.name NOT GLOB 'ftrace_event_[0-9]*' GROUP BY s.type, "
	"s.name ORDER BY s.type, s.name";

/* Whether a pragma only reads. */
static bool only_tells(const char *pragma)
{
	static const char *const known[] = { "table_info",  "table_xinfo",     "table_list",     "index_list",
					     "index_info",  "database_list",   "function_list",  "collation_list",
					     "pragma_list", "compile_options", "integrity_check" };

	for (size_t i = 0; pragma && i < array_size(known); i++)
		if (!strcasecmp(pragma, known[i]))
			return true;
	return false;
}

/* Whether a function does more than compute: it loads code, or tells and takes addresses of functions. */
static bool is_dangerous(const char *function)
{
	static const char *const known[] = { "load_extension", "fts3_tokenizer", "edit", "readfile", "writefile" };

	for (size_t i = 0; function && i < array_size(known); i++)
		if (!strcasecmp(function, known[i]))
			return true;
	return false;
}

/* Actions that a reading statement never needs; sqlite3_stmt_readonly() finds the statements that write. */
static int authorize(void *arg, int action, const char *first, const char *second, const char *database,
		     const char *trigger)
{
	(void)arg;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
		return SQLITE_DENY;
	case SQLITE_FUNCTION:
		return is_dangerous(second) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		return only_tells(first) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_OK;
	}
}

static int words(const struct db *db, int code, struct fail *fail)
{
	const char *told = db->sql.errmsg(db->handle);

	if (code == SQLITE_NOMEM)
		return fail_set(fail, -ENOMEM, "the statement needs more than 512 MiB of memory; " FEWER);
	return fail_set(fail, -EINVAL, "%s%s", told,
			!strcmp(told, "incomplete input")    ? ": the statement of SQL ends too early" :
			code == SQLITE_AUTH                  ? "; 'weft sql' only reads" :
			!strncmp(told, "no such table", 13)  ? "; 'weft sql FILE' lists the tables and their columns" :
			!strncmp(told, "no such column", 14) ? "; 'weft sql FILE' lists the tables and their columns" :
							       "");
}

/*
 * Adds a number with a fraction as decimal digits, so that text, JSON and CSV show it alike; one with an exponent as
 * text.
 */
static void put_real(struct table *table, const char *text)
{
	const char *point = strchr(text, '.');
	int64_t value = 0;
	size_t digits = 0;

	for (const char *at = text; *at; at++) {
		if (*at >= '0' && *at <= '9' && digits <= DIGITS) {
			value = value * 10 + (*at - '0');
			digits += value > 0;
		} else if (at != point && (*at != '-' || at != text)) {
			table_cell(table, text);
			return;
		}
	}
	table_cell_decimal(table, *text == '-' ? -value : value, point ? (unsigned)strlen(point + 1) : 0);
}

/* A blob as the literal of SQL that makes it again, as SQLite's quote() writes it: x'6869'. */
static void put_blob(struct table *table, const struct asked *asked, int column)
{
	const struct engine *sql = &asked->db->sql;
	static const char digits[] = "0123456789abcdef";
	const uint8_t *bytes = sql->column_blob(asked->statement, column);
	size_t len = (size_t)sql->column_bytes(asked->statement, column);
	cleanup_free char *text = malloc(2 * len + 4);
	char *at = text;

	if (!text) {
		table->failed = true;
		return;
	}
	*at++ = 'x';
	*at++ = '\'';
	for (size_t i = 0; i < len; i++) {
		*at++ = digits[bytes[i] >> 4];
		*at++ = digits[bytes[i] & 15];
	}
	*at++ = '\'';
	table_cell_mem(table, text, (size_t)(at - text));
}

static void put_cell(struct db_answer *answer, const struct asked *asked, int column)
{
	const struct engine *sql = &asked->db->sql;
	int kind = sql->column_type(asked->statement, column);
	struct table *table = &answer->table;
	const void *text;

	if (kind == SQLITE_NULL) {
		table_cell_nothing(table);
		return;
	}
	if (kind == SQLITE_INTEGER) {
		table_cell_s64(table, sql->column_int64(asked->statement, column));
		return;
	}
	if (kind == SQLITE_BLOB) {
		answer->columns[column].kind = TABLE_TEXT;
		put_blob(table, asked, column);
		return;
	}
	text = sql->column_text(asked->statement, column);
	if (kind == SQLITE_FLOAT && text) {
		put_real(table, text);
		return;
	}
	answer->columns[column].kind = TABLE_TEXT;
	table_cell_mem(table, text ? text : "", text ? (size_t)sql->column_bytes(asked->statement, column) : 0);
}

static int begin(struct db_answer *answer, const struct asked *asked, struct fail *fail)
{
	const struct engine *sql = &asked->db->sql;
	int nr = sql->column_count(asked->statement);

	if (nr > TABLE_COLUMNS_MAX)
		return fail_set(fail, -EINVAL,
				"the answer has %d columns; there is room for %d: name those that you want", nr,
				TABLE_COLUMNS_MAX);
	for (int i = 0; i < nr; i++) {
		const char *name = sql->column_name(asked->statement, i);
		char *copy = name ? strdup(name) : NULL;

		if (!copy)
			return fail_memory(fail);
		answer->columns[i] = (struct table_column){ .title = copy, .kind = TABLE_NUMBER, .key = copy };
	}
	table_init(&answer->table, answer->columns, (size_t)nr);
	return 0;
}

/* About how much memory the row takes in the table. */
static uint64_t size_of_row(const struct asked *asked, int nr)
{
	const struct engine *sql = &asked->db->sql;
	uint64_t size = 0;

	for (int i = 0; i < nr; i++) {
		int kind = sql->column_type(asked->statement, i);

		size += sizeof(struct table_stored);
		if (kind == SQLITE_BLOB || kind == SQLITE_TEXT)
			size += 2 * (uint64_t)sql->column_bytes(asked->statement, i);
	}
	return size;
}

static int answer_statement(const struct asked *asked, struct db_answer *answer, struct fail *fail)
{
	int code, r = begin(answer, asked, fail);
	uint64_t size = 0;

	if (r)
		return r;
	while ((code = asked->db->sql.step(asked->statement)) == SQLITE_ROW && !answer->table.failed) {
		size += size_of_row(asked, (int)answer->table.nr_columns);
		if (size > ANSWER_MAX)
			return fail_set(fail, -EFBIG, "the answer is larger than 512 MiB; " FEWER);
		for (int i = 0; i < (int)answer->table.nr_columns; i++)
			put_cell(answer, asked, i);
	}
	if (answer->table.failed)
		return fail_memory(fail);
	return code == SQLITE_DONE ? 0 : words(asked->db, code, fail);
}

const char *db_query_missing(void)
{
	return NULL;
}

/* Switches off what a statement could do beyond reading, as far as this SQLite knows it. */
static void confine(const struct db *db)
{
	static const struct {
		int what, on;
	} settings[] = {
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
#ifdef SQLITE_DBCONFIG_DEFENSIVE
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
#endif
	};

	for (size_t i = 0; i < array_size(settings); i++)
		(void)db->sql.db_config(db->handle, settings[i].what, settings[i].on, NULL);
}

static int open_empty(struct db *db, struct fail *fail)
{
	const struct engine *sql = &db->sql;
	int code, r = engine_load(&db->sql, fail);

	if (r)
		return r;
	/*
	 * Switches off locks, which took a fifth of the time and which a process with one thread does not need. It
	 * fails once SQLite is in use, which does no harm.
	 */
	(void)sql->config(SQLITE_CONFIG_SINGLETHREAD);
	code = sql->open_v2(":memory:", &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (code == SQLITE_OK)
		code = sql->exec(db->handle, "PRAGMA temp_store = MEMORY; " HEAP_LIMIT, NULL, NULL, NULL);
	if (code == SQLITE_OK) {
		confine(db);
		return 0;
	}
	return fail_set(fail, -EIO, "cannot open the database: %s",
			db->handle ? sql->errmsg(db->handle) : sql->errstr(code));
}

int db_query_open(struct db **ret, struct fail *fail)
{
	struct db *db = calloc(1, sizeof(*db));
	int r = db ? open_empty(db, fail) : fail_memory(fail);

	if (r) {
		db_query_close(db);
		db = NULL;
	}
	*ret = db;
	return r;
}

int db_query_use(struct db *db, int fd, struct db_map *ret, struct fail *fail)
{
	struct db_map map;
	struct stat st;
	int code;

	if (fstat(fd, &st))
		return fail_set(fail, -errno, "cannot read the database: %s", strerror(errno));
	if ((uint64_t)st.st_size > SIZE_MAX / 2)
		return fail_set(fail, -EFBIG, "the database is too large for the memory of this machine");
	map.size = (size_t)st.st_size;
	map.at = mmap(NULL, map.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map.at == MAP_FAILED)
		return fail_set(fail, -errno, "cannot read the database: %s", strerror(errno));
	code = db->sql.deserialize(db->handle, "main", map.at, st.st_size, st.st_size, SQLITE_DESERIALIZE_READONLY);
	if (code != SQLITE_OK) {
		munmap(map.at, map.size);
		return fail_set(fail, -EIO, "cannot open the database: %s", db->sql.errmsg(db->handle));
	}
	*ret = map;
	return 0;
}

void db_query_close(struct db *db)
{
	if (db && db->handle)
		db->sql.close(db->handle);
	free(db);
}

/* Skips what is no statement: blanks, semicolons, and comments. */
static const char *skip_nothing(const char *at)
{
	const char *end;

	for (;;) {
		at += strspn(at, " \t\n\f\r;");
		if (!strncmp(at, "--", 2))
			at += strcspn(at, "\n");
		else if (!strncmp(at, "/*", 2) && (end = strstr(at + 2, "*/")))
			at = end + 2;
		else if (!strncmp(at, "/*", 2)) /* SQLite ends it with the text. */
			return at + strlen(at);
		else
			return at;
	}
}

int db_query(struct db *db, const char *sql, struct db_answer *ret, struct fail *fail)
{
	struct asked asked = { .db = db };
	int code, r;

	*ret = (struct db_answer){ .table = { .items = NULL } };
	db->sql.set_authorizer(db->handle, authorize, NULL);
	code = db->sql.prepare_v2(db->handle, sql ? skip_nothing(sql) : tables_sql, -1, &asked.statement, NULL);
	if (code != SQLITE_OK)
		r = words(db, code, fail);
	else if (!db->sql.stmt_readonly(asked.statement))
		r = fail_set(fail, -EINVAL, "the statement writes; 'weft sql' only reads");
	else
		r = answer_statement(&asked, ret, fail);
	db->sql.finalize(asked.statement);
	return r;
}

/* Compiling on an empty database finds the end of the first statement, but cannot check its names. */
static const char *behind_first(const struct engine *engine, const char *sql)
{
	size_t len = strlen(sql);
	cleanup_free char *part = malloc(len + 1);

	for (size_t i = 0; part && i < len; i++) {
		part[i] = sql[i];
		part[i + 1] = '\0';
		if (sql[i] == ';' && engine->complete(part))
			return sql + i + 1;
	}
	return sql + len;
}

int db_query_check(const char *sql, struct fail *fail)
{
	const char *first = skip_nothing(sql), *second;
	struct engine engine;
	int r = engine_load(&engine, fail);

	if (r)
		return r;
	second = skip_nothing(behind_first(&engine, first));
	if (!*first)
		return fail_set(fail, -EINVAL, "there is no statement in '%s'", sql);
	if (*second)
		return fail_set(fail, -EINVAL, "one statement at a time; the second is '%s'", second);
	return 0;
}

#else

const char *db_query_missing(void)
{
	return "libsqlite3";
}

int db_query_open(struct db **ret, struct fail *fail)
{
	*ret = NULL;
	return fail_set(fail, -ENOTSUP, "weft was built without libsqlite3");
}

int db_query_use(struct db *db, int fd, struct db_map *ret, struct fail *fail)
{
	(void)db;
	(void)fd;
	(void)ret;
	return fail_set(fail, -ENOTSUP, "weft was built without libsqlite3");
}

void db_query_close(struct db *db)
{
	(void)db;
}

int db_query(struct db *db, const char *sql, struct db_answer *ret, struct fail *fail)
{
	(void)db;
	(void)sql;
	*ret = (struct db_answer){ .table = { .items = NULL } };
	return fail_set(fail, -ENOTSUP, "weft was built without libsqlite3");
}

int db_query_check(const char *sql, struct fail *fail)
{
	(void)sql;
	(void)fail;
	return 0;
}

#endif
