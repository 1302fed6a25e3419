// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/reader/stamp_internal.h"

#include "lib/base/fail.h"
#include "lib/base/text.h"
#include "lib/event/context.h"
#include "lib/reader/extent.h"
#include "lib/reader/moment_internal.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

static int no_time(const char *option, const char *text, struct fail *fail)
{
	(void)fail_set(
		fail, -EINVAL,
		"--%s: '%s' is not a time; 12.345678 is one, +1ms from the first event, -2s from the last, "
		"@sched_switch#2-5ms before the second such event, and 10:30:00 where the file has wall-clock times",
		option, text);
	return fail_usage(fail, -EINVAL);
}

/* Reads "12.345678" or "1,234.5" at *at, times `unit`, which is 1 or a power of ten. */
static bool take_decimal(const char **at, uint64_t unit, uint64_t *ret)
{
	const char *to = *at;
	uint64_t whole = 0, rest = 0;

	if (*to < '0' || *to > '9')
		return false;
	for (; (*to >= '0' && *to <= '9') || (*to == ',' && to[1] >= '0' && to[1] <= '9'); to++)
		if (*to != ',' && (__builtin_mul_overflow(whole, 10u, &whole) ||
				   __builtin_add_overflow(whole, (uint64_t)(*to - '0'), &whole)))
			return false;
	if (__builtin_mul_overflow(whole, unit, &whole))
		return false;
	if (*to == '.')
		for (to++, unit /= 10; *to >= '0' && *to <= '9'; to++, unit /= 10)
			rest += (uint64_t)(*to - '0') * unit;
	*at = to;
	return !__builtin_add_overflow(whole, rest, ret);
}

/* Reads "1.5ms", "2s" or "3" as ns. Nothing may follow. */
static bool take_span(const char *text, uint64_t *ret)
{
	static const struct {
		const char name[4];
		uint64_t ns;
	} units[] = { { "", NS_PER_S }, { "s", NS_PER_S }, { "ms", 1000000 },
		      { "us", 1000 },   { "ns", 1 },       { "m", 60ull * NS_PER_S } };
	const char *unit = text + strspn(text, "0123456789.,");

	for (size_t i = 0; i < array_size(units); i++)
		if (!strcmp(unit, units[i].name))
			return take_decimal(&text, units[i].ns, ret) && text == unit;
	return false;
}

static int relative(const struct context *context, const char *option, const char *text, struct extent *extent,
		    uint64_t *ret, struct fail *fail)
{
	uint64_t span;
	int r;

	if (context->unit == CLOCK_UNIT_COUNT) {
		if (text_parse_u64(text + 1, &span, fail) < 0)
			return fail_usage(fail, -EINVAL);
	} else if (!take_span(text + 1, &span)) {
		return no_time(option, text, fail);
	}
	r = extent_find(context, extent, fail);
	if (r)
		return r;
	if (*text == '-')
		*ret = span < extent->last ? extent->last - span : 0;
	else if (__builtin_add_overflow(extent->first, span, ret))
		*ret = UINT64_MAX;
	return 0;
}

/* Reads "YYYY-MM-DD HH:MM:SS.fraction" in local time. If the text has no date, the date in *when is used. */
static bool take_wall(const char *text, struct tm *when, uint64_t *ret_fraction)
{
	const char *dot = strchrnul(text, '.'), *end;
	char copy[32], number[32];

	*ret_fraction = 0;
	snprintf(copy, sizeof(copy), "%.*s", (int)(dot - text), text);
	snprintf(number, sizeof(number), "0%s", dot);
	end = number;
	if (!take_decimal(&end, NS_PER_S, ret_fraction) || *end)
		return false;
	end = strptime(copy,
		       strchr(copy, 'T') ? "%Y-%m-%dT%H:%M:%S" :
		       strchr(copy, '-') ? "%Y-%m-%d %H:%M:%S" :
					   "%H:%M:%S",
		       when);
	if (!end && !strchr(copy, '-'))
		end = strptime(copy, "%H:%M", when);
	return end && !*end;
}

static int wall(const struct context *context, const char *option, const char *text, struct extent *extent,
		uint64_t *ret, struct fail *fail)
{
	uint64_t fraction;
	struct tm when = { .tm_mday = 1 };
	time_t day, seconds;
	int r;

	/* What is no time of any day is wrong whatever the file has. */
	if (!take_wall(text, &when, &fraction))
		return no_time(option, text, fail);
	if (!trace_info(context->trace)->has_date)
		return fail_set(
			fail, -EINVAL,
			"--%s: '%s': the file has no wall-clock times, as one of 'trace-cmd record --date' has; "
			"use +1s from its first event, or a time as the trace prints it",
			option, text);
	r = extent_find(context, extent, fail);
	if (r)
		return r;
	day = (time_t)(extent->first / NS_PER_S);
	if (!localtime_r(&day, &when) || !take_wall(text, &when, &fraction))
		return no_time(option, text, fail);
	when.tm_isdst = -1;
	seconds = mktime(&when);
	if (seconds < 0 || __builtin_mul_overflow((uint64_t)seconds, (uint64_t)NS_PER_S, ret) ||
	    __builtin_add_overflow(*ret, fraction, ret))
		return no_time(option, text, fail);
	return 0;
}

/*
 * Splits "NAME#N+1ms" into its parts; the offset has a unit, because a name may end with a number. False: it has no
 * name, or the number is none.
 */
static bool take_moment(char *text, struct moment *ret, uint64_t *ret_span, char *ret_sign)
{
	char *end = text + strlen(text), *hash;

	*ret = (struct moment){ .name = text, .nr = 1 };
	*ret_sign = 0;
	for (char *at = end; at > text && !*ret_sign; at--)
		if ((*at == '+' || *at == '-') && end[-1] >= 'a' && take_span(at + 1, ret_span)) {
			*ret_sign = *at;
			*at = '\0';
		}
	hash = strrchr(text, '#');
	if (hash && hash[1] && !hash[1 + strspn(hash + 1, "0123456789")]) {
		*hash = '\0';
		if (text_parse_u64(hash + 1, &ret->nr, NULL) || !ret->nr)
			return false;
	}
	if (!strncmp(text, "mark:", strlen("mark:"))) {
		ret->name = NULL;
		ret->mark = text + strlen("mark:");
	}
	return *text && (ret->name || *ret->mark);
}

static int at_event(const struct context *context, const char *option, const char *text, struct extent *extent,
		    uint64_t *ret, struct fail *fail)
{
	bool is_until = !strcmp(option, "until");
	struct extent_moment *known = &extent->moments[is_until];
	cleanup_free char *copy = strdup(text + 1);
	struct moment moment;
	uint64_t span = 0;
	char sign;
	int r;

	if (!copy)
		return fail_memory(fail);
	if (!take_moment(copy, &moment, &span, &sign) || (sign && context->unit == CLOCK_UNIT_COUNT))
		return no_time(option, text, fail);
	if (known->text != text) {
		r = moment_find(context, &moment, &known->at, fail);
		if (r)
			return fail_in(fail, r, "--%s: '%s'", option, text);
		known->text = text;
	}
	*ret = known->at;
	if (sign == '-')
		*ret = span < *ret ? *ret - span : 0;
	else if (__builtin_add_overflow(*ret, span, ret))
		*ret = UINT64_MAX;
	return 0;
}

int stamp_at(const struct context *context, const char *option, const char *text, struct extent *extent, uint64_t *ret,
	     struct fail *fail)
{
	const char *at = text;

	if (*text == '+' || *text == '-')
		return relative(context, option, text, extent, ret, fail);
	if (*text == '@')
		return at_event(context, option, text, extent, ret, fail);
	if (strchr(text, ':'))
		return wall(context, option, text, extent, ret, fail);
	if (context->unit == CLOCK_UNIT_COUNT)
		return text_parse_u64(text, ret, fail) < 0 ? fail_usage(fail, -EINVAL) : 0;
	if (take_decimal(&at, NS_PER_S, ret) && (!*at || !strcmp(at, "s")))
		return 0;
	return no_time(option, text, fail);
}

int stamp_range(const struct context *context, const char *since, const char *until, struct extent *extent,
		uint64_t *ret_since, uint64_t *ret_until, struct fail *fail)
{
	int r = since ? stamp_at(context, "since", since, extent, ret_since, fail) : 0;

	return r || !until ? r : stamp_at(context, "until", until, extent, ret_until, fail);
}
