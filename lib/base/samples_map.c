// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/samples_map.h"

void samples_map_init(struct u64_map *map)
{
	u64_map_init(map, sizeof(struct samples));
}

void samples_map_release(struct u64_map *map)
{
	struct samples *samples;
	uint64_t key;

	for (size_t at = 0; (samples = u64_map_next(map, &at, &key));)
		samples_release(samples);
	u64_map_release(map);
}

void samples_map_add(struct u64_map *map, uint64_t key, struct samples_budget *budget, uint64_t value)
{
	struct samples *samples = u64_map_get(map, key);

	if (samples)
		samples_add(samples, budget, value);
}
