/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_SCALE_H
#define WEFT_GROUND_BASE_SCALE_H

#include <stdint.h>

/*
 * Products of 64-bit numbers that are scaled down again before they are truncated to 64 bits. Compilers for 32-bit
 * machines have no __int128; there the product is kept in two halves.
 */

struct scale_wide {
	uint64_t high, low;
};

static inline struct scale_wide scale_product(uint64_t a, uint64_t b)
{
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t left = (a >> 32) * (b & UINT32_MAX), right = (a & UINT32_MAX) * (b >> 32);
	uint64_t middle = (low >> 32) + (left & UINT32_MAX) + (right & UINT32_MAX);

	return (struct scale_wide){
		.high = (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32) + (middle >> 32),
		.low = middle << 32 | (low & UINT32_MAX),
	};
}

/* The low 64 bits of wide / by, by long division of one bit at a time; `by` is not 0. */
static inline uint64_t scale_divide(struct scale_wide wide, uint64_t by)
{
	uint64_t rest = wide.high % by, quotient = 0;

	for (int bit = 63; bit >= 0; bit--) {
		uint64_t carry = rest >> 63;

		rest = rest << 1 | (wide.low >> bit & 1);
		quotient <<= 1;
		if (!carry && rest < by)
			continue;
		rest -= by;
		quotient |= 1;
	}
	return quotient;
}

/* The low 64 bits of a * b / by; `by` is not 0. */
static inline uint64_t scale_mul_div(uint64_t a, uint64_t b, uint64_t by)
{
#ifdef __SIZEOF_INT128__
	return (uint64_t)((unsigned __int128)a * b / by);
#else
	return scale_divide(scale_product(a, b), by);
#endif
}

/*
 * value / by, and a * b / by, rounded to the nearest number, a half to the even one: how every number is scaled that
 * people read. `by` is not 0.
 */
static inline uint64_t scale_round_rest(uint64_t quotient, uint64_t rest, uint64_t by)
{
	return quotient + (rest > by - rest || (rest == by - rest && quotient & 1));
}

static inline uint64_t scale_round(uint64_t value, uint64_t by)
{
	return scale_round_rest(value / by, value % by, by);
}

static inline uint64_t scale_round_mul_div(uint64_t a, uint64_t b, uint64_t by)
{
	/* The rest is below `by`, so that its low 64 bits are all of it. */
	uint64_t quotient = scale_mul_div(a, b, by);

	return scale_round_rest(quotient, a * b - quotient * by, by);
}

/* The low 64 bits of a * b >> shift; `shift` is below 64. */
static inline uint64_t scale_mul_shift(uint64_t a, uint64_t b, uint32_t shift)
{
#ifdef __SIZEOF_INT128__
	return (uint64_t)((unsigned __int128)a * b >> shift);
#else
	struct scale_wide wide = scale_product(a, b);

	return shift ? wide.high << (64 - shift) | wide.low >> shift : wide.low;
#endif
}

/* The low 64 bits of (a << shift) / by; `shift` is below 64 and `by` is not 0. */
static inline uint64_t scale_shift_div(uint64_t a, uint32_t shift, uint64_t by)
{
	return scale_mul_div(a, UINT64_C(1) << shift, by);
}

#endif
