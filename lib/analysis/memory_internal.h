/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_MEMORY_INTERNAL_H
#define WEFT_ANALYSIS_MEMORY_INTERNAL_H

#include "lib/analysis/extreme_internal.h"
#include "lib/analysis/pass.h"
#include "lib/base/u64_map.h"
#include "lib/event/place.h"
#include "lib/follow/roles.h"

/* The data of the analysis `memory`, shared by memory.c, which follows the events, and memory_tables.c. */
enum memory_stall_kind { STALL_RECLAIM, STALL_MEMCG, STALL_NODE, STALL_COMPACTION, MEMORY_STALLS };

enum { MEMORY_ROLES = 16, MEMORY_NAMES = 4, MEMORY_ORDERS = 16, MEMORY_VICTIMS = 8 };

/* A place in the kernel that allocates, identified by the function that calls the allocator. */
struct memory_site {
	uint64_t allocations, asked, given, freed, failed;
	uint64_t moved;                      /* freed on a CPU other than the one that allocated it */
	uint64_t alive, alive_bytes, oldest; /* counted at the end */
};

struct memory_alive {
	uint64_t at, bytes, site;
	uint32_t cpu;
	bool others; /* of a task or CPU that was not selected */
};

struct memory_open {
	uint64_t since, losses;
	uint32_t cpu;
	bool open;
};

struct memory_stall {
	struct samples lasted;
	uint64_t reclaimed; /* in pages */
	struct extreme longest;
};

struct memory_faults {
	uint64_t user, kernel;
	struct samples times; /* samples of length 0: they only count; only for a comparison */
};

struct memory_analysis {
	struct pass *pass;
	struct roles roles;
	struct memory_places {
		struct place site, address, asked, given, order;
	} places[MEMORY_ROLES][MEMORY_NAMES]; /* by role, then by the event of the role */
	struct u64_map sites;                 /* by address of the function */
	struct u64_map functions;             /* by address: the address of its function */
	struct u64_map alive;                 /* by address */
	struct u64_map open, stalls;          /* by kind and task */
	struct u64_map faults;                /* by task */
	uint64_t pages[MEMORY_ORDERS], pages_freed[MEMORY_ORDERS];
	struct {
		uint64_t at;
		int32_t pid;
	} victims[MEMORY_VICTIMS];
	uint64_t nr_victims;
	uint64_t others; /* how many of those alive are others' */
	uint64_t seen, cut, broken, older, doubtful, unseen, forgotten;
};

int must_check memory_finish(void *arg, struct findings *findings, struct fail *fail);

#endif
