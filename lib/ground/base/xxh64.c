// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/xxh64.h"

#include "lib/ground/base/bytes.h"

/* Constants and order of steps as in the xxHash specification, which uses little-endian words. */
#define PRIME_1 UINT64_C(0x9e3779b185ebca87)
#define PRIME_2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define PRIME_3 UINT64_C(0x165667b19e3779f9)
#define PRIME_4 UINT64_C(0x85ebca77c2b2ae63)
#define PRIME_5 UINT64_C(0x27d4eb2f165667c5)

enum { LANES = 4, STRIPE = 32, SWAP = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };

static inline uint64_t rotate(uint64_t value, unsigned by)
{
	return value << by | value >> (64 - by);
}

static inline uint64_t round_of(uint64_t lane, uint64_t word)
{
	return rotate(lane + word * PRIME_2, 31) * PRIME_1;
}

static uint64_t take_stripes(const uint8_t **at, size_t *left)
{
	uint64_t lanes[LANES] = { PRIME_1 + PRIME_2, PRIME_2, 0, -PRIME_1 }, sum;

	for (; *left >= STRIPE; *at += STRIPE, *left -= STRIPE)
		for (size_t i = 0; i < LANES; i++)
			lanes[i] = round_of(lanes[i], load_u64(*at + i * 8, SWAP));
	sum = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
	for (size_t i = 0; i < LANES; i++)
		sum = (sum ^ round_of(0, lanes[i])) * PRIME_1 + PRIME_4;
	return sum;
}

uint64_t xxh64(const void *data, size_t len)
{
	const uint8_t *at = data;
	size_t left = len;
	uint64_t sum = len >= STRIPE ? take_stripes(&at, &left) : PRIME_5;

	sum += len;
	for (; left >= 8; at += 8, left -= 8)
		sum = rotate(sum ^ round_of(0, load_u64(at, SWAP)), 27) * PRIME_1 + PRIME_4;
	for (; left >= 4; at += 4, left -= 4)
		sum = rotate(sum ^ load_u32(at, SWAP) * PRIME_1, 23) * PRIME_2 + PRIME_3;
	for (; left; at++, left--)
		sum = rotate(sum ^ *at * PRIME_5, 11) * PRIME_1;
	sum = (sum ^ sum >> 33) * PRIME_2;
	sum = (sum ^ sum >> 29) * PRIME_3;
	return sum ^ sum >> 32;
}
