// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/vec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/populate.h"

static bool is_full(size_t nr)
{
	return !nr || (nr >= VEC_ROOM_FIRST && !(nr & (nr - 1)));
}

/* The room behind the first `nr` items, in bytes. `nr` is not 0. */
static size_t left_of(size_t nr, size_t item_size)
{
	return (((size_t)2 << (63 - __builtin_clzll(nr))) - nr) * item_size;
}

void *vec_room(void *items, size_t nr, size_t item_size)
{
	char *at;

	if (is_full(nr)) {
		size_t room, bytes;

		if (__builtin_mul_overflow(nr ? nr : VEC_ROOM_FIRST / 2, (size_t)2, &room) ||
		    __builtin_mul_overflow(room, item_size, &bytes))
			return NULL;
		items = populate_grown(items, nr * item_size, bytes);
	}
	if (!items)
		return NULL;
	at = (char *)items + nr * item_size;
	if (__builtin_expect(((nr + 1) * item_size ^ nr * item_size) >= VEC_POPULATED, 0))
		populate(at, left_of(nr, item_size) < VEC_POPULATED ? left_of(nr, item_size) : VEC_POPULATED);
	memset(at, 0, item_size);
	return items;
}
