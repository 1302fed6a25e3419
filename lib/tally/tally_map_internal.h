/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_TALLY_TALLY_MAP_INTERNAL_H
#define WEFT_TALLY_TALLY_MAP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct samples;

/*
 * A hash map of rows by their keys, which are bytes. The number of rows is fixed: when all are used, an event with a
 * new key counts as dropped, as in kernel/trace/tracing_map.c.
 */
struct tally_row {
	uint64_t hash;
	uint8_t *key;
	size_t len;
	uint32_t next;           /* the row of the same chain + 1; 0: none */
	uint64_t *sums;          /* nr_values of them */
	struct samples *samples; /* nr_samples of them; NULL: none */
	uint64_t first;          /* tally_map::now when it was added */
	uint8_t *more;           /* the caller's data, freed with the row */
	size_t more_len;
};

struct tally_map {
	struct tally_row *rows;
	size_t nr, max, nr_values, nr_samples;
	uint32_t *heads; /* by the hash: a row + 1 */
	size_t nr_heads; /* a power of two */
	uint64_t hits, dropped;
	uint64_t now; /* set by the owner: how many events came before */
	bool failed;  /* memory ran out */
};

void tally_map_init(struct tally_map *map, size_t max, size_t nr_values, size_t nr_samples);
void tally_map_release(struct tally_map *map);

/*
 * Returns the row of the key, and adds it if it is new. NULL: no row is left, or memory ran out. The row is valid until
 * the next call.
 */
struct tally_row *tally_map_add(struct tally_map *map, const uint8_t *key, size_t len);
/* Removes the rows that `drops` says. */
void tally_map_drop(struct tally_map *map, bool (*drops)(const struct tally_row *row, uint64_t arg), uint64_t arg);
struct tally_row *tally_map_find(const struct tally_map *map, const uint8_t *key, size_t len);

#endif
