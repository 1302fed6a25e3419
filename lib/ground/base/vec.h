/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_VEC_H
#define WEFT_GROUND_BASE_VEC_H

#include <stddef.h>

/*
 * An array that grows at its end. The owner keeps a pointer and a count, both 0 at first, and frees the pointer. The
 * capacity is not stored: it follows from the count, because it doubles whenever the count reaches a power of two.
 * Invariant: the array grows by vec_push() only. The owner may lower the count.
 */

/* Makes room for one more item after the first `nr`; NULL when there is no memory, and then nothing has changed. */
void *vec_room(void *items, size_t nr, size_t item_size);

/*
 * The room of the first item; and in a large array each multiple of so many bytes that is reached makes the kernel map
 * as many.
 */
enum { VEC_ROOM_FIRST = 4, VEC_POPULATED = 512 << 10 };

/* For how many items there is room when there are `nr`. */
static inline size_t vec_size(size_t nr)
{
	if (nr <= VEC_ROOM_FIRST)
		return nr ? VEC_ROOM_FIRST : 0;
	return (size_t)1 << (64 - __builtin_clzll(nr - 1));
}

/*
 * Adds an item of zeros and counts it. The value is a pointer to the item, valid until the next vec_push(), or NULL
 * without memory.
 *	struct map *map = vec_push(maps->maps, maps->nr);
 * `items` and `nr` are variables or fields; each is evaluated more than once.
 */
#define vec_push(items, nr)                                                                               \
	({                                                                                                \
		__typeof__(items) vec_grown_ = vec_room((void *)(items), (size_t)(nr), sizeof(*(items))); \
		if (vec_grown_)                                                                           \
			(items) = vec_grown_;                                                             \
		vec_grown_ ? &vec_grown_[(nr)++] : NULL;                                                  \
	})

/*
 * How many of `nr` items, which are sorted, a condition about the item `i` holds for: those come first.
 *	size_t until = vec_count(list->nr, i, list->at[i].ts <= ts);
 */
#define vec_count(nr, i, condition)                                                     \
	({                                                                              \
		__typeof__((nr) + 0) vec_low_ = 0, vec_high_ = (nr);                    \
		while (vec_low_ < vec_high_) {                                          \
			__typeof__((nr) + 0) i = vec_low_ + (vec_high_ - vec_low_) / 2; \
			if (condition)                                                  \
				vec_low_ = i + 1;                                       \
			else                                                            \
				vec_high_ = i;                                          \
		}                                                                       \
		vec_low_;                                                               \
	})

#endif
