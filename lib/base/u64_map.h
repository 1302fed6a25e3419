/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_BASE_U64_MAP_H
#define WEFT_BASE_U64_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A map from numbers to values of one size, which grows with its keys: state per task, per CPU, per type.
 * Pointers to values are valid until the next u64_map_add(). The order of the entries is that of no key.
 */
struct u64_map {
	uint8_t *entries;
	size_t stride; /* bytes of an entry */
	size_t len;    /* keys in it */
	size_t size;   /* room for so many entries: a power of two, or 0 */
};

void u64_map_init(struct u64_map *map, size_t value_size);
void u64_map_release(struct u64_map *map);

/* Forgets all keys. Does not release what values point to. */
void u64_map_clear(struct u64_map *map);

/* NULL when the key is not in it. */
void *u64_map_find(const struct u64_map *map, uint64_t key);

/* The value of the key, all zero if the key is new; NULL without memory. */
void *u64_map_add(struct u64_map *map, uint64_t key);

/* Walks the entries: from *at 0 on, NULL behind the last. */
void *u64_map_next(const struct u64_map *map, size_t *at, uint64_t *ret_key);

#endif
