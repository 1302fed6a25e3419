/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_STATE_LETTERS_H
#define WEFT_MEANING_STATE_LETTERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The meaning of the bits in the field prev_state of sched_switch. It has changed over the years (0x40 was 'x' and is
 * now 'P'), so it is taken from the table in the event's own print fmt: { 0x00000001, "S" }, ... The bit above the
 * table's last one means that the task was preempted. For a format without a table, only the bits that never changed
 * are known.
 */
enum { LETTERS_BITS = 16 };

struct letters {
	char at[LETTERS_BITS];    /* by bit; 0: no meaning */
	char alone[LETTERS_BITS]; /* by bit: the letter of a state that has no other bit */
	uint64_t preempted;       /* a mask */
	bool by_number;           /* the field has the number of a bit plus 1: context_switch of the tracers wakeup */
};

void letters_init(struct letters *letters, const char *print_fmt);

/* For the numbers of states that tracers write, instead of bits. */
void letters_init_numbers(struct letters *letters);

char letters_choose(const struct letters *letters, uint64_t prev_state);

/* Returns 'R', '+' (preempted), 'S', 'D' and so on. When several bits are set, it returns the most specific letter. */
static inline char letters_of(const struct letters *letters, uint64_t prev_state)
{
	if (!prev_state)
		return 'R';
	if (letters->by_number)
		return prev_state <= LETTERS_BITS && letters->at[prev_state - 1] ? letters->at[prev_state - 1] : 'R';
	/* The fast path: exactly one bit is set, and it is not the bit of a preempted task. */
	if (!(prev_state & (prev_state - 1)) && prev_state >> LETTERS_BITS == 0 && !(prev_state & letters->preempted))
		return letters->alone[__builtin_ctzll(prev_state)];
	return letters_choose(letters, prev_state);
}

#endif
