/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_BASE_SAMPLES_MAP_H
#define WEFT_BASE_SAMPLES_MAP_H

#include "lib/base/samples.h"
#include "lib/base/u64_map.h"

/* A struct u64_map whose values are a struct samples each: u64_map_find() and u64_map_next() return them. */
void samples_map_init(struct u64_map *map);
void samples_map_release(struct u64_map *map);
/* Adds a value to the samples of the key. Without memory the map is starved, or the budget has failed. */
void samples_map_add(struct u64_map *map, uint64_t key, struct samples_budget *budget, uint64_t value);

#endif
