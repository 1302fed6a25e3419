// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/query/stretches_internal.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"

void stretches_init(struct stretches *stretches)
{
	*stretches = (struct stretches){ .count = 0 };
	u64_map_init(&stretches->owners, sizeof(struct stretches_owner));
}

void stretches_release(struct stretches *stretches)
{
	struct stretches_owner *owner;
	uint64_t key;

	for (size_t at = 0; (owner = u64_map_next(&stretches->owners, &at, &key));)
		free(owner->at);
	u64_map_release(&stretches->owners);
}

bool stretches_add(struct stretches *stretches, uint64_t owner, uint64_t from, uint64_t to)
{
	struct stretches_owner *of = u64_map_get(&stretches->owners, owner);
	struct stretch *stretch = of ? vec_push(of->at, of->nr) : NULL;

	if (!stretch)
		return false;
	*stretch = (struct stretch){ from, to };
	stretches->count++;
	return true;
}

void stretches_extend(struct stretches *stretches, uint64_t owner, uint64_t to)
{
	struct stretches_owner *of = u64_map_find(&stretches->owners, owner);

	if (of && of->nr && of->at[of->nr - 1].to < to)
		of->at[of->nr - 1].to = to;
}

static int by_start(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static void put_in_order(struct stretches_owner *owner)
{
	size_t nr = 0;

	qsort(owner->at, owner->nr, sizeof(*owner->at), by_start);
	for (size_t i = 0; i < owner->nr; i++) {
		const struct stretch stretch = owner->at[i];

		if (!nr || stretch.from > owner->at[nr - 1].to)
			owner->at[nr++] = stretch;
		else if (stretch.to > owner->at[nr - 1].to)
			owner->at[nr - 1].to = stretch.to;
	}
	owner->nr = nr;
}

void stretches_end(struct stretches *stretches)
{
	struct stretches_owner *owner;
	uint64_t key;

	for (size_t at = 0; (owner = u64_map_next(&stretches->owners, &at, &key));)
		put_in_order(owner);
}

bool stretches_cover(const struct stretches *stretches, uint64_t key, uint64_t from, uint64_t to)
{
	const struct stretches_owner *owner = u64_map_find(&stretches->owners, key);
	size_t low;

	/* The first one that ends at `from` or later. */
	low = vec_count(owner ? owner->nr : 0, i, owner->at[i].to < from);
	return owner && low < owner->nr && owner->at[low].from <= to;
}
