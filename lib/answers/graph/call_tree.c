// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/graph/call_tree.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"

void call_tree_release(struct call_tree *tree)
{
	free(tree->nodes);
	*tree = (struct call_tree){ .nodes = NULL };
}

static uint32_t add(struct call_tree *tree, uint32_t parent, uint64_t func)
{
	struct call_node *node = tree->nr < CALL_TREE_NONE ? vec_push(tree->nodes, tree->nr) : NULL;

	if (!node)
		return CALL_TREE_NONE;
	*node = (struct call_node){ .func = func, .parent = parent, .first = CALL_TREE_NONE, .next = CALL_TREE_NONE };
	return (uint32_t)(tree->nr - 1);
}

bool call_tree_begin(struct call_tree *tree, uint64_t func)
{
	tree->nr = 0;
	return add(tree, CALL_TREE_NONE, func) != CALL_TREE_NONE;
}

/* The node that was searched last moves to the front, because most calls are made in a loop. */
static void move_to_front(struct call_tree *tree, uint32_t parent, uint32_t before, uint32_t node)
{
	if (before == CALL_TREE_NONE)
		return;
	tree->nodes[before].next = tree->nodes[node].next;
	tree->nodes[node].next = tree->nodes[parent].first;
	tree->nodes[parent].first = node;
}

uint32_t call_tree_child(struct call_tree *tree, uint32_t parent, uint64_t func)
{
	uint32_t before = CALL_TREE_NONE, node = tree->nodes[parent].first;

	while (node != CALL_TREE_NONE && tree->nodes[node].func != func) {
		before = node;
		node = tree->nodes[node].next;
	}
	if (node != CALL_TREE_NONE) {
		move_to_front(tree, parent, before, node);
		return node;
	}
	node = add(tree, parent, func);
	if (node == CALL_TREE_NONE)
		return node;
	tree->nodes[node].next = tree->nodes[parent].first;
	tree->nodes[parent].first = node;
	return node;
}

void call_tree_settle(struct call_tree *tree)
{
	for (size_t i = tree->nr; i--;) {
		struct call_node *node = &tree->nodes[i];
		uint64_t below = 0, known = node->total > node->self ? node->total - node->self : 0;

		for (uint32_t child = node->first; child != CALL_TREE_NONE; child = tree->nodes[child].next)
			below += tree->nodes[child].total;
		if (below <= known)
			node->self = node->total - below;
		else if (below - known <= node->self)
			node->self -= below - known;
		else {
			node->self = 0;
			node->total = below;
		}
	}
}

static void sum(struct call_node *into, const struct call_node *node)
{
	into->calls += node->calls;
	into->total += node->total;
	into->self += node->self;
	into->interrupts += node->interrupts;
	if (node->longest > into->longest) {
		into->longest = node->longest;
		into->longest_at = node->longest_at;
	}
}

bool call_tree_merge(struct call_tree *tree, const struct call_tree *other)
{
	uint32_t *same = calloc(other->nr, sizeof(*same));
	bool ok = same;

	for (size_t i = 0; ok && i < other->nr; i++) {
		const struct call_node *node = &other->nodes[i];

		if (i)
			same[i] = call_tree_child(tree, same[node->parent], node->func);
		ok = same[i] != CALL_TREE_NONE;
		if (ok)
			sum(&tree->nodes[same[i]], node);
	}
	free(same);
	return ok;
}

struct ranked {
	uint64_t value;
	uint32_t parent, node;
};

/*
 * Orders nodes by parent, then the largest first, then in the order in which they were made, so that the same events
 * give the same tree.
 */
static int compare(const void *one, const void *two)
{
	const struct ranked *a = one, *b = two;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static uint64_t value_of(const struct call_node *node, enum call_tree_order order)
{
	switch (order) {
	case CALL_TREE_BY_TOTAL:
		return node->total;
	case CALL_TREE_BY_SELF:
		return node->self;
	case CALL_TREE_BY_CALLS:
		return node->calls;
	case CALL_TREE_BY_LONGEST:
		return node->longest;
	}
	return 0;
}

bool call_tree_sort(struct call_tree *tree, enum call_tree_order order)
{
	struct ranked *ranked = calloc(tree->nr ? tree->nr : 1, sizeof(*ranked));

	if (!ranked)
		return false;
	for (size_t i = 0; i < tree->nr; i++)
		ranked[i] = (struct ranked){ value_of(&tree->nodes[i], order), tree->nodes[i].parent, (uint32_t)i };
	qsort(ranked, tree->nr, sizeof(*ranked), compare);
	for (size_t i = 0; i < tree->nr; i++) {
		bool last = i + 1 == tree->nr || ranked[i + 1].parent != ranked[i].parent;
		bool first = !i || ranked[i - 1].parent != ranked[i].parent;

		tree->nodes[ranked[i].node].next = last ? CALL_TREE_NONE : ranked[i + 1].node;
		if (first && ranked[i].parent != CALL_TREE_NONE)
			tree->nodes[ranked[i].parent].first = ranked[i].node;
	}
	free(ranked);
	return true;
}

uint32_t call_tree_next(const struct call_tree *tree, uint32_t node, bool enter)
{
	if (enter && tree->nodes[node].first != CALL_TREE_NONE)
		return tree->nodes[node].first;
	while (node != CALL_TREE_NONE && tree->nodes[node].next == CALL_TREE_NONE)
		node = tree->nodes[node].parent;
	return node == CALL_TREE_NONE ? node : tree->nodes[node].next;
}

/* Whether a caller of the node is this function. */
static bool is_inside(const struct call_tree *tree, uint32_t node, uint64_t func)
{
	while ((node = tree->nodes[node].parent) != CALL_TREE_NONE)
		if (tree->nodes[node].parent != CALL_TREE_NONE && tree->nodes[node].func == func)
			return true;
	return false;
}

bool call_tree_below(const struct call_tree *tree, uint64_t func, struct call_tree *ret)
{
	/* The node of `ret` that stands for a node of the tree; the root's are not below the function. */
	uint32_t *same = calloc(tree->nr, sizeof(*same));
	bool ok = same && call_tree_begin(ret, func);

	for (size_t i = 0; ok && i < tree->nr; i++) {
		const struct call_node *node = &tree->nodes[i];
		uint32_t above = i ? same[node->parent] : CALL_TREE_NONE;

		if (above != CALL_TREE_NONE)
			same[i] = call_tree_child(ret, above, node->func);
		else
			same[i] = i && node->func == func ? 0 : CALL_TREE_NONE;
		ok = above == CALL_TREE_NONE || same[i] != CALL_TREE_NONE;
		if (ok && same[i] != CALL_TREE_NONE)
			sum(&ret->nodes[same[i]], node);
	}
	free(same);
	return ok;
}

/* Nobody called an interrupt: which function it hit is chance. */
static uint32_t caller_of(const struct call_tree *tree, uint32_t node, uint64_t *ret_func)
{
	const struct call_node *called = &tree->nodes[node];
	bool hit = called->calls && called->interrupts == called->calls;

	if (called->parent == CALL_TREE_NONE || (!hit && tree->nodes[called->parent].parent == CALL_TREE_NONE))
		return CALL_TREE_NONE;
	*ret_func = hit ? CALL_TREE_INTERRUPT : tree->nodes[called->parent].func;
	return hit ? 0 : called->parent;
}

bool call_tree_above(const struct call_tree *tree, uint64_t func, struct call_tree *ret)
{
	bool ok = call_tree_begin(ret, func);

	for (size_t i = 1; ok && i < tree->nr; i++) {
		uint32_t into = 0, at = (uint32_t)i;
		uint64_t caller;

		if (tree->nodes[i].func != func || is_inside(tree, at, func))
			continue;
		sum(&ret->nodes[0], &tree->nodes[i]);
		while (ok && (at = caller_of(tree, at, &caller)) != CALL_TREE_NONE) {
			into = call_tree_child(ret, into, caller);
			ok = into != CALL_TREE_NONE;
			if (ok)
				sum(&ret->nodes[into], &tree->nodes[i]);
		}
	}
	return ok;
}
