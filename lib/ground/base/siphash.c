// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/siphash.h"

static uint64_t rotate(uint64_t value, unsigned by)
{
	return value << by | value >> (64 - by);
}

static void rounds(uint64_t v[4], unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

uint64_t siphash_u64(const struct siphash_key *key, uint64_t number)
{
	/* The constants are the text "somepseudorandomlygeneratedbytes"; the last word has the length. */
	uint64_t v[4] = { key->words[0] ^ UINT64_C(0x736f6d6570736575), key->words[1] ^ UINT64_C(0x646f72616e646f6d),
			  key->words[0] ^ UINT64_C(0x6c7967656e657261), key->words[1] ^ UINT64_C(0x7465646279746573) };
	const uint64_t words[2] = { number, UINT64_C(8) << 56 };

	for (unsigned i = 0; i < 2; i++) {
		v[3] ^= words[i];
		rounds(v, 2);
		v[0] ^= words[i];
	}
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
