/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_FORMATS_DIGITS_H
#define WEFT_FORMATS_DIGITS_H

#include <stdint.h>
#include <string.h>

/*
 * Decimal digits at `at`, for writers that made room with one out_need() before: each returns the end of what it wrote.
 * Room for 20 digits, or for the width if that is more, is the caller's.
 */
extern const char digit_pairs[201];

static inline char *digits_write_2(char *at, uint32_t value)
{
	memcpy(at, digit_pairs + value * 2, 2);
	return at + 2;
}

static inline char *digits_write_3(char *at, uint32_t value)
{
	*at++ = (char)('0' + value / 100);
	return digits_write_2(at, value % 100);
}

static inline char *digits_write_6(char *at, uint32_t value)
{
	uint32_t high = value / 10000, low = value % 10000;

	at = digits_write_2(at, high);
	at = digits_write_2(at, low / 100);
	return digits_write_2(at, low % 100);
}

static inline char *digits_write_9(char *at, uint32_t value)
{
	at = digits_write_3(at, value / 1000000);
	return digits_write_6(at, value % 1000000);
}

/* At least `width` characters, filled with blanks on the left. */
static inline char *digits_write_right(char *at, uint64_t value, unsigned width)
{
	char text[24], *end = text + sizeof(text), *from = end;
	unsigned len;

	while (value >= 100) {
		from -= 2;
		memcpy(from, digit_pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10) {
		from -= 2;
		memcpy(from, digit_pairs + value * 2, 2);
	} else {
		*--from = (char)('0' + value);
	}
	for (len = (unsigned)(end - from); len < width; width--)
		*at++ = ' ';
	memcpy(at, from, len);
	return at + len;
}

static inline char *digits_write(char *at, uint64_t value)
{
	return digits_write_right(at, value, 0);
}

#endif
