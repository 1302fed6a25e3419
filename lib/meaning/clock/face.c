// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/clock/face.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/digits.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/wall.h"

enum { ISO_BLANK = 10 };

bool face_named(const char *name, enum face_kind *ret)
{
	static const char *const names[] = {
		[FACE_TRACE] = "trace", [FACE_WALL] = "wall", [FACE_UTC] = "utc", [FACE_RELATIVE] = "relative"
	};

	for (size_t i = 0; i < array_size(names); i++)
		if (!strcmp(names[i], name)) {
			*ret = (enum face_kind)i;
			return true;
		}
	return false;
}

int face_init(struct face *face, enum face_kind kind, const struct wall *wall, uint64_t first, struct fail *fail)
{
	struct day day;
	int64_t ns = 0;
	int r;

	*face = (struct face){ .kind = kind, .first = first };
	if (!face_is_of_day(face))
		return 0;
	if (!wall_of(wall, first, &ns, NULL))
		return fail_set(fail, -ENODATA,
				"--time: the file does not tell the time of day: 'weft record' and 'trace-cmd record "
				"--date' note it");
	r = kind == FACE_UTC ? zone_new_fixed(0, &face->zone, fail) : zone_new("", &face->zone, fail);
	if (r)
		return r;
	day_split(face->zone, ns, &day);
	face->day = day.number;
	return 0;
}

void face_release(struct face *face)
{
	zone_free(face->zone);
	face->zone = NULL;
}

bool face_is_of_day(const struct face *face)
{
	return face->kind == FACE_WALL || face->kind == FACE_UTC;
}

int face_text(char into[FACE_TEXT], const struct face *face, const struct wall *wall, uint64_t ts, unsigned digits)
{
	uint64_t since = ts < face->first ? face->first - ts : ts - face->first, rest = since % NS_PER_S;
	int64_t ns;

	if (face->kind == FACE_RELATIVE) {
		for (unsigned i = digits; i < 9; i++)
			rest /= 10;
		return snprintf(into, FACE_TEXT, "%s%" PRIu64 ".%0*" PRIu64, ts < face->first ? "-" : "",
				since / NS_PER_S, (int)digits, rest);
	}
	if (!wall_of(wall, ts, &ns, NULL))
		return snprintf(into, FACE_TEXT, "?");
	return day_text(into, face->zone, ns, face->day, digits);
}

int face_iso(char into[FACE_TEXT], const struct face *face, const struct wall *wall, uint64_t ts)
{
	int64_t ns;
	int len;

	if (!wall_of(wall, ts, &ns, NULL))
		return 0;
	len = day_text(into, face->zone, ns, DAY_ALWAYS, 9);
	into[ISO_BLANK] = 'T';
	if (face->kind == FACE_UTC)
		return len + snprintf(into + len, 2, "Z");
	return len + day_offset_text(into + len, zone_at(face->zone, ns / NS_PER_S));
}

int face_head(char into[2 * FACE_TEXT], const struct face *face, const struct wall *wall)
{
	const struct zone_span *span;
	char offset[DAY_TEXT], bound_text[TEXT_HUMAN];
	uint64_t bound;
	int64_t ns;
	int len;

	if (!wall_of(wall, face->first, &ns, &bound))
		return 0;
	span = zone_at(face->zone, ns / NS_PER_S);
	day_offset_text(offset, span);
	len = day_text(into, face->zone, ns, DAY_ALWAYS, 0);
	/* The date alone. */
	len = ISO_BLANK < len ? ISO_BLANK : len;
	len += snprintf(into + len, DAY_TEXT, ", UTC%s (%s)", offset, span->name);
	if (bound == WALL_NO_BOUND)
		return len + snprintf(into + len, DAY_TEXT - 32, ", how exact is not known");
	return len + snprintf(into + len, DAY_TEXT - 32, ", to +-%s", text_time(bound_text, bound));
}
