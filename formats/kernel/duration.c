// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/trace_functions_graph.c: trace_print_graph_duration(). */
#include "formats/kernel/duration_internal.h"

#include <stddef.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"

enum { DIGITS = 7 };

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

char *duration_write_long(uint64_t ns, char *at)
{
	uint64_t us = ns / 1000;
	unsigned rest = (unsigned)(ns % 1000);
	char *const start = at;
	char decimals[4] = { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10) };
	size_t len;

	at = digits_put_u64(at, us);
	len = (size_t)(at - start);
	if (len < DIGITS) {
		size_t room = DURATION_COLUMN - len;
		size_t count = room < sizeof(decimals) ? room : sizeof(decimals);

		memcpy(at, decimals, count);
		at += count;
		len += count;
	}
	memcpy(at, " us ", 4);
	at += 4;
	for (; len < DURATION_COLUMN; len++)
		*at++ = ' ';
	return at;
}
