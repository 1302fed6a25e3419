// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/sqlite/db_internal.h"

#include "formats/export/sqlite/db_tree_internal.h"
#include "lib/base/utf8.h"
#include "lib/base/vec.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for the length of a row's head, which precedes it. */
enum { ROOM = 2 };

struct db_table {
	struct db_tree tree;
	int64_t last; /* number of the last row */
	uint32_t root;
};

static void no_memory(struct db *db)
{
	db_pages_failed(&db->pages, -ENOMEM, "out of memory");
}

int db_open(int fd, struct db **ret, struct fail *fail)
{
	struct db *db = calloc(1, sizeof(*db));
	int r;

	if (!db || !out_init(&db->text, 4096) || !out_init(&db->body, 4096))
		r = fail_memory(fail);
	else
		r = db_pages_init(&db->pages, fd, fail);
	if (r) {
		if (db && db->text.start)
			out_release(&db->text);
		if (db && db->body.start)
			out_release(&db->body);
		free(db);
		return r;
	}
	db->at = db->head + ROOM;
	*ret = db;
	return 0;
}

void db_free(struct db *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->nr_objects; i++) {
		if (db->objects[i].table)
			db_tree_release(&db->objects[i].table->tree);
		free(db->objects[i].table);
		free(db->objects[i].name);
		free(db->objects[i].sql);
	}
	free(db->objects);
	db_pages_release(&db->pages);
	out_release(&db->text);
	out_release(&db->body);
	free(db);
}

int db_error(const struct db *db, const struct fail **ret)
{
	*ret = &db->pages.failure;
	return db->pages.error;
}

static struct db_object *add_object(struct db *db, const char *name, const char *what, const char *between,
				    const char *text, const char *behind)
{
	struct db_object *object = vec_push(db->objects, db->nr_objects);

	if (!object) {
		no_memory(db);
		return NULL;
	}
	object->name = strdup(name);
	if (asprintf(&object->sql, "CREATE %s %s%s%s%s", what, name, between, text, behind) < 0)
		object->sql = NULL;
	if (object->name && object->sql)
		return object;
	no_memory(db);
	return NULL;
}

struct db_table *db_table(struct db *db, const char *name, const char *columns)
{
	struct db_object *object = add_object(db, name, "TABLE", " (", columns, ")");
	struct db_table *table = object ? calloc(1, sizeof(*table)) : NULL;

	if (!table) {
		no_memory(db);
		return NULL;
	}
	db_tree_init(&table->tree);
	object->table = table;
	return table;
}

void db_view(struct db *db, const char *name, const char *select)
{
	(void)add_object(db, name, "VIEW", " AS ", select, "");
}

void db_s64(struct db *db, int64_t value)
{
	/* By the number of bytes: SQLite has no integers of 5 and 7. */
	static const uint8_t kinds[] = { 0, 1, 2, 3, 4, 5, 5, 6, 6 }, sizes[] = { 0, 1, 2, 3, 4, 6, 8 };
	uint64_t magnitude = value < 0 ? ~(uint64_t)value : (uint64_t)value, big;
	uint8_t kind;

	if (value == 0 || value == 1) {
		*db->at++ = value ? 9 : 8;
		return;
	}
	kind = kinds[(72 - (unsigned)__builtin_clzll(magnitude | 1)) / 8];
	big = htobe64((uint64_t)value << (64 - 8 * sizes[kind]));
	*db->at++ = kind;
	out_need(&db->body, sizeof(big));
	memcpy(db->body.at, &big, sizeof(big));
	db->body.at += sizes[kind];
}

void db_null(struct db *db)
{
	*db->at++ = 0;
}

static bool is_utf8(const char *at, size_t len)
{
	const char *end = at + len;
	uint64_t eight;

	while (at < end) {
		size_t size;

		if (end - at >= (ptrdiff_t)sizeof(eight)) {
			memcpy(&eight, at, sizeof(eight));
			if (!(eight & UINT64_C(0x8080808080808080))) {
				at += sizeof(eight);
				continue;
			}
		}
		size = (uint8_t)*at < 0x80 ? 1 : utf8_len(at, (size_t)(end - at));
		if (!size)
			return false;
		at += size;
	}
	return true;
}

void db_text(struct db *db, const char *text, size_t len)
{
	const char *at = text, *end = at + len;

	if (!is_utf8(text, len)) {
		out_clear(&db->text);
		while (at < end) {
			size_t size = utf8_len(at, (size_t)(end - at));

			out_mem(&db->text, size ? at : "\xef\xbf\xbd", size ? size : 3);
			at += size ? size : 1;
		}
		text = db->text.start;
		len = out_len(&db->text);
	}
	db->at = db_varint(db->at, 13 + 2 * len);
	out_mem(&db->body, text, len);
}

void db_insert_at(struct db *db, struct db_table *table, int64_t number)
{
	size_t len = (size_t)(db->at - db->head) - ROOM;
	uint8_t *head = db->head + ROOM - (len < 0x7f ? 1 : 2);
	const struct db_record record = { head, (uint8_t *)db->body.start, (size_t)(db->at - head),
					  out_len(&db->body) };

	assert(len && db->at <= db->head + sizeof(db->head));
	db_varint(head, record.head_len);
	if (table) {
		table->last = number;
		db_tree_add(&table->tree, &db->pages, number, &record);
	}
	out_clear(&db->body);
	db->at = db->head + ROOM;
}

void db_insert(struct db *db, struct db_table *table)
{
	db_insert_at(db, table, table ? table->last + 1 : 0);
}

static void put_big(uint8_t *at, uint32_t value)
{
	uint32_t big = htobe32(value);

	memcpy(at, &big, sizeof(big));
}

/* SQLite's "Database File Format", 1.3. */
static void put_first(struct db *db, uint8_t *first)
{
	static const uint8_t head[] = "SQLite format 3\0\0\0\1\1\0\100\40\40";
	enum {
		PAGE_SIZE = 16,
		CHANGES = 24,
		PAGES = 28,
		COOKIE = 40,
		FORMAT = 44,
		ENCODING = 56,
		VALID_FOR = 92,
		VERSION = 96
	};
	enum { FORMAT_4 = 4, UTF_8 = 1, VERSION_3_40 = 3040000 };

	memcpy(first, head, sizeof(head) - 1);
	first[PAGE_SIZE] = DB_PAGE >> 8;
	put_big(first + CHANGES, 1);
	put_big(first + PAGES, db->pages.nr);
	put_big(first + COOKIE, 1);
	put_big(first + FORMAT, FORMAT_4);
	put_big(first + ENCODING, UTF_8);
	put_big(first + VALID_FOR, 1);
	put_big(first + VERSION, VERSION_3_40);
}

static bool is_starved(const struct db *db)
{
	bool starved = db->body.failed || db->text.failed || db->pages.out.failed;

	for (size_t i = 0; i < db->nr_objects; i++)
		starved |= db->objects[i].table && db->objects[i].table->tree.starved;
	return starved;
}

void db_finish(struct db *db)
{
	uint8_t first[DB_PAGE] = { 0 };
	struct db_table schema = { .root = 1 };

	if (is_starved(db))
		no_memory(db);
	if (db->pages.error)
		return;
	for (size_t i = 0; i < db->nr_objects; i++)
		if (db->objects[i].table)
			db->objects[i].table->root = db_tree_finish(&db->objects[i].table->tree, &db->pages);
	db_tree_init(&schema.tree);
	for (size_t i = 0; i < db->nr_objects; i++) {
		const struct db_object *object = &db->objects[i];
		const char *type = object->table ? "table" : "view";

		db_text(db, type, strlen(type));
		db_text(db, object->name, strlen(object->name));
		db_text(db, object->name, strlen(object->name));
		db_s64(db, object->table ? object->table->root : 0);
		db_text(db, object->sql, strlen(object->sql));
		db_insert(db, &schema);
	}
	db_tree_finish_first(&schema.tree, &db->pages, first);
	put_first(db, first);
	if (is_starved(db) || schema.tree.starved)
		no_memory(db);
	db_tree_release(&schema.tree);
	db_pages_finish(&db->pages, first);
}
