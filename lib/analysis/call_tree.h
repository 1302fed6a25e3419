/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_CALL_TREE_H
#define WEFT_ANALYSIS_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which function called which, summed up: a node stands for all calls of one function that came about in the same way.
 * It grows with such ways, not with calls. Node 0 is the root; a node comes after its parent.
 */
enum { CALL_TREE_NONE = UINT32_MAX };

struct call_node {
	uint64_t func;
	uint64_t calls, total, self;
	uint64_t interrupts;          /* of `calls`, those made by an interrupt that hit the parent */
	uint32_t parent, first, next; /* CALL_TREE_NONE: there is none */
};

struct call_tree {
	struct call_node *nodes;
	size_t nr;
};

void call_tree_release(struct call_tree *tree);

/* Forgets all nodes but a new root. False without memory. */
bool call_tree_begin(struct call_tree *tree, uint64_t func);

/* The child of a node, made where there is none; CALL_TREE_NONE without memory. */
uint32_t call_tree_child(struct call_tree *tree, uint32_t parent, uint64_t func);

/*
 * Makes parents and children add up, of calls whose end was not seen, too: those last as long as the calls below them,
 * which is then no time of the parent's own.
 */
void call_tree_settle(struct call_tree *tree);

/* Adds the sums of a tree of the same root. False without memory. */
bool call_tree_merge(struct call_tree *tree, const struct call_tree *other);

/* Orders the children of each node, the one with the largest total first. False without memory. */
bool call_tree_sort(struct call_tree *tree);

/*
 * The node after this one, parents first: 0 is the first, CALL_TREE_NONE follows the last. `enter` false: not those
 * below it.
 */
uint32_t call_tree_next(const struct call_tree *tree, uint32_t node, bool enter);

#endif
