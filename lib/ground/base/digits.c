// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/digits.h"

/* clang-format off */
#define TIMES_10(entry, from)                                                                                 \
	entry((from) + 0), entry((from) + 1), entry((from) + 2), entry((from) + 3), entry((from) + 4),        \
	entry((from) + 5), entry((from) + 6), entry((from) + 7), entry((from) + 8), entry((from) + 9)
#define TIMES_100(entry, from)                                                                                \
	TIMES_10(entry, (from) + 0), TIMES_10(entry, (from) + 10), TIMES_10(entry, (from) + 20),              \
	TIMES_10(entry, (from) + 30), TIMES_10(entry, (from) + 40), TIMES_10(entry, (from) + 50),             \
	TIMES_10(entry, (from) + 60), TIMES_10(entry, (from) + 70), TIMES_10(entry, (from) + 80),             \
	TIMES_10(entry, (from) + 90)

#define DECIMAL(n)                                                                                            \
	{ { '0' + ((n) < 10 ? (n) : (n) < 100 ? (n) / 10 : (n) / 100),                                        \
	    '0' + ((n) < 100 ? (n) % 10 : (n) / 10 % 10), '0' + (n) % 10 },                                   \
	  (n) < 10 ? 1 : (n) < 100 ? 2 : 3,                                                                   \
	  { '0' + (n) / 100, '0' + (n) / 10 % 10, '0' + (n) % 10, '0' } }

#define NIBBLE(n) ((n) < 10 ? '0' + (n) : 'a' - 10 + (n))
#define HEX(n) { { NIBBLE((n) < 16 ? (n) : (n) / 16), NIBBLE((n) % 16), '0' }, (n) < 16 ? 1 : 2 }

const struct digits_triple digits_triples[1000] = {
	TIMES_100(DECIMAL, 0), TIMES_100(DECIMAL, 100), TIMES_100(DECIMAL, 200), TIMES_100(DECIMAL, 300),
	TIMES_100(DECIMAL, 400), TIMES_100(DECIMAL, 500), TIMES_100(DECIMAL, 600), TIMES_100(DECIMAL, 700),
	TIMES_100(DECIMAL, 800), TIMES_100(DECIMAL, 900),
};

const struct digits_byte digits_bytes[256] = {
	TIMES_100(HEX, 0), TIMES_100(HEX, 100), TIMES_10(HEX, 200), TIMES_10(HEX, 210), TIMES_10(HEX, 220),
	TIMES_10(HEX, 230), TIMES_10(HEX, 240), HEX(250), HEX(251), HEX(252), HEX(253), HEX(254), HEX(255),
};
/* clang-format on */

const char digits_pairs[201] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
			       "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
			       "8081828384858687888990919293949596979899";

char *digits_put_long(char *at, uint64_t value)
{
	char *end = at + digits_count(value), *to = end;

	while (value >= 100) {
		uint64_t rest = value / 100;

		to -= 2;
		memcpy(to, digits_pairs + (value - rest * 100) * 2, 2);
		value = rest;
	}
	if (value >= 10)
		memcpy(to - 2, digits_pairs + value * 2, 2);
	else
		to[-1] = (char)('0' + value);
	return end;
}
