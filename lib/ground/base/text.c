// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/ground/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/ground/base/digits.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/scale.h"

/*
 * Matches c against the set that begins after '['. *end is set after its ']'; without a ']' the '[' is an ordinary
 * character.
 */
static bool glob_set(const char *set, unsigned char c, const char **end)
{
	bool inverted = *set == '!' || *set == '^', found = false;
	const char *at = set + inverted;

	do {
		unsigned char low, high;

		if (*at == '\\' && at[1])
			at++;
		if (!*at) {
			*end = set;
			return c == '[';
		}
		low = high = (unsigned char)*at++;
		if (*at == '-' && at[1] && at[1] != ']') {
			high = (unsigned char)at[1];
			at += 2;
		}
		found |= low <= c && c <= high;
	} while (*at != ']');
	*end = at + 1;
	return found != inverted;
}

bool text_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *resume = NULL;

	while (*text) {
		const char *next = pattern + 1;
		bool same;

		if (*pattern == '*') {
			star = ++pattern;
			resume = text;
			continue;
		}
		if (*pattern == '[') {
			same = glob_set(pattern + 1, (unsigned char)*text, &next);
		} else if (*pattern == '\\' && pattern[1]) {
			same = pattern[1] == *text;
			next = pattern + 2;
		} else {
			same = *pattern == '?' || *pattern == *text;
		}
		if (same) {
			pattern = next;
			text++;
			continue;
		}
		/* Only the last star has to be retried: everything before it has matched at the earliest place. */
		if (!star)
			return false;
		pattern = star;
		text = ++resume;
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool text_is_glob(const char *pattern)
{
	return strpbrk(pattern, "*?[") != NULL;
}

static int digit_of(char c, unsigned base)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (base == 16 && isxdigit((unsigned char)c))
		return tolower((unsigned char)c) - 'a' + 10;
	return -1;
}

int text_parse_u64(const char *text, uint64_t *ret, struct fail *fail)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	const char *at = hex ? text + 2 : text;
	unsigned base = hex ? 16 : 10;
	uint64_t value = 0;
	int digit;

	if (!*at)
		return fail_set(fail, -EINVAL, "'%s' is no number", text);
	for (; *at; at++) {
		digit = digit_of(*at, base);
		if (digit < 0)
			return fail_set(fail, -EINVAL, "'%s' is no number", text);
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return fail_set(fail, -ERANGE, "'%s' is too large", text);
	}
	*ret = value;
	return 0;
}

int text_parse_s64(const char *text, int64_t *ret, struct fail *fail)
{
	bool minus = text[0] == '-';
	uint64_t value;
	int err = text_parse_u64(text + minus, &value, fail);

	if (err)
		return fail_set(fail, err, err == -ERANGE ? "'%s' is too large" : "'%s' is no number", text);
	if (value > (uint64_t)INT64_MAX + minus)
		return fail_set(fail, -ERANGE, "'%s' is too large", text);
	*ret = (int64_t)(minus ? 0 - value : value);
	return 0;
}

int text_parse_range(const char *text, uint64_t min, uint64_t max, uint64_t *ret, struct fail *fail)
{
	uint64_t value;
	int err = text_parse_u64(text, &value, fail);

	if (err && err != -ERANGE)
		return err;
	/* No user thinks of the largest number there is as a bound. */
	if (!err && value < min && max == UINT64_MAX)
		return fail_set(fail, -ERANGE, "%s is too small; the smallest is %" PRIu64, text, min);
	if (err || value < min || value > max)
		return fail_set(fail, -ERANGE, "%s is not between %" PRIu64 " and %" PRIu64, text, min, max);
	*ret = value;
	return 0;
}

#define FRACTION_MAX 1000000000 /* one nanosecond is the finest resolution */

struct unit {
	const char *name;
	uint64_t factor;
};

/*
 * Parses DIGITS[.DIGITS][UNIT] with integers; digits after the ninth of a fraction are ignored. A bare number has the
 * first unit.
 */
static int parse_with_unit(const char *text, const struct unit *units, const char *what, uint64_t *ret,
			   struct fail *fail)
{
	const struct unit *unit = units;
	uint64_t whole = 0, numerator = 0, denominator = 1, value;
	const char *at = text;
	bool large = false;

	if (!isdigit((unsigned char)*at))
		return fail_set(fail, -EINVAL, "'%s' is no %s", text, what);
	for (; isdigit((unsigned char)*at); at++)
		large |= __builtin_mul_overflow(whole, 10, &whole) ||
			 __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole);
	if (*at == '.' && isdigit((unsigned char)at[1])) {
		for (at++; isdigit((unsigned char)*at); at++) {
			if (denominator == FRACTION_MAX)
				continue;
			numerator = numerator * 10 + (uint64_t)(*at - '0');
			denominator *= 10;
		}
	}
	while (unit->name && strcasecmp(unit->name, at))
		unit++;
	if (!unit->name)
		return fail_set(fail, -EINVAL, "'%s' is not a %s: unknown unit '%s'", text, what, at);
	large |= __builtin_mul_overflow(whole, unit->factor, &value);
	numerator = scale_mul_div(numerator, unit->factor, denominator);
	if (large || __builtin_add_overflow(value, numerator, &value))
		return fail_set(fail, -ERANGE, "'%s' is too large", text);
	*ret = value;
	return 0;
}

int text_parse_size(const char *text, uint64_t *ret_bytes, struct fail *fail)
{
	static const struct unit units[] = {
		{ "", 1 << 10 },      { "B", 1 },
		{ "K", 1 << 10 },     { "KB", 1 << 10 },
		{ "KiB", 1 << 10 },   { "M", 1 << 20 },
		{ "MB", 1 << 20 },    { "MiB", 1 << 20 },
		{ "G", 1 << 30 },     { "GB", 1 << 30 },
		{ "GiB", 1 << 30 },   { "T", 1ULL << 40 },
		{ "TB", 1ULL << 40 }, { "TiB", 1ULL << 40 },
		{ NULL, 0 },
	};

	return parse_with_unit(text, units, "size such as 512K or 10M", ret_bytes, fail);
}

int text_parse_time(const char *text, uint64_t *ret_ns, struct fail *fail)
{
	static const struct unit units[] = {
		{ "", 1000000000 },     { "s", 1000000000 },    { "sec", 1000000000 }, { "ms", 1000000 },
		{ "us", 1000 },         { "\302\265s", 1000 },  { "ns", 1 },           { "m", 60000000000 },
		{ "min", 60000000000 }, { "h", 3600000000000 }, { NULL, 0 },
	};

	return parse_with_unit(text, units, "time such as 10ms or 1.5s", ret_ns, fail);
}

bool text_next_word(const char **at, const char *separators, struct text_word *ret)
{
	const char *start = *at + strspn(*at, separators);
	size_t len = strcspn(start, separators);

	if (!len)
		return false;
	*ret = (struct text_word){ .at = start, .len = len };
	*at = start + len;
	return true;
}

bool text_next_line(const char **at, size_t *left, struct text_word *ret)
{
	const char *end;
	size_t len;

	if (!*left)
		return false;
	end = memchr(*at, '\n', *left);
	len = end ? (size_t)(end - *at) : *left;
	*ret = (struct text_word){ .at = *at, .len = len };
	*at += len + (end != NULL);
	*left -= len + (end != NULL);
	return true;
}

bool text_word_is(struct text_word word, const char *text)
{
	return strlen(text) == word.len && !memcmp(word.at, text, word.len);
}

bool text_chosen(const char *text, struct text_word *ret)
{
	const char *open = text ? strchr(text, '[') : NULL, *close = open ? strpbrk(open, "]\n") : NULL;

	if (!close || *close != ']')
		return false;
	*ret = (struct text_word){ open + 1, (size_t)(close - open) - 1 };
	return true;
}

int text_word_compare(struct text_word one, struct text_word other)
{
	size_t both = one.len < other.len ? one.len : other.len;
	/* An empty word may have no place. */
	int order = both ? memcmp(one.at, other.at, both) : 0;

	return order ? order : (one.len > other.len) - (one.len < other.len);
}

bool text_is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool text_is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!text_is_name_char(text[i]))
			return false;
	return len && (*text < '0' || *text > '9');
}

const char *text_size(char into[TEXT_HUMAN], uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	enum { LAST = sizeof(units) / sizeof(*units) - 1 };
	size_t unit = 0;
	uint64_t tenths;

	/* What rounds to 1024 of a unit is 1.0 of the next one. */
	while (unit < LAST && scale_round(bytes, UINT64_C(1) << 10 * unit) >= 1024)
		unit++;
	tenths = scale_round_mul_div(bytes, 10, UINT64_C(1) << 10 * unit);
	if (!unit || tenths >= 1000)
		snprintf(into, TEXT_HUMAN, "%" PRIu64 " %s", scale_round(bytes, UINT64_C(1) << 10 * unit), units[unit]);
	else
		snprintf(into, TEXT_HUMAN, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, units[unit]);
	return into;
}

/* Each unit ends where its own rounding reaches the next one: 999,950 ns are "1.0 ms". */
const char *text_time(char into[TEXT_HUMAN], uint64_t ns)
{
	uint64_t us = scale_round(ns, NS_PER_US / 10), ms = scale_round(ns, NS_PER_MS / 10);
	uint64_t hundredths = scale_round(ns, NS_PER_S / 100), seconds = scale_round(ns, NS_PER_S);
	uint64_t minutes = scale_round(ns, 60ull * NS_PER_S);

	if (ns < NS_PER_US)
		snprintf(into, TEXT_HUMAN, "%" PRIu64 " ns", ns);
	else if (us < 10000)
		snprintf(into, TEXT_HUMAN, "%" PRIu64 ".%" PRIu64 " us", us / 10, us % 10);
	else if (ms < 10000)
		snprintf(into, TEXT_HUMAN, "%" PRIu64 ".%" PRIu64 " ms", ms / 10, ms % 10);
	else if (hundredths < 6000)
		snprintf(into, TEXT_HUMAN, "%" PRIu64 ".%02" PRIu64 " s", hundredths / 100, hundredths % 100);
	else if (seconds < 3600)
		snprintf(into, TEXT_HUMAN, "%" PRIu64 "m %02" PRIu64 "s", seconds / 60, seconds % 60);
	else
		snprintf(into, TEXT_HUMAN, "%" PRIu64 "h %02" PRIu64 "m", minutes / 60, minutes % 60);
	return into;
}

const char *text_stamp(char into[TEXT_HUMAN], uint64_t ts)
{
	uint64_t us = ts / NS_PER_US + (ts % NS_PER_US >= NS_PER_US / 2);

	snprintf(into, TEXT_HUMAN, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
	return into;
}

const char *text_seconds(char into[TEXT_HUMAN], uint64_t ns)
{
	*digits_put_seconds(into, ns, 0) = '\0';
	return into;
}

const char *text_count(char into[TEXT_HUMAN], uint64_t count)
{
	char digits[TEXT_HUMAN];
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), to = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			into[to++] = ',';
		into[to++] = digits[i];
	}
	into[to] = '\0';
	return into;
}

const char *text_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}
