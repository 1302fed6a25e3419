/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_STATE_LETTERS_H
#define WEFT_STATE_LETTERS_H

#include <stdint.h>

/*
 * The meaning of the bits of sched_switch's prev_state. It has changed over the years (0x40 was 'x' and is 'P'), so it
 * is taken from the table of the event's own print fmt, { 0x00000001, "S" }, ...; the bit above the last one of the
 * table says that the task was preempted. For a format without a table only the bits that never changed are known.
 */
enum { LETTERS_BITS = 16 };

struct letters {
	char at[LETTERS_BITS];    /* by bit; 0: no meaning */
	char alone[LETTERS_BITS]; /* by bit: the letter of a state that has no other bit */
	uint64_t preempted;       /* a mask */
};

void letters_init(struct letters *letters, const char *print_fmt);

char letters_choose(const struct letters *letters, uint64_t prev_state);

/* 'R', '+' (preempted), 'S', 'D', ...; when several bits are set, the most specific letter. */
static inline char letters_of(const struct letters *letters, uint64_t prev_state)
{
	if (!prev_state)
		return 'R';
	/* One bit, and not that of a preempted task. */
	if (!(prev_state & (prev_state - 1)) && prev_state >> LETTERS_BITS == 0 && !(prev_state & letters->preempted))
		return letters->alone[__builtin_ctzll(prev_state)];
	return letters_choose(letters, prev_state);
}

#endif
