/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_CLOCK_DAY_H
#define WEFT_MEANING_CLOCK_DAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/meaning/clock/zone.h"

struct fail;

/* Times of day as people type and read them. A time is in ns since 1970. */

/* A time in a zone, split. */
struct day {
	int64_t number; /* days since 1970-01-01 */
	int64_t year;
	uint8_t month, day, hour, minute, second; /* month and day from 1 */
	uint32_t ns;
	const struct zone_span *zone;
};
void day_split(const struct zone *zone, int64_t ns, struct day *ret);

/*
 * "2026-11-28 14:02:31.123456789"; without the date if `number` is its day; with `digits` behind the second, 0 to 9.
 * Returns the length.
 */
enum { DAY_TEXT = 64, DAY_ALWAYS = -1 };
int day_text(char into[DAY_TEXT], const struct zone *zone, int64_t ns, int64_t number, unsigned digits);
/* "2026-11-28T14:02:31.123456789Z" */
int day_iso(char into[DAY_TEXT], int64_t ns);
/* "2026-11-28 12:02:58 to 12:04:10 (CET)" */
enum { DAY_SPAN_TEXT = 4 * DAY_TEXT };
const char *day_span_text(char into[DAY_SPAN_TEXT], const struct zone *zone, int64_t first, int64_t last,
			  unsigned digits);
/* "+01:00" */
int day_offset_text(char into[DAY_TEXT], const struct zone_span *span);

/*
 * A text that means a time of day: "12:03", "12:03:10.5", "2026-11-28", "2026-11-28 12:03", with a T instead of the
 * blank, "today", "yesterday", both with a time behind; behind a time "Z", "UTC", "+01:00", or after a blank the
 * name of a zone. "unix:1795872176.6" are seconds since 1970.
 */
struct day_time {
	bool is_instant; /* `ns` is the time */
	bool has_date;   /* year, month, day; else back: days before today, or no date at all */
	bool is_today;
	int64_t ns, year;
	unsigned month, day, days_back;
	int64_t ns_of_day;
	const struct zone *zone; /* NULL: that of the reader */
	bool has_offset;         /* in place of a zone */
	int32_t offset_s;
};
/* False: the text is none. `zones`: those that it may name, or NULL. */
bool day_time_parse(const char *text, const struct zones *zones, struct day_time *ret);
/* The name of the zone at its end, ZONE_LABEL bytes; false: it has none, or "UTC". */
bool day_time_zone_name(const char *text, char into[ZONE_LABEL]);

/*
 * The time that it means. `here` is the reader's zone. Without a date it is the one from `first` to `last`, which is
 * what a file has, or the one nearest to it. -EINVAL: there are several, or none in a zone whose clocks were put
 * forward; the message has both.
 */
int must_check day_time_find(const struct day_time *time, const struct zone *here, int64_t first, int64_t last,
			     int64_t now, int64_t *ret, struct fail *fail);

#endif
