/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_REPEATS_H
#define WEFT_MEANING_FOLLOW_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Calls of a function that an interrupt may have hit, in this interrupt. An interrupt between the clock and the record
 * of a function is inside it by the order of the records and outside its time, or the other way round. So at the end of
 * the function hit, the other calls of it are looked at once more. Places are as in struct hits.
 */
struct repeat {
	uint64_t func, start, lasted, interrupted;
	size_t place; /* of the outermost open call of the function at the end of this one; 0: there was none */
	bool before;  /* it ended before the entry of the function at that place */
};

struct repeat_sum {
	uint64_t calls, lasted, interrupted;
};

/*
 * What a call shows about earlier calls of its function: `inside` did not look like inner calls of it, because they
 * came before its entry, but its time includes theirs; `outside` looked like inner calls, but it had returned.
 */
struct repeats_found {
	struct repeat_sum inside, outside;
};

struct repeat_list {
	struct repeat *items;
	size_t nr;
};

struct repeats {
	struct repeat_list log;  /* ended since the last entry outside of interrupts */
	struct repeat_list open; /* wait for the end of the function at their place */
	bool starved;            /* memory ran out */
};

void repeats_release(struct repeats *repeats);

/* Forgets those that wait for the end of a function at this place: of one that never ended. */
void repeats_forget(struct repeats *repeats, size_t place);

/* A function begins at this place, in no interrupt. Returns whether any call waits for its end. */
bool repeats_begin(struct repeats *repeats, size_t place, uint64_t func);

/* A call ended that has an outer one, or that may belong to an interrupt. */
void repeats_add(struct repeats *repeats, const struct repeat *repeat);

/* A call ended that was at this place; 0: its record came after the records of an interrupt at its depth. */
struct repeats_found repeats_end(struct repeats *repeats, size_t place, const struct repeat *call);

#endif
