// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/reader/back.h"

enum { LENGTH_NS = 1000000, LENGTH_COUNT = 1000, FACTOR = 4, LENGTH_LEAST = 256 };

void back_init(struct back *back, uint64_t first, bool counts)
{
	*back = (struct back){ .first = first, .before = WALK_END, .length = counts ? LENGTH_COUNT : LENGTH_NS };
}

uint64_t back_since(const struct back *back)
{
	uint64_t ts = back->before.ts;
	uint64_t since = ts > back->length ? ts - back->length : 0;

	return since > back->first ? since : back->first;
}

void back_to(struct back *back, struct walk_place place)
{
	back->before = place;
	back->at_start = walk_compare(place, (struct walk_place){ back->first, 0 }) <= 0;
}

void back_longer(struct back *back)
{
	if (__builtin_mul_overflow(back->length, FACTOR, &back->length))
		back->length = UINT64_MAX;
}

void back_shorter(struct back *back)
{
	if (back->length > LENGTH_LEAST)
		back->length /= FACTOR;
}
