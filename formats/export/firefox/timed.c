// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/firefox/timed_internal.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"

/* A key consists of a node and a part of time; names have as many bits as a node. */
enum { NODE_BITS = 19, NODES_MAX = (1 << NODE_BITS) - 1, SHIFT_FIRST = 20, SHIFT_LAST = 63 };

void timed_init(struct timed *samples)
{
	*samples = (struct timed){ .shift = SHIFT_FIRST };
	u64_map_init(&samples->places, sizeof(uint32_t));
	u64_map_init(&samples->weights, sizeof(uint64_t));
}

void timed_release(struct timed *samples)
{
	free(samples->nodes);
	u64_map_release(&samples->places);
	u64_map_release(&samples->weights);
}

static uint32_t add_node(struct timed *samples, uint32_t below, uint32_t name, uint32_t owner)
{
	/* The key of a root node has 0 instead of the number of a node below it. */
	uint64_t key = (uint64_t)(below == TIMED_NO_NODE ? 0 : below + 1) << 32 | name;
	uint32_t *place = u64_map_find(&samples->places, key);
	struct timed_node *node;

	if (place)
		return *place - 1;
	if (samples->nr_nodes == NODES_MAX) {
		samples->cut++;
		return below;
	}
	place = u64_map_add(&samples->places, key);
	node = place ? vec_push(samples->nodes, samples->nr_nodes) : NULL;
	if (!node) {
		samples->starved = true;
		return below;
	}
	*node = (struct timed_node){ .below = below, .name = name, .owner = owner };
	*place = (uint32_t)samples->nr_nodes;
	return *place - 1;
}

uint32_t timed_root(struct timed *samples, uint32_t owner, uint32_t name)
{
	return add_node(samples, TIMED_NO_NODE, name, owner);
}

uint32_t timed_on(struct timed *samples, uint32_t below, uint32_t name)
{
	return below == TIMED_NO_NODE ? below : add_node(samples, below, name, samples->nodes[below].owner);
}

static uint64_t key_of(uint32_t node, uint64_t part)
{
	return part << NODE_BITS | node;
}

static uint32_t node_of(uint64_t key)
{
	return (uint32_t)(key & NODES_MAX);
}

/* Makes the parts of time 2^more times as long. */
static void fold(struct timed *samples, unsigned more)
{
	struct u64_map folded;
	const uint64_t *weight;
	uint64_t key;

	u64_map_init(&folded, sizeof(uint64_t));
	for (size_t at = 0; (weight = u64_map_next(&samples->weights, &at, &key));) {
		uint64_t *sum = u64_map_add(&folded, key_of(node_of(key), key >> NODE_BITS >> more));

		if (!sum) {
			samples->starved = true;
			break;
		}
		*sum += *weight;
	}
	u64_map_release(&samples->weights);
	samples->weights = folded;
	samples->shift += more;
}

/* With many rare stacks a fold removes few samples: so the next fold is longer. */
static void make_room(struct timed *samples)
{
	for (unsigned more = 1;
	     samples->weights.len > TIMED_MAX / 8 * 7 && samples->shift < SHIFT_LAST && !samples->starved; more *= 2)
		fold(samples, more < SHIFT_LAST - samples->shift ? more : SHIFT_LAST - samples->shift);
}

void timed_add(struct timed *samples, uint32_t node, uint64_t ts, uint64_t weight)
{
	uint64_t *sum;

	if (node == TIMED_NO_NODE || samples->starved)
		return;
	/* The last fold leaves one sample of each stack. */
	if (samples->weights.len >= TIMED_MAX && samples->shift < SHIFT_LAST)
		make_room(samples);
	sum = u64_map_add(&samples->weights, key_of(node, ts >> samples->shift));
	if (sum)
		*sum += weight;
	else
		samples->starved = true;
}

static int compare(const void *a, const void *b)
{
	const struct timed_sample *left = a, *right = b;

	if (left->owner != right->owner)
		return left->owner < right->owner ? -1 : 1;
	if (left->ts != right->ts)
		return left->ts < right->ts ? -1 : 1;
	return left->node < right->node ? -1 : left->node > right->node;
}

struct timed_sample *timed_sorted(struct timed *samples, size_t *ret_nr)
{
	struct timed_sample *list;
	const uint64_t *weight;
	uint64_t key;
	size_t nr = 0;

	/* With many stacks this map is as large as the list. */
	u64_map_release(&samples->places);
	list = calloc(samples->weights.len + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (size_t at = 0; (weight = u64_map_next(&samples->weights, &at, &key));) {
		uint32_t node = node_of(key);

		list[nr++] = (struct timed_sample){ .ts = key >> NODE_BITS << samples->shift,
						    .weight = *weight,
						    .node = node,
						    .owner = samples->nodes[node].owner };
	}
	u64_map_release(&samples->weights);
	qsort(list, nr, sizeof(*list), compare);
	*ret_nr = nr;
	return list;
}
