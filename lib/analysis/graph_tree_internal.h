/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_GRAPH_TREE_INTERNAL_H
#define WEFT_ANALYSIS_GRAPH_TREE_INTERNAL_H

#include "lib/analysis/call_tree.h"
#include "lib/analysis/graph.h"
#include "lib/analysis/graph_facts_internal.h"
#include "lib/analysis/graph_stream_internal.h"
#include "lib/analysis/pass.h"
#include "lib/event/place.h"
#include "lib/follow/calls.h"
#include "lib/follow/roles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct findings;

/* graph_tree_analysis: data that graph_tree.c collects and graph_tree_tables.c prints. */

/* One call of the function, with everything that it called. */
struct graph_call {
	struct call_tree tree;
	uint64_t start, lasted, interrupted, off;
	bool has_retval;
	uint64_t retval;
	uint32_t cpu;
	int32_t pid;
	char comm[STATE_COMM];
};

struct graph_tree_analysis {
	struct pass *pass;
	struct graph_tree_options options;
	struct roles roles;
	struct graph_stream stream;
	struct u64_map wanted; /* by address: uint8_t; 1: it is the function, 2: it is another */
	struct u64_map open;   /* by task, or by CPU for an idle one: struct instance, the open call of the function */
	struct call_tree below, above; /* of all calls: what they called, and who called them */
	uint64_t off, inner;           /* of all calls; inner: those inside another call of the same task */
	struct graph_call *slowest;
	size_t nr_slowest;
	uint64_t unpaired;
	char (*titles)[GRAPH_NAME]; /* texts that the findings borrow */
};

void graph_tree_put(struct graph_tree_analysis *graph, struct findings *findings);
void graph_slowest_put(struct graph_tree_analysis *graph, struct findings *findings);

#endif
