/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_STATE_GAPS_H
#define WEFT_STATE_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The times in which events were lost, in the order in which that was noticed. What is asked is: since I looked last, when did the first of
 * them begin? So only those are kept that no later one precedes; a bounded number, of which the oldest are then taken together.
 */
struct gaps {
	struct gap {
		uint64_t number, from;
	} * items; /* both grow from one to the next */
	size_t nr;
	uint64_t number; /* of gaps so far */
};

void gaps_release(struct gaps *gaps);
/* Events were lost from this time on. False without memory: nothing can be known any more. */
bool gaps_add(struct gaps *gaps, uint64_t from);

/* Of the gaps behind the first `number`: whether there are any, and when the earliest of them began. */
bool gaps_find(const struct gaps *gaps, uint64_t number, uint64_t *ret_from);

#endif
