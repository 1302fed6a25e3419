// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/state/gaps.h"

#include <stdlib.h>

#include "lib/ground/base/vec.h"

enum { GAPS_MAX = 1 << 16 };

void gaps_release(struct gaps *gaps)
{
	free(gaps->items);
	*gaps = (struct gaps){ .items = NULL };
}

/* Joins each gap with its neighbour. The joined gap begins with the earlier one and has the number of the later one. */
static void halve(struct gaps *gaps)
{
	size_t kept = 0;

	for (size_t i = 0; i + 1 < gaps->nr; i += 2)
		gaps->items[kept++] = (struct gap){ gaps->items[i + 1].number, gaps->items[i].from };
	gaps->nr = kept;
}

bool gaps_add(struct gaps *gaps, uint64_t from)
{
	struct gap *added;

	while (gaps->nr && gaps->items[gaps->nr - 1].from >= from)
		gaps->nr--;
	if (gaps->nr == GAPS_MAX)
		halve(gaps);
	added = vec_push(gaps->items, gaps->nr);
	if (!added)
		return false;
	*added = (struct gap){ ++gaps->number, from };
	return true;
}

bool gaps_search(const struct gaps *gaps, uint64_t number, uint64_t *ret_from)
{
	size_t low = vec_count(gaps->nr, i, gaps->items[i].number <= number);

	/* The last gap has the number gaps->number, so the search always finds one. */
	*ret_from = gaps->items[low].from;
	return true;
}
