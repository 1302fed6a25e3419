/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_GROUND_BASE_DIGITS_H
#define WEFT_GROUND_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

#include "lib/ground/base/now.h"
#ifdef __x86_64__
#include <emmintrin.h>
#endif

/*
 * Writes digits straight into a buffer, for the hottest paths. The caller has made room for DIGITS_MAX bytes at `at`.
 * Each function returns the end of the text. No locale, no NUL.
 */
enum { DIGITS_MAX = 24 };

extern const char digits_pairs[201];

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

/* A number below 1000 without leading zeros, and with them: each is copied as four bytes. */
struct digits_triple {
	char few[3];
	uint8_t len; /* of few */
	char all[4];
};

/* A number below 256 in hex without leading zeros: copied as four bytes. */
struct digits_byte {
	char text[3];
	uint8_t len;
};

extern const struct digits_triple digits_triples[1000];
extern const struct digits_byte digits_bytes[256];

/* Below 1000, without leading zeros. */
static inline char *digits_put_few(char *at, uint32_t value)
{
	const struct digits_triple *triple = &digits_triples[value];

	memcpy(at, triple, 4);
	return at + triple->len;
}

/* Below 1000, three digits: writes four bytes. */
static inline char *digits_put_all(char *at, uint32_t value)
{
	memcpy(at, digits_triples[value].all, 4);
	return at + 3;
}

/* Any number, two digits at a time from its end. */
char *digits_put_long(char *at, uint64_t value);

/* Without leading zeros. Most numbers are small: a table has three digits at a time. */
static inline char *digits_put_u64(char *at, uint64_t value)
{
	uint32_t low, thousands;

	if (value < 1000)
		return digits_put_few(at, (uint32_t)value);
	if (__builtin_expect(value >= 1000000000, 0))
		return digits_put_long(at, value);
	low = (uint32_t)value;
	thousands = low / 1000;
	low -= thousands * 1000;
	if (thousands < 1000) {
		at = digits_put_few(at, thousands);
	} else {
		at = digits_put_few(at, thousands / 1000);
		at = digits_put_all(at, thousands % 1000);
	}
	return digits_put_all(at, low);
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

/* Seconds with nine digits behind the point, "12.345678901", `width` characters before it at least. */
static inline char *digits_put_seconds(char *at, uint64_t ns, unsigned width)
{
	uint64_t seconds = ns / NS_PER_S;

	at = digits_put_right(at, seconds, width);
	*at++ = '.';
	return digits_put_9(at, (uint32_t)(ns - seconds * NS_PER_S));
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
	unsigned zeros;

	if (value < 256) {
		memcpy(at, &digits_bytes[value], 4);
		return at + digits_bytes[value].len;
	}
	zeros = (unsigned)__builtin_clzll(value) / 4;
	digits_hex_16(at, value << 4 * zeros);
	return at + 16 - zeros;
}

#endif
