// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/siphash.h"
#include "tests/unit/test.h"

/* The vector of the paper's reference implementation for 8 bytes: the key is 00 01 .. 0f, the text 00 01 .. 07. */
TEST(siphash_has_the_value_of_its_authors)
{
	const struct siphash_key key = { { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) } };

	CHECK(siphash_u64(&key, UINT64_C(0x0706050403020100)) == UINT64_C(0x93f5f5799a932462));
}
