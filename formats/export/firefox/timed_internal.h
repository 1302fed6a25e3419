/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_FIREFOX_TIMED_INTERNAL_H
#define WEFT_FORMATS_EXPORT_FIREFOX_TIMED_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/u64_map.h"

/*
 * Weights of stacks over time. A stack is a node: a name on another node. The weights of one stack in the same 2^k ns
 * are one sample; k grows when there are more than TIMED_MAX samples. So memory depends on the number of stacks, and no
 * sum changes.
 * Invariant: a node comes after the node below it.
 */
enum { TIMED_MAX = 1 << 18, TIMED_NO_NODE = UINT32_MAX };

struct timed {
	struct timed_node {
		uint32_t below; /* TIMED_NO_NODE: nothing */
		uint32_t name;
		uint32_t owner; /* set for a root node; all nodes on it have the same */
	} * nodes;
	size_t nr_nodes;
	struct u64_map places;  /* by `below` and name: node + 1 */
	struct u64_map weights; /* by node and time: uint64_t */
	unsigned shift;         /* k */
	uint64_t cut;           /* number of frames left out because there were too many nodes */
	bool starved;
};

struct timed_sample {
	uint64_t ts, weight; /* ts: begin of its 2^k ns */
	uint32_t node, owner;
};

void timed_init(struct timed *samples);
void timed_release(struct timed *samples);

/* The root node of an owner; owners must have different names. */
uint32_t timed_root(struct timed *samples, uint32_t owner, uint32_t name);
/* The node of a name on another node; the lower node itself when there is no room. */
uint32_t timed_on(struct timed *samples, uint32_t below, uint32_t name);

void timed_add(struct timed *samples, uint32_t node, uint64_t ts, uint64_t weight);

/*
 * All samples, ordered by owner, time and node; NULL without memory. The caller frees the array. No sample may be added
 * afterwards.
 */
struct timed_sample *timed_sorted(struct timed *samples, size_t *ret_nr);

#endif
