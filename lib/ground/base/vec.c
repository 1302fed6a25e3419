// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/vec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 4 };

static bool is_full(size_t nr)
{
	return !nr || (nr >= ROOM_FIRST && !(nr & (nr - 1)));
}

void *vec_room(void *items, size_t nr, size_t item_size)
{
	if (is_full(nr)) {
		size_t room, bytes;

		if (__builtin_mul_overflow(nr ? nr : ROOM_FIRST / 2, (size_t)2, &room) ||
		    __builtin_mul_overflow(room, item_size, &bytes))
			return NULL;
		items = realloc(items, bytes);
	}
	if (items)
		memset((char *)items + nr * item_size, 0, item_size);
	return items;
}
