// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/analysis/slowest_internal.h"

#include "lib/analysis/analysis.h"
#include "lib/base/vec.h"

#include <stdlib.h>
#include <string.h>

void slowest_init(struct slowest *slowest, size_t size, size_t most, uint64_t longer)
{
	*slowest = (struct slowest){ .size = size, .most = most, .longer = longer };
}

void slowest_init_rows(struct slowest *slowest, size_t size, const struct row_options *rows)
{
	slowest_init(slowest, size, rows ? rows->slowest : 0, rows ? rows->longer : 0);
}

void slowest_release(struct slowest *slowest)
{
	free(slowest->items);
	slowest->items = NULL;
	slowest->nr = 0;
}

static uint64_t lasted_at(const struct slowest *slowest, size_t index)
{
	uint64_t lasted;

	memcpy(&lasted, slowest_at(slowest, index), sizeof(lasted));
	return lasted;
}

bool slowest_room(const struct slowest *slowest, uint64_t lasted)
{
	return slowest_wants(slowest, lasted) &&
	       (slowest->nr < slowest->most || lasted_at(slowest, slowest->nr - 1) < lasted);
}

void *slowest_add(struct slowest *slowest, uint64_t lasted, bool *ret_failed)
{
	size_t index = slowest->nr;
	char *item, *grown;

	while (index && lasted_at(slowest, index - 1) < lasted)
		index--;
	if (index >= slowest->most)
		return NULL;
	if (slowest->nr < slowest->most) {
		grown = vec_room(slowest->items, slowest->nr, slowest->size);
		if (!grown) {
			*ret_failed = true;
			return NULL;
		}
		slowest->items = grown;
		slowest->nr++;
	}
	item = (char *)slowest->items + index * slowest->size;
	memmove(item + slowest->size, item, (slowest->nr - 1 - index) * slowest->size);
	memset(item, 0, slowest->size);
	memcpy(item, &lasted, sizeof(lasted));
	return item;
}
