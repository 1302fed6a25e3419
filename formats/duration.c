// SPDX-License-Identifier: GPL-2.0-only
/* Mirrors kernel/trace/trace_functions_graph.c: trace_print_graph_duration(). */
#include "formats/duration.h"

#include "lib/base/cleanup.h"

#include <stddef.h>
#include <string.h>

enum { DIGITS = 7, COLUMN = DURATION_COLUMN };

static const char pairs[] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
	"555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

char duration_mark_long(uint64_t ns)
{
	static const struct {
		uint64_t above;
		char mark;
	} marks[] = {
		{ 1000000000, '$' }, { 100000000, '@' }, { 10000000, '*' },
		{ 1000000, '#' },    { 100000, '!' },    { 10000, '+' },
	};

	for (size_t i = 0; i < array_size(marks); i++) {
		if (ns > marks[i].above)
			return marks[i].mark;
	}
	return ' ';
}

static char *write_u64(uint64_t value, char *at)
{
	char digits[20];
	size_t first = sizeof(digits);

	while (value >= 10) {
		unsigned pair = (unsigned)(value % 100);

		first -= 2;
		memcpy(digits + first, pairs + pair * 2, 2);
		value /= 100;
	}
	/* An odd digit is left, or a zero that the last pair already brought. */
	if (value || first == sizeof(digits))
		digits[--first] = (char)('0' + value);
	memcpy(at, digits + first, sizeof(digits) - first);
	return at + (sizeof(digits) - first);
}

char *duration_write_long(uint64_t ns, char *at)
{
	uint64_t us = ns / 1000;
	unsigned rest = (unsigned)(ns % 1000);
	char *const start = at;
	char decimals[4] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10) };
	size_t len;

	at = write_u64(us, at);
	len = (size_t)(at - start);
	if (len < DIGITS) {
		size_t room = COLUMN - len;
		size_t count = room < sizeof(decimals) ? room : sizeof(decimals);

		memcpy(at, decimals, count);
		at += count;
		len += count;
	}
	memcpy(at, " us ", 4);
	at += 4;
	for (; len < COLUMN; len++)
		*at++ = ' ';
	return at;
}
