// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A flame graph as one SVG file that needs nothing else: frames as wide as their weight, callers below. Frames of a
 * parent that are narrower than a thousandth of the whole become one frame. Names come from the traced machine: they
 * are escaped, and the script only reads them as text. With --diff a frame is red when its share of the whole is larger
 * than it was in the other file, and blue when it is smaller, the more so the larger the difference; white is none.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/export/exports_internal.h"
#include "formats/export/flame/texts_internal.h"
#include "formats/export/weighed_internal.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/scale.h"
#include "lib/ground/base/utf8.h"

enum {
	WIDTH = 1200,
	ROW = 17,
	HEAD = 46,
	FOOT = 30,
	SMALL = 1000,
	CHARACTER = 73,
	MILLION = 1000000,
	DARKEST = 200,
	DEPTH_MAX = 512,
	NO_FRAME = UINT32_MAX
};

/* A node and its children, as a list in the order of their names. */
struct box {
	uint64_t weight, was; /* was: the weight in the other file */
	uint32_t child, next; /* NO_FRAME: none */
};

struct flame {
	const struct stacks *stacks;
	const struct stack_node *nodes;
	struct box *boxes;
	size_t nr;
	uint64_t total;
	const uint64_t *was; /* for each node its own weight in the other file; NULL without --diff */
	uint64_t was_total;
	int64_t most; /* the largest difference of a share */
	enum weight weight;
	unsigned depth; /* depth of the deepest frame that is drawn */
	struct out *out;
};

static void put_xml(struct out *out, const char *at, size_t len, size_t columns)
{
	const char *end = at + len;

	for (size_t n = 0; at < end && n < columns; n++) {
		size_t size = utf8_len(at, (size_t)(end - at));

		if (*at == '<' || *at == '>' || *at == '&' || *at == '"' || *at == '\'')
			out_f(out, "&#%d;", *at);
		else if (!size || (uint8_t)*at < ' ' || *at == 0x7f ||
			 (size == 3 && !memcmp(at, "\xef\xbf", 2) && (uint8_t)at[2] >= 0xbe))
			out_mem(out, "\xef\xbf\xbd", 3);
		else
			out_mem(out, at, size);
		at += size ? size : 1;
	}
}

static int by_name(const struct flame *flame, uint32_t a, uint32_t b)
{
	size_t len_a, len_b;
	const char *name_a = stacks_name(flame->stacks, flame->nodes[a].name, &len_a);
	const char *name_b = stacks_name(flame->stacks, flame->nodes[b].name, &len_b);
	int r = memcmp(name_a, name_b, len_a < len_b ? len_a : len_b);

	return r ? r : (len_a > len_b) - (len_a < len_b);
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct flame *flame = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (flame->nodes[x].parent != flame->nodes[y].parent)
		return flame->nodes[x].parent < flame->nodes[y].parent ? -1 : 1;
	return by_name(flame, x, y);
}

/*
 * Sums the weights of each subtree, which works because a node comes after its parent. Children become lists, by name.
 */
static bool grow(struct flame *flame)
{
	cleanup_free uint32_t *order = calloc(flame->nr + 1, sizeof(*order));

	flame->boxes = calloc(flame->nr + 1, sizeof(*flame->boxes));
	if (!order || !flame->boxes)
		return false;
	for (uint32_t i = 0; i < flame->nr; i++) {
		flame->boxes[i] = (struct box){ flame->nodes[i].weights[flame->weight], flame->was ? flame->was[i] : 0,
						NO_FRAME, NO_FRAME };
		order[i] = i;
	}
	for (size_t i = flame->nr - 1; i > 0; i--) {
		flame->boxes[flame->nodes[i].parent].weight += flame->boxes[i].weight;
		flame->boxes[flame->nodes[i].parent].was += flame->boxes[i].was;
	}
	qsort_r(order + 1, flame->nr - 1, sizeof(*order), compare, flame);
	for (size_t i = flame->nr - 1; i > 0; i--) {
		struct box *parent = &flame->boxes[flame->nodes[order[i]].parent];

		flame->boxes[order[i]].next = parent->child;
		parent->child = order[i];
	}
	return true;
}

static bool is_small(const struct flame *flame, uint64_t weight)
{
	return weight < flame->total / SMALL || !weight;
}

/* The difference of the shares in millionths. */
static int64_t change_of(const struct flame *flame, uint64_t weight, uint64_t was)
{
	int64_t share = flame->total ? (int64_t)scale_mul_div(weight, MILLION, flame->total) : 0;

	return share - (flame->was_total ? (int64_t)scale_mul_div(was, MILLION, flame->was_total) : 0);
}

static void measure(struct flame *flame, uint32_t node, unsigned depth)
{
	int64_t change = llabs(change_of(flame, flame->boxes[node].weight, flame->boxes[node].was));

	if (depth > flame->depth)
		flame->depth = depth;
	if (change > flame->most)
		flame->most = change;
	if (depth + 1 >= DEPTH_MAX)
		return;
	for (uint32_t i = flame->boxes[node].child; i != NO_FRAME; i = flame->boxes[i].next)
		if (!is_small(flame, flame->boxes[i].weight))
			measure(flame, i, depth + 1);
}

/*
 * Warm colours chosen by the name, so that a function has the same colour everywhere; grey for frames that are not
 * functions.
 */
static void put_color(struct out *out, const char *name, size_t len, unsigned depth)
{
	uint32_t hash = 2166136261;

	if (!depth || *name == '[') {
		out_str(out, "rgb(200,200,200)");
		return;
	}
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619;
	out_f(out, "rgb(%u,%u,%u)", 205 + hash % 50, hash / 64 % 180 + 40, hash / 16384 % 60);
}

static void put_change(const struct flame *flame, uint64_t weight, uint64_t was, struct out *out)
{
	int64_t change = change_of(flame, weight, was);
	int rest = 255 - (int)(flame->most ? llabs(change) * DARKEST / flame->most : 0);

	out_f(out, "rgb(%d,%d,%d)", change < 0 ? rest : 255, rest, change > 0 ? rest : 255);
}

/* Writes value * WIDTH / total, with two decimals. */
static void put_place(const struct flame *flame, uint64_t value, struct out *out)
{
	out_decimal(out, (int64_t)scale_mul_div(value, WIDTH * 100, flame->total ? flame->total : 1), 2);
}

static void put_weight(const struct flame *flame, uint64_t weight, struct out *out)
{
	uint64_t parts = flame->total ? scale_round_mul_div(weight, 10000, flame->total) : 0;

	if (flame->weight == WEIGHT_COUNT) {
		out_u64(out, weight);
	} else {
		out_decimal(out, (int64_t)scale_round(weight, 1000), 3);
		out_str(out, " ms");
	}
	out_str(out, ", ");
	out_decimal(out, (int64_t)parts, 2);
	out_char(out, '%');
}

static void put_was(const struct flame *flame, uint64_t was, struct out *out)
{
	out_str(out, ", was ");
	out_decimal(out, flame->was_total ? (int64_t)scale_mul_div(was, 10000, flame->was_total) : 0, 2);
	out_char(out, '%');
}

static void put_frame(const struct flame *flame, const char *name, size_t len, uint64_t x, uint64_t weight,
		      uint64_t was, unsigned depth)
{
	unsigned y = HEAD + (flame->depth - depth) * ROW;
	struct out *out = flame->out;
	uint64_t room = scale_mul_div(weight, WIDTH * 10, flame->total ? flame->total : 1);

	out_f(out,
	      "<g class=\"f\" tabindex=\"0\" data-x=\"%" PRIu64 "\" data-w=\"%" PRIu64 "\" data-d=\"%u\" data-n=\"", x,
	      weight, depth);
	put_xml(out, name, len, len);
	out_str(out, "\"><title>");
	put_xml(out, name, len, len);
	out_str(out, " (");
	put_weight(flame, weight, out);
	if (flame->was)
		put_was(flame, was, out);
	out_str(out, ")</title><rect x=\"");
	put_place(flame, x, out);
	out_f(out, "\" y=\"%u\" width=\"", y);
	put_place(flame, weight, out);
	out_f(out, "\" height=\"%d\" fill=\"", ROW - 1);
	if (flame->was)
		put_change(flame, weight, was, out);
	else
		put_color(out, name, len, depth);
	out_str(out, "\"/><text x=\"");
	put_place(flame, x + 3 * flame->total / WIDTH, out);
	out_f(out, "\" y=\"%u\">", y + 12);
	if (room >= 60 + 3 * CHARACTER)
		put_xml(out, name, len, (size_t)((room - 60) / CHARACTER));
	out_str(out, "</text></g>\n");
}

static void put_tree(const struct flame *flame, uint32_t node, uint64_t x, unsigned depth)
{
	size_t len, few = 0;
	const char *name = stacks_name(flame->stacks, flame->nodes[node].name, &len);
	uint64_t small = 0, small_was = 0;
	char text[64];

	put_frame(flame, name, len, x, flame->boxes[node].weight, flame->boxes[node].was, depth);
	if (depth + 1 >= DEPTH_MAX)
		return;
	for (uint32_t i = flame->boxes[node].child; i != NO_FRAME; i = flame->boxes[i].next) {
		if (is_small(flame, flame->boxes[i].weight)) {
			small += flame->boxes[i].weight;
			small_was += flame->boxes[i].weight ? flame->boxes[i].was : 0;
			few += flame->boxes[i].weight > 0;
			continue;
		}
		put_tree(flame, i, x, depth + 1);
		x += flame->boxes[i].weight;
	}
	if (small && !is_small(flame, small) && depth < flame->depth) {
		snprintf(text, sizeof(text), "[%zu small ones]", few);
		put_frame(flame, text, strlen(text), x, small, small_was, depth + 1);
	}
}

static void put_head(const struct flame *flame)
{
	unsigned height = HEAD + (flame->depth + 1) * ROW + FOOT;
	struct out *out = flame->out;

	out_f(out,
	      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" "
	      "height=\"%u\" data-width=\"%d\" data-total=\"%" PRIu64
	      "\">\n<title>flame graph by %s</title>\n<style>\n",
	      WIDTH, height, WIDTH, height, WIDTH, flame->total, weight_names[flame->weight]);
	out_str(out, flame_page_css);
	out_f(out,
	      "</style>\n<text id=\"title\" class=\"head\" x=\"%d\" y=\"20\" text-anchor=\"middle\">flame graph by "
	      "%s, ",
	      WIDTH / 2, weight_names[flame->weight]);
	if (flame->weight == WEIGHT_COUNT) {
		out_u64(out, flame->total);
		out_str(out, " stacks");
	} else {
		out_decimal(out, (int64_t)scale_round(flame->total, 1000), 3);
		out_str(out, " ms");
	}
	if (flame->was)
		out_str(out, "; red: a larger share than in the other file, blue: a smaller one");
	out_f(out,
	      "</text>\n<text id=\"reset\" class=\"button\" x=\"10\" y=\"20\" style=\"display:none\">reset "
	      "zoom</text>\n"
	      "<text id=\"search\" class=\"button\" x=\"%d\" y=\"20\" text-anchor=\"end\">search</text>\n"
	      "<text id=\"details\" class=\"head\" x=\"10\" y=\"%u\"></text>\n"
	      "<text id=\"matched\" class=\"head\" x=\"%d\" y=\"%u\" text-anchor=\"end\"></text>\n",
	      WIDTH - 10, height - 10, WIDTH - 10, height - 10);
}

/* Stacks that only the other file has are not drawn. */
static void tell_gone(const struct flame *flame, struct export *export)
{
	uint64_t gone = 0, part;

	for (size_t i = 0; flame->was && i < flame->nr; i++)
		if (!flame->boxes[i].weight)
			gone += flame->was[i];
	part = gone ? scale_round_mul_div(gone, 10000, flame->was_total) : 0;
	if (gone)
		export_note(export,
			    "--diff: %" PRIu64 ".%02" PRIu64
			    " %% of that file is in stacks that the exported file does not have: they have no "
			    "width; --to folded has them",
			    part / 100, part % 100);
}

static void flame_end(struct export *export)
{
	struct weighed *weighed = (struct weighed *)export;
	struct stacks *stacks = weighed->stacks;
	struct flame flame = { .stacks = stacks, .out = export->out };

	if (!weighed_end(weighed))
		return;
	flame.was = weighed->was;
	flame.was_total = weighed->was_total;
	flame.weight = stacks_weight(stacks);
	flame.total = stacks_total(stacks, flame.weight);
	flame.nodes = stacks_nodes(stacks, &flame.nr);
	if (!grow(&flame)) {
		free(flame.boxes);
		export_no_memory(export);
		return;
	}
	measure(&flame, 0, 0);
	put_head(&flame);
	tell_gone(&flame, export);
	put_tree(&flame, 0, 0, 0);
	out_str(export->out, "<script><![CDATA[\n");
	out_str(export->out, flame_page_js);
	out_str(export->out, "]]></script>\n</svg>\n");
	free(flame.boxes);
}

const struct export_ops flame_export = {
	.name = "flame",
	.summary = "a flame graph: one SVG file, for a browser",
	.takes_weight = true,
	.needs_all = true,
	.takes_diff = true,
	.of_tasks = true,
	.create = weighed_new,
	.free = weighed_free,
	.event = weighed_event,
	.end = flame_end,
};
