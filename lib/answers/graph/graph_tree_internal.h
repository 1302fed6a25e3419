/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_GRAPH_GRAPH_TREE_INTERNAL_H
#define WEFT_ANSWERS_GRAPH_GRAPH_TREE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/answers/frame/pass.h"
#include "lib/answers/graph/call_tree.h"
#include "lib/answers/graph/graph.h"
#include "lib/answers/graph/graph_facts.h"
#include "lib/answers/graph/graph_stream_internal.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/calls.h"
#include "lib/meaning/follow/roles.h"

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
	char comm[TASK_COMM_LEN];
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
};

void graph_tree_put(struct graph_tree_analysis *graph, struct findings *findings);
void graph_slowest_put(struct graph_tree_analysis *graph, struct findings *findings);

#endif
