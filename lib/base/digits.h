/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_BASE_DIGITS_H
#define WEFT_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

/*
 * Writes digits straight into a buffer, for the hottest paths. The caller has made room for DIGITS_MAX bytes at `at`.
 * Each function returns the end of the text. No locale, no NUL.
 */
enum { DIGITS_MAX = 24 };

static const char digits_pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
				   "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
				   "8081828384858687888990919293949596979899";

static inline unsigned digits_count(uint64_t value)
{
	static const uint64_t powers[] = { 0,
					   10ULL,
					   100ULL,
					   1000ULL,
					   10000ULL,
					   100000ULL,
					   1000000ULL,
					   10000000ULL,
					   100000000ULL,
					   1000000000ULL,
					   10000000000ULL,
					   100000000000ULL,
					   1000000000000ULL,
					   10000000000000ULL,
					   100000000000000ULL,
					   1000000000000000ULL,
					   10000000000000000ULL,
					   100000000000000000ULL,
					   1000000000000000000ULL,
					   10000000000000000000ULL };
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
	unsigned guess = bits * 1233 >> 12;

	/* 1233 / 4096 is just above log10(2): the guess is right or one too few. */
	return guess + (value >= powers[guess]);
}

/*
 * The eight digits of a value below 100000000, one in each byte, the first digit in the lowest byte. It has no branch:
 * a branch on the number of digits would often be mispredicted.
 */
static inline uint64_t digits_8(uint32_t value)
{
	uint64_t four, two, one;

	/* Splits into halves of four digits, then into quarters of two. */
	four = value / 10000;
	four |= (uint64_t)(value - (uint32_t)four * 10000) << 32;
	two = four * 5243 >> 19 & 0x0000007f0000007f;
	two |= (four - two * 100) << 16;
	one = two * 103 >> 10 & 0x000f000f000f000f;
	return one | (two - one * 10) << 8;
}

/* Without leading zeros. Writes eight bytes, whatever the number of digits. */
static inline char *digits_put_8(char *at, uint32_t value)
{
	uint64_t digits = digits_8(value);
	unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;

	digits = (digits | 0x3030303030303030) >> 8 * zeros;
	digits = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? digits : __builtin_bswap64(digits);
	memcpy(at, &digits, sizeof(digits));
	return at + 8 - zeros;
}

static inline char *digits_put_u64(char *at, uint64_t value)
{
	char *end, *to;

	if (value < 100000000)
		return digits_put_8(at, (uint32_t)value);
	end = to = at + digits_count(value);
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

static inline char *digits_put_s64(char *at, int64_t value)
{
	if (value >= 0)
		return digits_put_u64(at, (uint64_t)value);
	*at = '-';
	return digits_put_u64(at + 1, 0 - (uint64_t)value);
}

/* Exactly the number of digits in the name, with leading zeros. The value must not have more. */
static inline char *digits_put_2(char *at, uint32_t value)
{
	memcpy(at, digits_pairs + value * 2, 2);
	return at + 2;
}

static inline char *digits_put_3(char *at, uint32_t value)
{
	*at++ = (char)('0' + value / 100);
	return digits_put_2(at, value % 100);
}

static inline char *digits_put_6(char *at, uint32_t value)
{
	uint32_t high = value / 10000, low = value % 10000;

	at = digits_put_2(at, high);
	at = digits_put_2(at, low / 100);
	return digits_put_2(at, low % 100);
}

static inline char *digits_put_9(char *at, uint32_t value)
{
	at = digits_put_3(at, value / 1000000);
	return digits_put_6(at, value % 1000000);
}

/* At least `width` characters, padded with blanks on the left. The caller also makes room for `width` characters. */
static inline char *digits_put_right(char *at, uint64_t value, unsigned width)
{
	for (unsigned len = digits_count(value); len < width; width--)
		*at++ = ' ';
	return digits_put_u64(at, value);
}

#ifdef __x86_64__
/* The sixteen hex digits of a value, at once. */
static inline void digits_hex_16(char *at, uint64_t value)
{
	__m128i nibbles, letters;

	nibbles = _mm_cvtsi64_si128((long long)__builtin_bswap64(value));
	nibbles = _mm_unpacklo_epi8(_mm_srli_epi64(nibbles, 4), nibbles);
	nibbles = _mm_and_si128(nibbles, _mm_set1_epi8(15));
	letters = _mm_and_si128(_mm_cmpgt_epi8(nibbles, _mm_set1_epi8(9)), _mm_set1_epi8('a' - '9' - 1));
	_mm_storeu_si128((__m128i *)at, _mm_add_epi8(_mm_add_epi8(nibbles, letters), _mm_set1_epi8('0')));
}
#else
/* The eight hex digits of a value, at once. */
static inline void digits_hex_8(char *at, uint32_t value)
{
	uint64_t digits = value, letters;

	/* One nibble in each byte; letters add 39, the distance from '9' + 1 to 'a'. */
	digits = (digits << 16 | digits) & 0x0000ffff0000ffff;
	digits = (digits << 8 | digits) & 0x00ff00ff00ff00ff;
	digits = (digits << 4 | digits) & 0x0f0f0f0f0f0f0f0f;
	letters = (digits + 0x0606060606060606) >> 4 & 0x0101010101010101;
	digits += 0x3030303030303030 + letters * 39;
	digits = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(digits) : digits;
	memcpy(at, &digits, sizeof(digits));
}

static inline void digits_hex_16(char *at, uint64_t value)
{
	digits_hex_8(at, (uint32_t)(value >> 32));
	digits_hex_8(at + 8, (uint32_t)value);
}
#endif

/* The first digit is shifted to the top. Sixteen bytes are written; those after the text are undefined. */
static inline char *digits_put_hex(char *at, uint64_t value)
{
	unsigned zeros = (unsigned)__builtin_clzll(value | 1) / 4;

	digits_hex_16(at, value << 4 * zeros);
	return at + 16 - zeros;
}

#endif
