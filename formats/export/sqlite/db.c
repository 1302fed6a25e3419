// SPDX-License-Identifier: LGPL-2.1-or-later
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/sqlite/db_internal.h"
#include "formats/export/sqlite/db_tree_internal.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/utf8.h"
#include "lib/ground/base/vec.h"

/* Kinds and heads of pages; the part of a record that is stored in its leaf (SQLite's "Database File Format", 1.6). */
enum { LEAF = 13, INNER = 5, LEAF_HEAD = 8, INNER_HEAD = 12, VARINT_MAX = 9 };
enum { LOCAL_MAX = DB_PAGE - 35, LOCAL_MIN = (DB_PAGE - 12) * 32 / 255 - 23, CHAIN = DB_PAGE - 4 };

static void put_u16(uint8_t *at, uint32_t value)
{
	uint16_t big = htobe16((uint16_t)value);

	memcpy(at, &big, sizeof(big));
}

static void put_u32(uint8_t *at, uint32_t value)
{
	uint32_t big = htobe32(value);

	memcpy(at, &big, sizeof(big));
}

static size_t varint_len(uint64_t value)
{
	size_t len = 1;

	while (value >>= 7)
		len++;
	return len;
}

uint8_t *db_varint(uint8_t *at, uint64_t value)
{
	size_t len = varint_len(value);

	assert(len < VARINT_MAX);
	for (size_t i = len; i--; value >>= 7)
		at[i] = (uint8_t)(value & 0x7f) | (i + 1 < len ? 0x80 : 0);
	return at + len;
}

void db_tree_init(struct db_tree *tree)
{
	*tree = (struct db_tree){ .start = DB_PAGE };
}

void db_tree_release(struct db_tree *tree)
{
	free(tree->leaf);
	for (size_t i = 0; i < DB_TREE_LEVELS; i++)
		free(tree->levels[i].at);
	db_tree_init(tree);
}

/* Writes an inner page with the first children of a level; `head` is the offset of its head in the page. */
static void put_inner(const struct db_child *at, size_t nr, uint8_t *page, size_t head)
{
	uint8_t cell[4 + VARINT_MAX];
	size_t start = DB_PAGE, pointers = head + INNER_HEAD;

	for (size_t i = 0; i + 1 < nr; i++) {
		size_t len = (size_t)(db_varint(cell + 4, (uint64_t)at[i].last) - cell);

		put_u32(cell, at[i].page);
		start -= len;
		memcpy(page + start, cell, len);
		put_u16(page + pointers + 2 * i, (uint32_t)start);
	}
	memset(page + head, 0, INNER_HEAD);
	page[head] = INNER;
	put_u16(page + head + 3, (uint32_t)nr - 1);
	put_u16(page + head + 5, (uint32_t)start);
	put_u32(page + head + 8, at[nr - 1].page);
	pointers += 2 * (nr - 1);
	memset(page + pointers, 0, start - pointers);
}

static void push(struct db_tree *tree, struct db_pages *pages, size_t number, struct db_child child);

/* Writes the first `nr` children of a level as a page, which becomes a child of the level above. */
static void raise_children(struct db_tree *tree, struct db_pages *pages, size_t number, size_t nr)
{
	struct db_level *level = &tree->levels[number];
	int64_t last = level->at[nr - 1].last;

	put_inner(level->at, nr, db_pages_add(pages), 0);
	level->nr -= nr;
	memmove(level->at, level->at + nr, level->nr * sizeof(*level->at));
	push(tree, pages, number + 1, (struct db_child){ pages->nr, last });
}

/* Two children stay for the page after a full one. */
static void push(struct db_tree *tree, struct db_pages *pages, size_t number, struct db_child child)
{
	struct db_level *level = &tree->levels[number];

	assert(number < DB_TREE_LEVELS);
	if (!level->at)
		level->at = calloc(DB_TREE_CHILDREN + 2, sizeof(*level->at));
	if (!level->at) {
		tree->starved = true;
		return;
	}
	level->at[level->nr++] = child;
	if (level->nr == DB_TREE_CHILDREN + 2)
		raise_children(tree, pages, number, DB_TREE_CHILDREN);
}

/* Writes the head of the leaf, at offset `head` of its page. */
static void end_leaf(const struct db_tree *tree, uint8_t *page, size_t head)
{
	size_t end = head + LEAF_HEAD + 2 * tree->cells;

	memset(page + head, 0, LEAF_HEAD);
	page[head] = LEAF;
	put_u16(page + head + 3, tree->cells);
	put_u16(page + head + 5, tree->start);
	memset(page + end, 0, tree->start - end);
}

/* Returns the leaf's page; the caller adds it as a child. */
static uint32_t write_leaf(struct db_tree *tree, struct db_pages *pages)
{
	uint8_t *page = db_pages_add(pages);

	if (tree->leaf)
		memcpy(page, tree->leaf, DB_PAGE);
	end_leaf(tree, page, 0);
	tree->cells = 0;
	tree->start = DB_PAGE;
	return pages->nr;
}

static void leave_leaf(struct db_tree *tree, struct db_pages *pages)
{
	push(tree, pages, 0, (struct db_child){ write_leaf(tree, pages), tree->last });
}

/* Copies the bytes of a record from `from` on. */
static void copy(const struct db_record *record, size_t from, size_t len, uint8_t *into)
{
	size_t of_head = from < record->head_len ? record->head_len - from : 0;

	of_head = of_head < len ? of_head : len;
	if (of_head)
		memcpy(into, record->head + from, of_head);
	if (len > of_head)
		memcpy(into + of_head, record->body + (from + of_head - record->head_len), len - of_head);
}

/* Writes the part of a record that does not fit into the leaf as a chain of pages. Returns the first one. */
static uint32_t put_chain(struct db_pages *pages, const struct db_record *record, size_t from)
{
	uint32_t first = db_pages_after(pages->nr);
	size_t end = record->head_len + record->body_len;

	while (from < end) {
		uint8_t *page = db_pages_add(pages);
		size_t len = end - from < CHAIN ? end - from : CHAIN;

		put_u32(page, from + len < end ? db_pages_after(pages->nr) : 0);
		copy(record, from, len, page + 4);
		memset(page + 4 + len, 0, CHAIN - len);
		from += len;
	}
	return first;
}

static size_t local_size(size_t len)
{
	size_t local;

	if (len <= LOCAL_MAX)
		return len;
	local = LOCAL_MIN + (len - LOCAL_MIN) % CHAIN;
	return local <= LOCAL_MAX ? local : LOCAL_MIN;
}

void db_tree_add(struct db_tree *tree, struct db_pages *pages, int64_t number, const struct db_record *record)
{
	size_t len = record->head_len + record->body_len, local = local_size(len);
	size_t cell = varint_len(len) + varint_len((uint64_t)number) + local + (local < len ? 4 : 0);
	uint32_t chain = local < len ? put_chain(pages, record, local) : 0;
	uint8_t *at;

	if (!tree->leaf)
		tree->leaf = malloc(DB_PAGE);
	if (!tree->leaf) {
		tree->starved = true;
		return;
	}
	/*
	 * Any leaf may become the first page of the file, which has less room; but a record that fills a page gets one
	 * of its own.
	 */
	if (tree->cells && LEAF_HEAD + 2 * (tree->cells + 1) + cell + DB_TREE_FIRST > tree->start)
		leave_leaf(tree, pages);
	tree->start -= (uint32_t)cell;
	put_u16(tree->leaf + LEAF_HEAD + 2 * tree->cells, tree->start);
	at = db_varint(db_varint(tree->leaf + tree->start, len), (uint64_t)number);
	copy(record, 0, local, at);
	if (chain)
		put_u32(at + local, chain);
	tree->cells++;
	tree->last = number;
}

/* Writes all but the root. Returns the level whose children are the root's. */
static const struct db_level *gather(struct db_tree *tree, struct db_pages *pages)
{
	size_t number = 0;

	leave_leaf(tree, pages);
	while (tree->levels[number].nr > DB_TREE_CHILDREN || tree->levels[number + 1].nr) {
		if (tree->levels[number].nr > DB_TREE_CHILDREN)
			raise_children(tree, pages, number, DB_TREE_CHILDREN - 1);
		raise_children(tree, pages, number, tree->levels[number].nr);
		number++;
	}
	return &tree->levels[number];
}

uint32_t db_tree_finish(struct db_tree *tree, struct db_pages *pages)
{
	const struct db_level *level;

	if (!tree->levels[0].nr)
		return write_leaf(tree, pages);
	level = gather(tree, pages);
	put_inner(level->at, level->nr, db_pages_add(pages), 0);
	return pages->nr;
}

void db_tree_finish_first(struct db_tree *tree, struct db_pages *pages, uint8_t *first)
{
	const struct db_level *level;
	size_t used = LEAF_HEAD + 2 * tree->cells;

	if (!tree->levels[0].nr && DB_TREE_FIRST + used <= tree->start) {
		if (tree->leaf) {
			memcpy(first + tree->start, tree->leaf + tree->start, DB_PAGE - tree->start);
			memcpy(first + DB_TREE_FIRST + LEAF_HEAD, tree->leaf + LEAF_HEAD, 2 * tree->cells);
		}
		end_leaf(tree, first, DB_TREE_FIRST);
		return;
	}
	level = gather(tree, pages);
	put_inner(level->at, level->nr, first, DB_TREE_FIRST);
}

/* SQLite uses the bytes from this offset on for locks; their page is unused. */
enum { LOCKED = 0x40000000, WRITE_SIZE = 1 << 18 };

int db_pages_init(struct db_pages *pages, int fd, struct fail *fail)
{
	*pages = (struct db_pages){ .fd = fd };
	if (!out_init(&pages->out, WRITE_SIZE + DB_PAGE))
		return fail_memory(fail);
	/* Reserves the first page. */
	memset(db_pages_add(pages), 0, DB_PAGE);
	return 0;
}

void db_pages_release(struct db_pages *pages)
{
	out_release(&pages->out);
}

void db_pages_failed(struct db_pages *pages, int error, const char *what)
{
	if (!pages->error)
		pages->error = fail_set(&pages->failure, error, "cannot write the database: %s", what);
}

static void flush(struct db_pages *pages)
{
	int r = pages->error ? 0 : out_flush(&pages->out, pages->fd);

	if (r)
		db_pages_failed(pages, r, strerror(-r));
	out_clear(&pages->out);
}

uint32_t db_pages_after(uint32_t nr)
{
	return nr + 1 == LOCKED / DB_PAGE + 1 ? nr + 2 : nr + 1;
}

static uint8_t *add(struct db_pages *pages)
{
	uint8_t *page;

	if (out_len(&pages->out) >= WRITE_SIZE)
		flush(pages);
	out_need(&pages->out, DB_PAGE);
	page = (uint8_t *)pages->out.at;
	pages->out.at += DB_PAGE;
	return page;
}

uint8_t *db_pages_add(struct db_pages *pages)
{
	uint32_t nr = db_pages_after(pages->nr);

	if (nr > pages->nr + 1)
		memset(add(pages), 0, DB_PAGE);
	pages->nr = nr;
	return add(pages);
}

void db_pages_finish(struct db_pages *pages, const uint8_t first[DB_PAGE])
{
	int r;

	flush(pages);
	if (pages->error)
		return;
	r = io_pwrite(pages->fd, first, DB_PAGE, 0);
	if (r)
		db_pages_failed(pages, r, strerror(-r));
}

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
