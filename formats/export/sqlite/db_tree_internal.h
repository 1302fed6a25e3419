/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_SQLITE_DB_TREE_INTERNAL_H
#define WEFT_FORMATS_EXPORT_SQLITE_DB_TREE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct db_pages;

/*
 * The B-tree of a table, built from its leaves up: rows come in the order of their numbers, so a full leaf is written
 * and never changed. In memory are the last leaf, and for each level above it the children of one page.
 * Invariant: every page but the root has at least one cell; an inner page has at least two children.
 */
enum { DB_TREE_CHILDREN = 1000, DB_TREE_LEVELS = 6, DB_TREE_FIRST = 100 };

struct db_child {
	uint32_t page;
	int64_t last; /* the number of its last row */
};

struct db_tree {
	uint8_t *leaf;
	uint32_t cells, start; /* number of cells in the leaf; offset of the last cell */
	int64_t last;
	struct db_level {
		struct db_child *at;
		size_t nr;
	} levels[DB_TREE_LEVELS];
	bool starved; /* memory ran out: rows are missing */
};

/* Allocates nothing. */
void db_tree_init(struct db_tree *tree);
void db_tree_release(struct db_tree *tree);

/* A record, in two parts. */
struct db_record {
	const uint8_t *head, *body;
	size_t head_len, body_len;
};
void db_tree_add(struct db_tree *tree, struct db_pages *pages, int64_t number, const struct db_record *record);

/* Writes the remaining pages and returns the number of the root page. */
uint32_t db_tree_finish(struct db_tree *tree, struct db_pages *pages);

/*
 * Like db_tree_finish(), for the tree whose root is the file's first page; the first DB_TREE_FIRST bytes of that page
 * are not changed.
 */
void db_tree_finish_first(struct db_tree *tree, struct db_pages *pages, uint8_t *first);

/* Writes an SQLite varint and returns its end; the value must be below 2^56. */
uint8_t *db_varint(uint8_t *at, uint64_t value);

#endif
