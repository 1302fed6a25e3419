/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_KERNEL_DURATION_INTERNAL_H
#define WEFT_FORMATS_KERNEL_DURATION_INTERNAL_H

#include <stdint.h>
#include <string.h>

#include "lib/ground/base/digits.h"

struct out;

/*
 * Prints durations as trace_print_graph_duration() and trace_find_mark() of kernel/trace do: microseconds and as many
 * decimals as fit in seven digits, truncated, not rounded.
 */
enum { DURATION_MAX = 32, DURATION_COLUMN = 8 };

/* For durations with more than three digits before the point: rare, because most functions end within a millisecond. */
char *duration_write_long(uint64_t ns, char *at);

/*
 * Prints "1.234 us ": twelve characters, or more from 10^8 us on. Returns the end; the caller provides room for
 * DURATION_MAX.
 */
static inline char *duration_write(uint64_t ns, char *at)
{
	uint32_t us, rest;
	char *point;

	if (__builtin_expect(ns >= 1000000, 0))
		return duration_write_long(ns, at);
	us = (uint32_t)ns / 1000;
	rest = (uint32_t)ns - us * 1000;
	memset(at, ' ', DURATION_COLUMN + 4);
	if (us >= 100) {
		point = digits_put_3(at, us);
	} else if (us >= 10) {
		point = digits_put_2(at, us);
	} else {
		*at = (char)('0' + us);
		point = at + 1;
	}
	*point = '.';
	digits_put_3(point + 1, rest);
	memcpy(point + 5, "us", 2);
	return at + DURATION_COLUMN + 4;
}

/* The mark of a long duration: one of "$@*#!+ ", for durations from a second down to ten microseconds. */
char duration_mark_long(uint64_t ns);

/* Before 3.19 a function graph has two marks. */
static inline char duration_mark_old(uint64_t ns)
{
	return ns > 100000 ? '!' : ns > 10000 ? '+' : ' ';
}

static inline char duration_mark(uint64_t ns)
{
	return __builtin_expect(ns <= 10000, 1) ? ' ' : duration_mark_long(ns);
}

#endif
