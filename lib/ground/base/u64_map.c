// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/u64_map.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/populate.h"

enum { SIZE_FIRST = 16 };

static struct u64_map_head *entry_at(const struct u64_map *map, size_t index)
{
	return (struct u64_map_head *)(map->entries + index * map->stride);
}

void u64_map_init(struct u64_map *map, size_t value_size)
{
	*map = (struct u64_map){ .stride = sizeof(struct u64_map_head) + (value_size + 7) / 8 * 8 };
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

static bool grow(struct u64_map *map)
{
	struct u64_map larger = { .stride = map->stride, .len = map->len, .starved = map->starved };
	const struct u64_map_head *head;
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
	populate(larger.entries, larger.size * map->stride);
	while ((value = u64_map_next(map, &at, &key))) {
		head = (const struct u64_map_head *)value - 1;
		memcpy(u64_map_entry(&larger, key), head, map->stride);
	}
	free(map->entries);
	*map = larger;
	return true;
}

void *u64_map_add(struct u64_map *map, uint64_t key)
{
	struct u64_map_head *head = map->size ? u64_map_entry(map, key) : NULL;

	if (head && head->used)
		return head + 1;
	/* At most three quarters of the entries are used. */
	if (map->len >= map->size / 4 * 3) {
		if (!grow(map)) {
			map->starved = true;
			return NULL;
		}
		head = u64_map_entry(map, key);
	}
	*head = (struct u64_map_head){ .key = key, .used = 1 };
	map->len++;
	return head + 1;
}

void u64_map_remove(struct u64_map *map, uint64_t key)
{
	struct u64_map_head *head = map->len ? u64_map_entry(map, key) : NULL;
	size_t empty, index;

	if (!head || !head->used)
		return;
	map->len--;
	empty = (size_t)((uint8_t *)head - map->entries) / map->stride;
	/* Entries after the removed one move towards their own slots, so that no search ends too early. */
	for (index = (empty + 1) & (map->size - 1); (head = entry_at(map, index))->used;
	     index = (index + 1) & (map->size - 1)) {
		if (((index - u64_map_slot(map, head->key)) & (map->size - 1)) < ((index - empty) & (map->size - 1)))
			continue;
		memcpy(entry_at(map, empty), head, map->stride);
		empty = index;
	}
	memset(entry_at(map, empty), 0, map->stride);
}

void *u64_map_next(const struct u64_map *map, size_t *at, uint64_t *ret_key)
{
	while (*at < map->size) {
		struct u64_map_head *head = entry_at(map, (*at)++);

		if (head->used) {
			*ret_key = head->key;
			return head + 1;
		}
	}
	return NULL;
}
