// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/number.h"

#include <string.h>

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return UINT32_MAX;
}

static bool take_digits(const char **at, unsigned base, uint64_t max, uint64_t *ret)
{
	const char *to = *at;
	uint64_t value = 0;

	for (unsigned digit; (digit = digit_of(*to)) < base; to++)
		if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value) ||
		    value > max)
			return false;
	if (to == *at)
		return false;
	*at = to;
	*ret = value;
	return true;
}

bool number_u64(const char **at, uint64_t *ret)
{
	return take_digits(at, 10, UINT64_MAX, ret);
}

bool number_u32(const char **at, uint32_t *ret)
{
	uint64_t value;

	if (!take_digits(at, 10, UINT32_MAX, &value))
		return false;
	*ret = (uint32_t)value;
	return true;
}

static bool take_signed(const char **at, uint64_t max, int64_t *ret)
{
	bool minus = **at == '-';
	const char *to = *at + minus;
	uint64_t value;

	if (!take_digits(&to, 10, max + minus, &value))
		return false;
	*at = to;
	*ret = (int64_t)(minus ? 0 - value : value);
	return true;
}

bool number_s64(const char **at, int64_t *ret)
{
	return take_signed(at, INT64_MAX, ret);
}

bool number_s32(const char **at, int32_t *ret)
{
	int64_t value;

	if (!take_signed(at, INT32_MAX, &value))
		return false;
	*ret = (int32_t)value;
	return true;
}

bool number_hex(const char **at, uint64_t *ret)
{
	bool prefix = (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X') && digit_of((*at)[2]) < 16;
	const char *to = *at + (prefix ? 2 : 0);

	if (!take_digits(&to, 16, UINT64_MAX, ret))
		return false;
	*at = to;
	return true;
}

static const char *behind_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

uint64_t number_of(const char *text, uint64_t otherwise)
{
	const char *at = behind_blanks(text);
	uint64_t value;

	if (!number_u64(&at, &value))
		return otherwise;
	at = behind_blanks(at);
	return !*at || *at == '\n' ? value : otherwise;
}

bool number_after(const char *text, const char *name, uint64_t *ret)
{
	const char *found = strstr(text, name), *at = found ? behind_blanks(found + strlen(name)) : NULL;

	return at && number_u64(&at, ret);
}
