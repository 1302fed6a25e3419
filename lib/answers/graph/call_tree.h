/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_GRAPH_CALL_TREE_H
#define WEFT_ANSWERS_GRAPH_CALL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sums of which function called which: a node stands for all calls of one function through the same chain of callers.
 * Memory grows with the number of such chains, not of calls. Node 0 is the root; a node comes after its parent.
 */
enum { CALL_TREE_NONE = UINT32_MAX };

/* Stand in the place of a caller's address where there is no caller. */
enum { CALL_TREE_INTERRUPT = 1, CALL_TREE_NOT_SEEN = 2 };

struct call_node {
	uint64_t func;
	uint64_t calls, total, self;
	uint64_t interrupts;          /* how many of `calls` are interrupts that hit the parent */
	uint64_t longest, longest_at; /* of the calls, and when it began; 0: the owner does not say */
	uint32_t parent, first, next; /* CALL_TREE_NONE: there is none */
};

struct call_tree {
	struct call_node *nodes;
	size_t nr;
};

void call_tree_release(struct call_tree *tree);

/* Drops all nodes and adds a new root. False when memory runs out. */
bool call_tree_begin(struct call_tree *tree, uint64_t func);

/* Returns the child of a node, and makes it if there is none; CALL_TREE_NONE when memory runs out. */
uint32_t call_tree_child(struct call_tree *tree, uint32_t parent, uint64_t func);

/*
 * Makes the times of parents and children add up, also where the end of a call was not seen: such a call lasts as long
 * as the calls below it, and that time is not the parent's own.
 */
void call_tree_settle(struct call_tree *tree);

/* Adds the sums of a tree with the same root. False when memory runs out. */
bool call_tree_merge(struct call_tree *tree, const struct call_tree *other);

enum call_tree_order { CALL_TREE_BY_TOTAL, CALL_TREE_BY_SELF, CALL_TREE_BY_CALLS, CALL_TREE_BY_LONGEST };

/* Orders the children of each node, the largest first. False when memory runs out. */
bool call_tree_sort(struct call_tree *tree, enum call_tree_order order);

/*
 * Makes the tree of one function out of that of all: what its calls called, in whichever place they are, or who called
 * them, where each node has the times of the function when it was called this way. A call inside another one of the
 * function is not counted again. False when memory runs out; without a call, the root has none.
 */
bool call_tree_below(const struct call_tree *tree, uint64_t func, struct call_tree *ret);
bool call_tree_above(const struct call_tree *tree, uint64_t func, struct call_tree *ret);

/*
 * Returns the node after this one, parents first: 0 is the first node, CALL_TREE_NONE follows the last. With `enter`
 * false it skips the nodes below this one.
 */
uint32_t call_tree_next(const struct call_tree *tree, uint32_t node, bool enter);

#endif
