// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/calls_internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/vec.h"

enum { HITS_MAX = 1 << 12 };

void hits_release(struct hits *hits)
{
	free(hits->items);
	*hits = (struct hits){ .items = NULL };
}

void hits_forget(struct hits *hits, size_t open)
{
	while (hits->nr && hits->items[hits->nr - 1].frame >= open)
		hits->nr--;
}

void hits_add(struct hits *hits, size_t frame, const struct hit *hit)
{
	struct hit *added;

	hits_forget(hits, frame + 1);
	if (hits->nr >= HITS_MAX && frame)
		return;
	if (hits->nr >= HITS_MAX) {
		hits->nr = HITS_MAX / 2;
		memmove(hits->items, hits->items + HITS_MAX - hits->nr, hits->nr * sizeof(*hits->items));
	}
	added = vec_push(hits->items, hits->nr);
	hits->starved |= !added;
	if (!added)
		return;
	*added = *hit;
	added->frame = frame;
}

struct hit hits_take(struct hits *hits, size_t frame, uint64_t since, uint64_t until)
{
	struct hit taken = { .frame = frame };
	size_t first = hits->nr, kept;

	while (first && (hits->items[first - 1].frame > frame ||
			 (hits->items[first - 1].frame == frame && hits->items[first - 1].start >= since)))
		first--;
	kept = first;
	for (size_t i = first; i < hits->nr; i++) {
		const struct hit *hit = &hits->items[i];

		if (hit->frame != frame || hit->start >= until) {
			hits->items[kept++] = *hit;
			continue;
		}
		taken.lasted += hit->lasted;
		taken.interrupted += hit->interrupted;
	}
	hits->nr = kept;
	return taken;
}

struct hit hits_move(struct hits *hits, size_t frame, bool to_caller, uint64_t from, uint64_t to)
{
	struct hit moved = { .frame = frame };
	size_t first = hits->nr, kept;

	while (first && hits->items[first - 1].frame >= frame)
		first--;
	kept = first;
	for (size_t i = first; i < hits->nr; i++) {
		struct hit hit = hits->items[i];

		if (hit.frame != frame || (hit.start + hit.lasted > from && hit.start < to))
			continue;
		moved.lasted += hit.lasted;
		moved.interrupted += hit.interrupted;
		hit.frame = frame - 1;
		if (to_caller)
			hits->items[kept++] = hit;
	}
	hits->nr = kept;
	return moved;
}
