// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Folded stacks: a line for each stack has its frames, the outermost first, with semicolons between them, a blank, and
 * the weight of the innermost frame itself. flamegraph.pl, inferno, speedscope and Perfetto read it. With --diff the
 * weight in the other file comes first, as the first two programs take it. In names a semicolon becomes a colon, and a
 * character that is not printable a '?'.
 */
#include <stdlib.h>

#include "formats/export/exports_internal.h"
#include "formats/export/weighed_internal.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/utf8.h"

enum { DEPTH_MAX = 4096 };

static void put_name(const struct stacks *stacks, uint32_t name, struct out *out)
{
	size_t len;
	const char *at = stacks_name(stacks, name, &len), *end = at + len;

	while (at < end) {
		size_t size = utf8_len(at, (size_t)(end - at));

		if (size > 1)
			out_mem(out, at, size);
		else
			out_char(out, *at == ';' ? ':' : !size || *at < ' ' || *at == 0x7f ? '?' : *at);
		at += size ? size : 1;
	}
}

static void folded_end(struct export *export)
{
	struct weighed *weighed = (struct weighed *)export;
	const struct stacks *stacks = weighed->stacks;
	uint32_t path[DEPTH_MAX];
	const struct stack_node *nodes;
	enum weight weight;
	size_t nr, depth;

	if (!weighed_end(weighed))
		return;
	weight = stacks_weight(stacks);
	nodes = stacks_nodes(stacks, &nr);
	for (uint32_t i = 1; i < nr; i++) {
		if (!nodes[i].weights[weight] && !(weighed->was && weighed->was[i]))
			continue;
		depth = 0;
		for (uint32_t node = i; node && depth < DEPTH_MAX; node = nodes[node].parent)
			path[depth++] = nodes[node].name;
		while (depth) {
			put_name(stacks, path[--depth], export->out);
			out_char(export->out, depth ? ';' : ' ');
		}
		if (weighed->was) {
			out_u64(export->out, weighed->was[i]);
			out_char(export->out, ' ');
		}
		out_u64(export->out, nodes[i].weights[weight]);
		out_char(export->out, '\n');
	}
}

const struct export_ops folded_export = {
	.name = "folded",
	.summary = "stacks by weight, a line each, for flamegraph.pl, inferno and speedscope",
	.takes_weight = true,
	.needs_all = true,
	.takes_diff = true,
	.of_tasks = true,
	.create = weighed_new,
	.free = weighed_free,
	.event = weighed_event,
	.end = folded_end,
};
