/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_U64_MAP_H
#define WEFT_GROUND_BASE_U64_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A hash map from numbers to values of one size: state per task, per CPU, per type. Pointers to values are valid until
 * the next u64_map_add(). The entries have no order.
 */
struct u64_map {
	uint8_t *entries;
	size_t stride; /* bytes of one entry */
	size_t len;    /* number of keys */
	size_t size;   /* number of entries there is room for: a power of two, or 0 */
	bool starved;  /* u64_map_add() had no memory; stays set */
};

void u64_map_init(struct u64_map *map, size_t value_size);
void u64_map_release(struct u64_map *map);

/* Removes all keys. Does not release memory that values point to. */
void u64_map_clear(struct u64_map *map);

/* Stands in front of each value. Private to the map, as are the two functions after it. */
struct u64_map_head {
	uint64_t key;
	uint64_t used;
};

/* The middle of the product, so that the upper half of a key also changes the hash. */
static inline size_t u64_map_slot(const struct u64_map *map, uint64_t key)
{
	return (size_t)((key ^ key >> 32) * 0x9e3779b97f4a7c15u >> 32) & (map->size - 1);
}

/* The entry of the key, or the free entry where it belongs. At least one entry is always free. */
static inline struct u64_map_head *u64_map_entry(const struct u64_map *map, uint64_t key)
{
	size_t index = u64_map_slot(map, key);
	struct u64_map_head *head = (struct u64_map_head *)(map->entries + index * map->stride);

	while (head->used && head->key != key) {
		index = (index + 1) & (map->size - 1);
		head = (struct u64_map_head *)(map->entries + index * map->stride);
	}
	return head;
}

/* NULL when the map does not have the key. */
static inline void *u64_map_find(const struct u64_map *map, uint64_t key)
{
	struct u64_map_head *head = map->len ? u64_map_entry(map, key) : NULL;

	return head && head->used ? head + 1 : NULL;
}

/* Returns the value of the key, all zero if the key is new; NULL without memory. */
void *u64_map_add(struct u64_map *map, uint64_t key);

/* The same, quick for a key that the map has. */
static inline void *u64_map_get(struct u64_map *map, uint64_t key)
{
	void *value = u64_map_find(map, key);

	return __builtin_expect(value != NULL, 1) ? value : u64_map_add(map, key);
}

/* Removes a key if the map has it. Do not call it during a walk: other entries change their places. */
void u64_map_remove(struct u64_map *map, uint64_t key);

/* Walks the entries: *at is 0 at first; NULL after the last entry. */
void *u64_map_next(const struct u64_map *map, size_t *at, uint64_t *ret_key);

#endif
