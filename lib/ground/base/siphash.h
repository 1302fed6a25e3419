/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_SIPHASH_H
#define WEFT_GROUND_BASE_SIPHASH_H

#include <stdint.h>

/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012) of one number: the kernel hashes the pointers that it prints with it
 * (lib/siphash.c: siphash_1u64()).
 */
struct siphash_key {
	uint64_t words[2];
};

uint64_t siphash_u64(const struct siphash_key *key, uint64_t number);

#endif
