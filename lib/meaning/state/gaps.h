/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_STATE_GAPS_H
#define WEFT_MEANING_STATE_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A gap is a span of time in which events were lost. The list holds the time at which each gap began, in the order in
 * which the gaps were noticed. It answers one question: of all gaps since a given one, when did the earliest begin? So
 * a gap is dropped when a later one begins earlier. The number of gaps is bounded: when the list is full, neighbours
 * are joined.
 */
struct gaps {
	struct gap {
		uint64_t number, from;
	} * items; /* `number` and `from` ascend */
	size_t nr;
	uint64_t number; /* number of gaps so far */
};

void gaps_release(struct gaps *gaps);
/* Adds a gap that begins at `from`. False without memory: then everything counts as unknown. */
bool gaps_add(struct gaps *gaps, uint64_t from);

/*
 * Returns whether there are gaps after the first `number` gaps; *ret_from is the time at which the earliest of them
 * began.
 */
bool gaps_search(const struct gaps *gaps, uint64_t number, uint64_t *ret_from);

static inline bool gaps_find(const struct gaps *gaps, uint64_t number, uint64_t *ret_from)
{
	return number < gaps->number && gaps->nr && gaps_search(gaps, number, ret_from);
}

#endif
