// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/sqlite/db_tree_internal.h"

#include "formats/export/sqlite/db_pages_internal.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

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
