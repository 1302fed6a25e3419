/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_GRAPH_INTERNAL_H
#define WEFT_ANALYSIS_GRAPH_INTERNAL_H

#include "lib/analysis/graph.h"
#include "lib/analysis/graph_errors_internal.h"
#include "lib/analysis/graph_stream_internal.h"
#include "lib/base/samples.h"
#include "lib/base/u64_map.h"
#include "lib/event/event_copies.h"
#include "lib/event/place.h"
#include "lib/follow/roles.h"
#include "lib/state/state.h"

#include <stddef.h>
#include <stdint.h>

struct call;
struct context;
struct pass;
struct shares_ops;

/* Private to lib/analysis/graph.c and, for slices of time, lib/analysis/graph_slices.c. */

enum graph_analysis_role { GRAPH_ROLE_ENTRY = 1, GRAPH_ROLE_EXIT, GRAPH_ROLE_HIT, GRAPH_ROLE_PROBE, GRAPH_ROLES };

/* The members that each call changes come first. */
struct graph_function {
	uint64_t total, self, entered, interrupted, off;
	struct samples lasted;
	uint64_t longest_at; /* when the longest call ended; 0: no call has ended */
	uint64_t again, errors, address;
	uint64_t first,
		longest_number; /* in a slice: the numbers of the events that ended its first and longest call */
	uint32_t longest_cpu;
	int32_t longest_pid;
	char longest_comm[STATE_COMM];
};

/* A cache of functions that were called a moment ago: most calls need no search in the map. */
struct graph_recent {
	uint64_t address;
	uint32_t id; /* index + 1; 0: empty */
};

enum { GRAPH_RECENT_BITS = 11 };

/* Functions that were hit, but no event shows how long they took. */
struct graph_hits {
	uint64_t address, count;
};

/* Of a slice of time: lib/analysis/graph_slices.c. */
struct graph_slice {
	uint64_t number; /* of the event: how many came before it in the slice */
	uint64_t least;  /* when the earliest of the calls began that have no entry, and should have one */
	/* The events that can be understood only when the slices before are known, in order. */
	struct event_copies kept;
};

struct graph_analysis {
	struct pass *pass;
	struct graph_slice *slice; /* borrowed; NULL: the analysis sees all events */
	struct graph_options options;
	struct roles roles;
	struct graph_stream stream;
	const struct context *hits_context;
	struct place at[GRAPH_ROLES];
	struct u64_map ids, hit_ids; /* by address: uint32_t, index + 1 */
	struct graph_recent recent[1 << GRAPH_RECENT_BITS], recent_hits[1 << GRAPH_RECENT_BITS];
	struct graph_function *functions;
	size_t nr_functions;
	struct graph_hits *hits;
	size_t nr_hits;
	struct graph_errors errors;
	uint64_t cut, broken,
		unpaired; /* calls without an entry: it was before the start, it was lost, or for no known reason */
	char what[128];   /* a text about the longest call */
};

void graph_see_call(struct graph_analysis *graph, const struct call *call, const struct event *event);
void graph_see_hit(struct graph_analysis *graph, const struct event *event, uint8_t role);
/* The function with this first address; a new one is counted from now on. NULL without memory. */
struct graph_function *graph_function_at(struct graph_analysis *graph, uint64_t begin);
struct graph_hits *graph_hits_at(struct graph_analysis *graph, uint64_t address);
/* Prefetches what the exit of a function will need. */
void graph_expect(const struct graph_analysis *graph, uint64_t address);

extern const struct shares_ops graph_shares;
bool graph_can_share(const struct pass *pass);

#endif
