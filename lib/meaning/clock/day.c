// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/clock/day.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"

enum {
	DAY_S = 86400,
	YEAR_MIN = 1970,
	YEAR_MAX = 2261,  /* after which ns do not fit */
	DATE_LENGTH = 10, /* of "2026-11-28" */
	FOUND_MAX = 8,
	DAYS_MAX = 4000, /* the days of a file that are looked through for a time without a date */
};
#define DAY_NS (DAY_S * NS_PER_S)

static int64_t floor_div(int64_t n, int64_t by)
{
	return n / by - (n % by < 0);
}

/* Days since 1970-01-01 of a date of the Gregorian calendar: years begin with March, so that a leap day is the last. */
static int64_t day_number(int64_t year, unsigned month, unsigned day)
{
	int64_t y = month <= 2 ? year - 1 : year, era = floor_div(y, 400), of_era = y - era * 400;
	int64_t of_year = (153 * ((int64_t)month + (month > 2 ? -3 : 9)) + 2) / 5 + (int64_t)day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void take_date(int64_t number, struct day *ret)
{
	int64_t z = number + 719468, era = floor_div(z, 146097), of_era = z - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;

	ret->number = number;
	ret->day = (uint8_t)(of_year - (153 * month + 2) / 5 + 1);
	ret->month = (uint8_t)(month < 10 ? month + 3 : month - 9);
	ret->year = year + era * 400 + (ret->month <= 2);
}

void day_split(const struct zone *zone, int64_t ns, struct day *ret)
{
	int64_t utc = floor_div(ns, NS_PER_S), local, of_day;

	ret->zone = zone_at(zone, utc);
	ret->ns = (uint32_t)(ns - utc * NS_PER_S);
	local = utc + ret->zone->offset_s;
	take_date(floor_div(local, DAY_S), ret);
	of_day = local - ret->number * DAY_S;
	ret->hour = (uint8_t)(of_day / 3600);
	ret->minute = (uint8_t)(of_day / 60 % 60);
	ret->second = (uint8_t)(of_day % 60);
}

int day_text(char into[DAY_TEXT], const struct zone *zone, int64_t ns, int64_t number, unsigned digits)
{
	struct day day;
	int len = 0;

	day_split(zone, ns, &day);
	if (day.number != number)
		len = snprintf(into, DAY_TEXT, "%04" PRId64 "-%02u-%02u ", day.year, day.month, day.day);
	len += snprintf(into + len, DAY_TEXT - (size_t)len, "%02u:%02u:%02u", day.hour, day.minute, day.second);
	if (digits) {
		for (unsigned i = digits; i < 9; i++)
			day.ns /= 10;
		len += snprintf(into + len, DAY_TEXT - (size_t)len, ".%0*" PRIu32, (int)digits, day.ns);
	}
	return len;
}

int day_iso(char into[DAY_TEXT], int64_t ns)
{
	struct zone_span span = { .name = "UTC" };
	const struct zone utc = { .spans = &span, .nr = 1 };
	int len = day_text(into, &utc, ns, DAY_ALWAYS, 9);

	into[DATE_LENGTH] = 'T';
	return len + snprintf(into + len, 2, "Z");
}

const char *day_span_text(char into[DAY_SPAN_TEXT], const struct zone *zone, int64_t first, int64_t last,
			  unsigned digits)
{
	const struct zone_span *begin = zone_at(zone, floor_div(first, NS_PER_S));
	const struct zone_span *end = zone_at(zone, floor_div(last, NS_PER_S));
	struct day day;
	int len = day_text(into, zone, first, DAY_ALWAYS, digits);

	day_split(zone, first, &day);
	if (begin->offset_s != end->offset_s)
		len += snprintf(into + len, DAY_TEXT, " %s", begin->name);
	len += snprintf(into + len, DAY_TEXT, " to ");
	len += day_text(into + len, zone, last, day.number, digits);
	snprintf(into + len, DAY_TEXT, " (%s)", end->name);
	return into;
}

int day_offset_text(char into[DAY_TEXT], const struct zone_span *span)
{
	unsigned size = (unsigned)(span->offset_s < 0 ? -span->offset_s : span->offset_s);

	return snprintf(into, DAY_TEXT, "%c%02u:%02u", span->offset_s < 0 ? '-' : '+', size / 3600, size / 60 % 60);
}

/* Reads a number of `least` to `most` digits. */
static bool take_number(const char **at, unsigned least, unsigned most, int64_t *ret)
{
	unsigned nr = 0;
	int64_t number = 0;

	for (; nr < most && isdigit((unsigned char)(*at)[nr]); nr++)
		number = number * 10 + ((*at)[nr] - '0');
	if (nr < least || isdigit((unsigned char)(*at)[nr]))
		return false;
	*at += nr;
	*ret = number;
	return true;
}

static bool take_letter(const char **at, char letter)
{
	if (**at != letter)
		return false;
	++*at;
	return true;
}

/* Reads ".5" as ns; what is finer is left out. */
static bool take_fraction(const char **at, int64_t *ret)
{
	int64_t unit = NS_PER_S / 10;

	*ret = 0;
	if (**at != '.')
		return true;
	++*at;
	if (!isdigit((unsigned char)**at))
		return false;
	for (; isdigit((unsigned char)**at); ++*at, unit /= 10)
		*ret += (**at - '0') * unit;
	return true;
}

static unsigned days_of(int64_t year, unsigned month)
{
	return (unsigned)(day_number(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1, 1) -
			  day_number(year, month, 1));
}

static bool take_day(const char **at, struct day_time *time)
{
	const char *to = *at;
	int64_t year, month, day;

	if (!take_number(&to, 4, 4, &year) || !take_letter(&to, '-') || !take_number(&to, 1, 2, &month) ||
	    !take_letter(&to, '-') || !take_number(&to, 1, 2, &day))
		return false;
	if (year < YEAR_MIN || year > YEAR_MAX || month < 1 || month > 12 || day < 1 ||
	    day > days_of(year, (unsigned)month))
		return false;
	time->has_date = true;
	time->year = year;
	time->month = (unsigned)month;
	time->day = (unsigned)day;
	*at = to;
	return true;
}

static bool take_word(const char **at, const char *word)
{
	size_t len = strlen(word);

	if (strncasecmp(*at, word, len) || isalnum((unsigned char)(*at)[len]))
		return false;
	*at += len;
	return true;
}

static bool take_clock(const char **at, int64_t *ret_ns)
{
	int64_t hour, minute, second = 0, ns = 0;

	if (!take_number(at, 1, 2, &hour) || !take_letter(at, ':') || !take_number(at, 2, 2, &minute))
		return false;
	if (take_letter(at, ':') && (!take_number(at, 2, 2, &second) || !take_fraction(at, &ns)))
		return false;
	if (hour > 23 || minute > 59 || second > 59)
		return false;
	*ret_ns = ((hour * 60 + minute) * 60 + second) * NS_PER_S + ns;
	return true;
}

/* "+01:00", "+0100", "-5" */
static bool take_offset(const char **at, int32_t *ret)
{
	bool minus = **at == '-';
	const char *to = *at + 1;
	int64_t hours, minutes = 0;

	if (**at != '+' && !minus)
		return false;
	if (take_number(&to, 4, 4, &hours)) {
		minutes = hours % 100;
		hours /= 100;
	} else if (!take_number(&to, 1, 2, &hours) || (take_letter(&to, ':') && !take_number(&to, 2, 2, &minutes))) {
		return false;
	}
	if (hours > 14 || minutes > 59)
		return false;
	*ret = (int32_t)((hours * 60 + minutes) * 60) * (minus ? -1 : 1);
	*at = to;
	return true;
}

static bool is_zone_name(const char *text)
{
	return isalpha((unsigned char)*text) && strlen(text) < ZONE_LABEL &&
	       text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/")] == '\0';
}

static bool take_zone(const char *at, const struct zones *zones, struct day_time *time)
{
	if (!*at)
		return true;
	at += strspn(at, " ");
	time->has_offset = true;
	if (!strcasecmp(at, "z") || !strcasecmp(at, "utc") || !strcasecmp(at, "gmt"))
		return true;
	if (take_offset(&at, &time->offset_s))
		return !*at;
	time->has_offset = false;
	time->zone = is_zone_name(at) ? zones_find(zones, at) : NULL;
	return time->zone;
}

static bool take_unix(const char *at, struct day_time *time)
{
	int64_t s, ns;

	if (strncmp(at, "unix:", strlen("unix:")))
		return false;
	at += strlen("unix:");
	if (!take_number(&at, 1, 10, &s) || !take_fraction(&at, &ns) || *at || s > INT64_MAX / NS_PER_S - 1)
		return false;
	time->is_instant = true;
	time->ns = s * NS_PER_S + ns;
	return true;
}

bool day_time_parse(const char *text, const struct zones *zones, struct day_time *ret)
{
	struct day_time time = { .is_instant = false };
	const char *at = text;
	bool dated;

	if (take_unix(text, &time)) {
		*ret = time;
		return true;
	}
	dated = take_day(&at, &time);
	if (!dated && (take_word(&at, "today") || take_word(&at, "yesterday"))) {
		time.is_today = dated = true;
		time.days_back = tolower((unsigned char)*text) == 'y';
	}
	if (dated && (*at == 'T' || *at == 't' || (*at == ' ' && isdigit((unsigned char)at[1]))))
		at++;
	if ((!dated || isdigit((unsigned char)*at)) && !take_clock(&at, &time.ns_of_day))
		return false;
	if (dated && at > text && (at[-1] == 'T' || at[-1] == 't'))
		return false;
	if (!take_zone(at, zones, &time))
		return false;
	*ret = time;
	return true;
}

bool day_time_zone_name(const char *text, char into[ZONE_LABEL])
{
	const char *blank = strrchr(text, ' ');
	struct day_time time;

	if (!blank || !is_zone_name(blank + 1) || day_time_parse(text, NULL, &time))
		return false;
	snprintf(into, ZONE_LABEL, "%s", blank + 1);
	return true;
}

struct found {
	int64_t at[FOUND_MAX];
	size_t nr;
};

/* The instants at which the zone's clocks showed this: one, two when they were put back, none when put forward. */
static void find_instants(const struct zone *zone, int64_t local_s, struct found *ret)
{
	ret->nr = 0;
	for (size_t i = 0; i < zone->nr; i++) {
		int64_t utc = local_s - zone->spans[i].offset_s;

		if ((i && utc < zone->spans[i].since_s) || (i + 1 < zone->nr && utc >= zone->spans[i + 1].since_s))
			continue;
		/* A change of the name alone. */
		if (ret->nr < FOUND_MAX && !(ret->nr && ret->at[ret->nr - 1] == utc))
			ret->at[ret->nr++] = utc;
	}
}

static const char *instant_text(char into[2 * DAY_TEXT], const struct zone *zone, int64_t ns)
{
	const struct zone_span *span = zone_at(zone, floor_div(ns, NS_PER_S));
	char offset[DAY_TEXT];
	int len = day_text(into, zone, ns, DAY_ALWAYS, ns % NS_PER_S ? 9 : 0);

	day_offset_text(offset, span);
	snprintf(into + len, DAY_TEXT, "%s", offset);
	return into;
}

/* The clocks were put forward over it: what came before and after. */
static int no_instant(const struct zone *zone, int64_t local_s, struct fail *fail)
{
	char before[2 * DAY_TEXT], after[2 * DAY_TEXT];

	for (size_t i = 1; i < zone->nr; i++) {
		int64_t at = zone->spans[i].since_s;

		if (at + zone->spans[i - 1].offset_s > local_s || at + zone->spans[i].offset_s <= local_s)
			continue;
		return fail_set(fail, -EINVAL,
				"the clocks of %s skipped that time: '%s' was followed by '%s'; say which you mean",
				*zone->label ? zone->label : "this time zone",
				instant_text(before, zone, (at - 1) * NS_PER_S),
				instant_text(after, zone, at * NS_PER_S));
	}
	return fail_set(fail, -EINVAL, "there was no such time");
}

static int two_instants(const struct zone *zone, const struct found *found, int64_t ns, struct fail *fail)
{
	char one[2 * DAY_TEXT], other[2 * DAY_TEXT];

	return fail_set(fail, -EINVAL, "the clocks of %s showed that time twice: '%s' or '%s'",
			*zone->label ? zone->label : "this time zone",
			instant_text(one, zone, found->at[0] * NS_PER_S + ns),
			instant_text(other, zone, found->at[1] * NS_PER_S + ns));
}

static int find_dated(const struct day_time *time, const struct zone *zone, int64_t number, int64_t *ret,
		      struct fail *fail)
{
	int64_t local_s = number * DAY_S + time->ns_of_day / NS_PER_S, ns = time->ns_of_day % NS_PER_S;
	struct found found;

	find_instants(zone, local_s, &found);
	if (!found.nr)
		return no_instant(zone, local_s, fail);
	if (found.nr > 1)
		return two_instants(zone, &found, ns, fail);
	*ret = found.at[0] * NS_PER_S + ns;
	return 0;
}

static int64_t away(int64_t at, int64_t first, int64_t last)
{
	return at < first ? first - at : at > last ? at - last : 0;
}

static int several(const struct zone *zone, const struct found *found, struct fail *fail)
{
	char text[FOUND_MAX * 2 * DAY_TEXT] = "";
	size_t len = 0;

	for (size_t i = 0; i < found->nr; i++) {
		char one[2 * DAY_TEXT];

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s'%s'", i ? ", " : "",
					instant_text(one, zone, found->at[i]));
	}
	return fail_set(fail, -EINVAL, "the file has that time more than once: %s%s", text,
			found->nr == FOUND_MAX ? "..." : "");
}

/* The day is not said. */
static int find_undated(const struct day_time *time, const struct zone *zone, int64_t first, int64_t last, int64_t *ret,
			struct fail *fail)
{
	struct found inside = { .nr = 0 }, of_day;
	int64_t nearest = 0, best = INT64_MAX;
	struct day begin, end;

	day_split(zone, first, &begin);
	day_split(zone, last, &end);
	for (int64_t day = begin.number - 1; day <= end.number + 1 && day < begin.number + DAYS_MAX; day++) {
		find_instants(zone, day * DAY_S + time->ns_of_day / NS_PER_S, &of_day);
		for (size_t i = 0; i < of_day.nr; i++) {
			int64_t at = of_day.at[i] * NS_PER_S + time->ns_of_day % NS_PER_S;

			if (!away(at, first, last) && inside.nr < FOUND_MAX)
				inside.at[inside.nr++] = at;
			if (away(at, first, last) < best) {
				best = away(at, first, last);
				nearest = at;
			}
		}
	}
	if (inside.nr > 1)
		return several(zone, &inside, fail);
	if (best == INT64_MAX)
		return no_instant(zone, begin.number * DAY_S + time->ns_of_day / NS_PER_S, fail);
	*ret = nearest;
	return 0;
}

int day_time_find(const struct day_time *time, const struct zone *here, int64_t first, int64_t last, int64_t now,
		  int64_t *ret, struct fail *fail)
{
	const struct zone *zone = time->zone ? time->zone : here;
	struct zone *fixed = NULL;
	struct day today;
	int r = 0;

	if (time->is_instant) {
		*ret = time->ns;
		return 0;
	}
	if (time->has_offset) {
		r = zone_new_fixed(time->offset_s, &fixed, fail);
		zone = fixed;
	}
	if (r)
		return r;
	day_split(zone, now, &today);
	if (time->has_date)
		r = find_dated(time, zone, day_number(time->year, time->month, time->day), ret, fail);
	else if (time->is_today)
		r = find_dated(time, zone, today.number - time->days_back, ret, fail);
	else
		r = find_undated(time, zone, first, last, ret, fail);
	zone_free(fixed);
	return r;
}
