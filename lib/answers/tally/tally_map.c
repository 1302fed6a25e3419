// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/answers/tally/tally_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/samples.h"
#include "lib/ground/base/vec.h"

enum { HEADS_MIN = 64 };

void tally_map_init(struct tally_map *map, size_t max, size_t nr_values, size_t nr_samples)
{
	*map = (struct tally_map){ .max = max, .nr_values = nr_values, .nr_samples = nr_samples };
}

static void release_row(const struct tally_map *map, struct tally_row *row)
{
	for (size_t i = 0; row->samples && i < map->nr_samples; i++)
		samples_release(&row->samples[i]);
	free(row->samples);
	free(row->sums);
	free(row->key);
	free(row->more);
}

void tally_map_release(struct tally_map *map)
{
	for (size_t i = 0; i < map->nr; i++)
		release_row(map, &map->rows[i]);
	free(map->rows);
	free(map->heads);
	tally_map_init(map, 0, 0, 0);
}

/* FNV-1a, mixed once more so that the low bits are as good as the others. */
static uint64_t hash_of(const uint8_t *key, size_t len)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ key[i]) * 0x100000001b3;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93;
	return hash ^ hash >> 32;
}

static struct tally_row *find(const struct tally_map *map, uint64_t hash, const uint8_t *key, size_t len)
{
	uint32_t at = map->nr_heads ? map->heads[hash & (map->nr_heads - 1)] : 0;

	for (; at; at = map->rows[at - 1].next) {
		struct tally_row *row = &map->rows[at - 1];

		if (row->hash == hash && row->len == len && !memcmp(row->key, key, len))
			return row;
	}
	return NULL;
}

static void link_row(struct tally_map *map, size_t index)
{
	uint32_t *head = &map->heads[map->rows[index].hash & (map->nr_heads - 1)];

	map->rows[index].next = *head;
	*head = (uint32_t)index + 1;
}

void tally_map_drop(struct tally_map *map, bool (*drops)(const struct tally_row *row, uint64_t arg), uint64_t arg)
{
	size_t nr = 0;

	for (size_t i = 0; i < map->nr; i++)
		if (drops(&map->rows[i], arg))
			release_row(map, &map->rows[i]);
		else
			map->rows[nr++] = map->rows[i];
	map->nr = nr;
	if (map->heads)
		memset(map->heads, 0, map->nr_heads * sizeof(*map->heads));
	for (size_t i = 0; i < nr; i++)
		link_row(map, i);
}

static bool grow_heads(struct tally_map *map)
{
	size_t wanted = map->nr_heads ? map->nr_heads * 2 : HEADS_MIN;
	uint32_t *heads;

	if (map->nr < map->nr_heads)
		return true;
	heads = calloc(wanted, sizeof(*heads));
	if (!heads)
		return false;
	free(map->heads);
	map->heads = heads;
	map->nr_heads = wanted;
	for (size_t i = 0; i < map->nr; i++)
		link_row(map, i);
	return true;
}

static bool fill(const struct tally_map *map, struct tally_row *row, uint64_t hash, const uint8_t *key, size_t len)
{
	row->hash = hash;
	row->len = len;
	row->first = map->now;
	row->key = malloc(len ? len : 1);
	row->sums = calloc(map->nr_values ? map->nr_values : 1, sizeof(*row->sums));
	if (map->nr_samples)
		row->samples = calloc(map->nr_samples, sizeof(*row->samples));
	if (!row->key || !row->sums || (map->nr_samples && !row->samples)) {
		free(row->key);
		free(row->sums);
		free(row->samples);
		return false;
	}
	memcpy(row->key, key, len);
	return true;
}

struct tally_row *tally_map_find(const struct tally_map *map, const uint8_t *key, size_t len)
{
	return find(map, hash_of(key, len), key, len);
}

struct tally_row *tally_map_add(struct tally_map *map, const uint8_t *key, size_t len)
{
	uint64_t hash = hash_of(key, len);
	struct tally_row *row = find(map, hash, key, len);

	if (!row && map->nr >= map->max) {
		map->dropped++;
		return NULL;
	}
	if (!row) {
		row = grow_heads(map) ? vec_push(map->rows, map->nr) : NULL;
		if (!row || !fill(map, row, hash, key, len)) {
			map->nr -= row != NULL;
			map->failed = true;
			return NULL;
		}
		link_row(map, map->nr - 1);
	}
	map->hits++;
	return row;
}
