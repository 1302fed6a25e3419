/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_JSON_TREE_H
#define WEFT_GROUND_BASE_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * One JSON text (RFC 8259) of a stranger, as a tree of the places of its values. It borrows the text.
 * Invariants: depth and number of values are bounded; every place lies inside the text; strings were checked, so that
 * they can be decoded.
 */
enum { JSON_TREE_DEPTH = 32, JSON_TREE_MAX = 1 << 14 };

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_node {
	enum json_kind kind;
	const char *at; /* the value as it is written, with the quotes of a string */
	size_t len;
	uint32_t first, next; /* the first value inside, and the next one beside it; 0: none. Keys are values, too. */
};

struct json_tree {
	struct json_node *nodes; /* the first one is unused, the second one is the text's value */
	size_t nr;
};

int must_check json_tree_parse(const char *text, size_t len, struct json_tree *ret, struct fail *fail);
/* The same of so many values at most, where JSON_TREE_MAX are too few. */
int must_check json_tree_parse_most(const char *text, size_t len, size_t most, struct json_tree *ret,
				    struct fail *fail);
void json_tree_release(struct json_tree *tree);

const struct json_node *json_tree_top(const struct json_tree *tree);
/* The value of a key of an object, of several the first; NULL: `of` is NULL or no object, or has no such key. */
const struct json_node *json_tree_member(const struct json_tree *tree, const struct json_node *of, const char *key);

/* Appends the decoded string. False: it is none, has a NUL, or there is no memory. */
bool json_tree_string(const struct json_node *node, struct buf *into);
/* Whether it is a string, written without escapes, with these bytes. */
bool json_tree_is(const struct json_node *node, const char *text);
/* False: it is no whole number, or too large. */
bool json_tree_number(const struct json_node *node, int64_t *ret);

#endif
