/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_STATE_LETTERS_H
#define WEFT_STATE_LETTERS_H

#include <stdint.h>

/*
 * What the bits of sched_switch's prev_state mean. They moved over the years (0x40 was 'x' and is 'P'), so they are taken from the table of the
 * event's own print fmt, { 0x00000001, "S" }, ..., and the bit above the last one says that the task was preempted. A format without
 * a table has only the bits that never changed.
 */
enum { LETTERS_BITS = 16 };

struct letters {
	char at[LETTERS_BITS]; /* by bit; 0: no meaning */
	uint64_t preempted;    /* a mask */
};

void letters_init(struct letters *letters, const char *print_fmt);

/* 'R', '+' (preempted), 'S', 'D', ...: the one that tells most when several are set. */
char letters_of(const struct letters *letters, uint64_t prev_state);

#endif
