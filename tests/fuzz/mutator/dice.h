/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FUZZ_DICE_H
#define WEFT_FUZZ_DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pseudo-random numbers that depend on a seed alone, so that a mutation can be repeated. */
struct dice {
	uint64_t state;
};

static inline uint64_t dice_u64(struct dice *dice)
{
	dice->state ^= dice->state << 13;
	dice->state ^= dice->state >> 7;
	dice->state ^= dice->state << 17;
	return dice->state * 0x2545f4914f6cdd1dULL;
}

/* Returns 0 <= number < below; 0 if below is 0. */
static inline size_t dice_below(struct dice *dice, size_t below)
{
	return below ? (size_t)((dice_u64(dice) >> 16) % below) : 0;
}

static inline bool dice_once_in(struct dice *dice, size_t n)
{
	return !dice_below(dice, n);
}

/*
 * Returns a value for a field that held `old`: a near value, an absurd one, a size or place of the file, or any number.
 */
static inline uint64_t dice_claim(struct dice *dice, uint64_t old, uint64_t file_size)
{
	static const uint64_t absurd[] = { 0,
					   1,
					   2,
					   7,
					   8,
					   0x7f,
					   0xff,
					   0x100,
					   0xfff,
					   0x1000,
					   0x7fff,
					   0xffff,
					   0x10000,
					   0x7fffffff,
					   0x80000000,
					   0xfffffff0,
					   0xffffffff,
					   0x100000000,
					   0x7fffffffffffffff,
					   0x8000000000000000,
					   0xffffffffffffffff };

	switch (dice_below(dice, 7)) {
	case 0:
		return old + 1 + dice_below(dice, 16);
	case 1:
		return old - 1 - dice_below(dice, 16);
	case 2:
		return old ^ 1ULL << dice_below(dice, 64);
	case 3:
		return dice_below(dice, (size_t)file_size + 16);
	case 4:
		return old * 2;
	case 5:
		return dice_u64(dice) >> dice_below(dice, 64);
	}
	return absurd[dice_below(dice, sizeof(absurd) / sizeof(*absurd))];
}

#endif
