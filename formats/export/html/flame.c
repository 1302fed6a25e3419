// SPDX-License-Identifier: LGPL-2.1-or-later
/* The flame graph of a timeline: its tree as JSON. html_flame_view.js draws it. */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/export/html/html_internal.h"
#include "formats/export/stacks_internal.h"

/*
 * A frame below a thousandth of the total is merged into "small ones"; the limit rises if the file would become too
 * large.
 */
enum { SMALL = 1000, FRAME_SIZE = 48, SHARE = 8 };

struct tree {
	const struct stack_node *nodes;
	size_t nr;
	enum weight weight;
	uint64_t total;
	uint64_t *weights; /* weights of whole subtrees */
	uint32_t *places;  /* the written nodes, and the names + 1 */
	uint32_t *names;
};

/* Sums the weights; this works in one pass because a node comes after its parent. */
static bool weigh(struct tree *tree, const struct stacks *stacks)
{
	tree->nodes = stacks_nodes(stacks, &tree->nr);
	tree->weight = stacks_weight(stacks);
	tree->total = stacks_total(stacks, tree->weight);
	tree->weights = calloc(tree->nr + 1, sizeof(*tree->weights));
	tree->places = calloc(tree->nr + 1, sizeof(*tree->places));
	tree->names = calloc(stacks_names(stacks) + 1, sizeof(*tree->names));
	if (!tree->weights || !tree->places || !tree->names)
		return false;
	for (size_t i = tree->nr; i-- > 0;) {
		tree->weights[i] += tree->nodes[i].weights[tree->weight];
		if (i)
			tree->weights[tree->nodes[i].parent] += tree->weights[i];
	}
	return true;
}

static void tree_release(struct tree *tree)
{
	free(tree->weights);
	free(tree->places);
	free(tree->names);
}

/* The smallest weight of a frame that is not merged. */
static uint64_t least_of(const struct tree *tree, uint64_t room)
{
	for (uint64_t parts = SMALL;; parts /= 2) {
		uint64_t least = tree->total / parts, frames = 0;

		least += !least;
		for (size_t i = 0; i < tree->nr; i++)
			frames += tree->weights[i] >= least;
		if (frames * FRAME_SIZE <= room || parts == 1)
			return least;
	}
}

static void put_names(struct html *html, struct tree *tree, uint64_t least)
{
	struct out *out = html->export.out;
	uint32_t nr = 0;

	out_str(out, ",\"names\":[");
	for (size_t i = 0; i < tree->nr; i++) {
		uint32_t *place = &tree->names[tree->nodes[i].name];
		const char *name;
		size_t len;

		if (tree->weights[i] < least || *place)
			continue;
		*place = ++nr;
		name = stacks_name(html->stacks, tree->nodes[i].name, &len);
		if (nr > 1)
			out_char(out, ',');
		html_put_string(html, name, len < HTML_NAME_MAX ? len : HTML_NAME_MAX);
	}
	out_str(out, "],\"frames\":[");
}

/*
 * Writes [the frame below, the name, the weight with all frames above, its own weight]; the first is the root. A parent
 * weighs at least as much as its child.
 */
static void put_frames(struct html *html, struct tree *tree, uint64_t least)
{
	struct out *out = html->export.out;
	uint32_t nr = 0;

	for (size_t i = 0; i < tree->nr; i++) {
		const struct stack_node *node = &tree->nodes[i];

		if (tree->weights[i] < least)
			continue;
		tree->places[i] = nr;
		out_f(out, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 "]", nr ? "," : "",
		      tree->places[node->parent], tree->names[node->name] - 1, tree->weights[i],
		      node->weights[tree->weight]);
		nr++;
	}
	out_char(out, ']');
}

void html_put_flame(struct html *html)
{
	struct out *out = html->export.out;
	struct tree tree = { .nr = 0 };

	out_str(out, "\"flame\":");
	if (!weigh(&tree, html->stacks)) {
		export_no_memory(&html->export);
	} else if (tree.total) {
		uint64_t least = least_of(&tree, html->limit / SHARE);

		out_f(out, "{\"by\":\"%s\",\"ns\":%s", weight_names[tree.weight],
		      tree.weight == WEIGHT_COUNT ? "false" : "true");
		put_names(html, &tree, least);
		put_frames(html, &tree, least);
		out_char(out, '}');
	} else {
		out_str(out, "null");
	}
	out_str(out, ",\n");
	tree_release(&tree);
}

/* Notes about the stacks are not notes of the timeline. */
void html_end_flame(struct html *html)
{
	struct export apart = { .reader = html->export.reader };

	stacks_end(html->stacks, &apart);
	stacks_close(html->stacks);
	if (apart.error)
		export_no_memory(&html->export);
	buf_release(&apart.notes);
}
