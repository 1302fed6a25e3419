/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FOLLOW_HITS_INTERNAL_H
#define WEFT_FOLLOW_HITS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The calls inside open functions that may not belong to them: those of interrupts, which may be outside the times of
 * these functions, and those of functions whose entry was not seen.
 * An open function is known by its place among those of its task: 1 is the outermost one. Place 0 has the calls outside
 * all of them: the entry of the function that they hit may come later.
 */
struct hit {
	size_t frame; /* the place of the function that was hit */
	uint64_t start, lasted, interrupted;
};

struct hits {
	struct hit *items; /* the innermost function's are last */
	size_t nr;
	bool starved; /* memory ran out */
};

void hits_release(struct hits *hits);

/* Forgets the hits of the places from `open` on. */
void hits_forget(struct hits *hits, size_t open);

/* Whether there may be hits of this place. */
static inline bool hits_any(const struct hits *hits, size_t frame)
{
	return hits->nr && hits->items[hits->nr - 1].frame >= frame;
}

/*
 * Adds a hit of the innermost open function. If there is no room for all hits, the last stay where they are; outside
 * all functions, the first are forgotten.
 */
void hits_add(struct hits *hits, size_t frame, const struct hit *hit);

/* Removes the hits of a function that began in this time. Returns their sums. */
struct hit hits_take(struct hits *hits, size_t frame, uint64_t since, uint64_t until);

/*
 * Call it when a function that lasted from `from` to `to` ends. Removes the hits outside this time, or, with
 * `to_caller`, makes them hits of its caller. Returns their sums. The other hits of the function are forgotten.
 */
struct hit hits_move(struct hits *hits, size_t frame, bool to_caller, uint64_t from, uint64_t to);

#endif
