// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/u64_map.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE_FIRST = 16 };

/* In front of each value. */
struct head {
	uint64_t key;
	uint64_t used;
};

static struct head *entry_at(const struct u64_map *map, size_t index)
{
	return (struct head *)(map->entries + index * map->stride);
}

static size_t slot(const struct u64_map *map, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> 32) & (map->size - 1);
}

/* The entry of the key, or the unused one where it belongs. One is always unused. */
static struct head *entry_of(const struct u64_map *map, uint64_t key)
{
	size_t index = slot(map, key);
	struct head *head = entry_at(map, index);

	while (head->used && head->key != key) {
		index = (index + 1) & (map->size - 1);
		head = entry_at(map, index);
	}
	return head;
}

void u64_map_init(struct u64_map *map, size_t value_size)
{
	*map = (struct u64_map){ .stride = sizeof(struct head) + (value_size + 7) / 8 * 8 };
}

void u64_map_release(struct u64_map *map)
{
	free(map->entries);
	*map = (struct u64_map){ .stride = map->stride };
}

void u64_map_clear(struct u64_map *map)
{
	if (map->len)
		memset(map->entries, 0, map->size * map->stride);
	map->len = 0;
}

void *u64_map_find(const struct u64_map *map, uint64_t key)
{
	struct head *head = map->len ? entry_of(map, key) : NULL;

	return head && head->used ? head + 1 : NULL;
}

static bool grow(struct u64_map *map)
{
	struct u64_map larger = { .stride = map->stride, .len = map->len };
	const struct head *head;
	size_t at = 0;
	uint64_t key;
	void *value;

	if (__builtin_mul_overflow(map->size, 2u, &larger.size))
		return false;
	if (!larger.size)
		larger.size = SIZE_FIRST;
	larger.entries = calloc(larger.size, map->stride);
	if (!larger.entries)
		return false;
	while ((value = u64_map_next(map, &at, &key))) {
		head = (const struct head *)value - 1;
		memcpy(entry_of(&larger, key), head, map->stride);
	}
	free(map->entries);
	*map = larger;
	return true;
}

void *u64_map_add(struct u64_map *map, uint64_t key)
{
	struct head *head = map->size ? entry_of(map, key) : NULL;

	if (head && head->used)
		return head + 1;
	/* At most three quarters are used. */
	if (map->len >= map->size / 4 * 3) {
		if (!grow(map))
			return NULL;
		head = entry_of(map, key);
	}
	*head = (struct head){ .key = key, .used = 1 };
	map->len++;
	return head + 1;
}

void *u64_map_next(const struct u64_map *map, size_t *at, uint64_t *ret_key)
{
	while (*at < map->size) {
		struct head *head = entry_at(map, (*at)++);

		if (head->used) {
			*ret_key = head->key;
			return head + 1;
		}
	}
	return NULL;
}
