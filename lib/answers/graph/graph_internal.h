/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANSWERS_GRAPH_GRAPH_INTERNAL_H
#define WEFT_ANSWERS_GRAPH_GRAPH_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/answers/graph/graph.h"
#include "lib/answers/graph/graph_errors_internal.h"
#include "lib/answers/graph/graph_stream_internal.h"
#include "lib/ground/base/samples.h"
#include "lib/ground/base/u64_map.h"
#include "lib/meaning/event/event_copies.h"
#include "lib/meaning/event/place.h"
#include "lib/meaning/follow/roles.h"
#include "lib/meaning/state/state.h"

struct call;
struct context;
struct pass;
struct parallel_sum_ops;

/* Private to graph.c, graph_sums.c and, for slices of time, graph_slices.c. */

enum graph_analysis_role {
	GRAPH_ROLE_ENTRY = 1,
	GRAPH_ROLE_EXIT,
	GRAPH_ROLE_HIT,
	GRAPH_ROLE_PROBE,
	GRAPH_ROLE_REPEATS,
	GRAPH_ROLES
};

/* The members that each call looks at come first: with the first ones of `lasted` they are two lines of a cache. */
struct graph_function {
	uint64_t total, self, entered, interrupted, off;
	uint64_t first;      /* in a slice: the number of the event that ended its first call */
	uint64_t longest_at; /* when the longest call ended; 0: no call has ended */
	struct samples lasted;
	uint64_t again, errors, address;
	uint64_t longest_number; /* in a slice: the number of the event that ended the longest call */
	uint32_t longest_cpu;
	int32_t longest_pid;
	char longest_comm[TASK_COMM_LEN];
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

/* Whose functions they are. */
struct graph_group {
	uint64_t calls, entered, self, hits;
	uint64_t longest, longest_at, longest_function; /* longest_at 0: no call has ended */
};

/* Of a slice of time: lib/answers/graph/graph_slices.c. */
struct graph_slice {
	uint64_t number; /* of the event: how many came before it in the slice */
	uint64_t least;  /* when the earliest of the calls began that have no entry, and should have one */
	/* The events that can be understood only when the slices before are known, in order. */
	struct event_copies kept;
};

struct graph_analysis {
	struct pass *pass;
	struct graph_slice *slice; /* borrowed; NULL: the analysis sees all events */
	struct row_options options;
	struct roles roles;
	struct graph_stream stream;
	const struct context *hits_context;
	struct place at[GRAPH_ROLES], repeats; /* repeats: the calls that one event of func_repeats stands for */
	struct u64_map ids, hit_ids;           /* by address: uint32_t, index + 1 */
	struct u64_map addresses;              /* the same by an address in the function, of those that were called */
	struct graph_recent recent[1 << GRAPH_RECENT_BITS], recent_hits[1 << GRAPH_RECENT_BITS];
	struct graph_function *functions;
	size_t nr_functions;
	struct graph_hits *hits;
	size_t nr_hits;
	struct graph_errors errors;
	struct u64_map groups; /* of GRAPH_BY_WHO, by who_is(): struct graph_group */
	uint64_t cut, broken,
		unpaired; /* calls without an entry: it was before the start, it was lost, or for no known reason */
};

/* graph_sums.c: counts a call that ended, and an event that only says that a function was called. */
void graph_see_call(struct graph_analysis *graph, const struct call *call, const struct event *event);
void graph_see_hit(struct graph_analysis *graph, const struct event *event, uint8_t role);
/* The function with this first address; a new one is counted from now on. NULL without memory. */
struct graph_function *graph_function_at(struct graph_analysis *graph, uint64_t begin);
struct graph_hits *graph_hits_at(struct graph_analysis *graph, uint64_t address);
/* Prefetches what the exit of a function will need. */
void graph_expect(const struct graph_analysis *graph, uint64_t address);

/* Adds a call, or hits, to those whom the task belongs to, and makes their tables: lib/answers/graph/graph_who.c. */
void graph_who_call(struct graph_analysis *graph, const struct call *call, const struct event *event);
void graph_who_hits(struct graph_analysis *graph, uint64_t times, const struct event *event);
void graph_put_who(const struct graph_analysis *graph, struct findings *findings);

/* Adds the tables of modules: lib/answers/graph/graph_modules.c. False without memory. */
bool graph_put_modules(const struct graph_analysis *graph, struct findings *findings);

extern const struct parallel_sum_ops graph_shares;
bool graph_can_share(const struct pass *pass);

#endif
